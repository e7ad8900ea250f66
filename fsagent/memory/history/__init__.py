"""The history: every change of memory is a commit a person can read, undo and ask about."""
