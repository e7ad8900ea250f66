"""The small conversation that `fsagent demo` imports and is asked about."""
