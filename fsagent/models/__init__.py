"""Talking to models: chat-completions endpoints, the offline model, scripts for tests."""
