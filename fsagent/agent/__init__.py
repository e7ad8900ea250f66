"""The loop: a turn, its context window, its limits, and what it leaves in recall."""
