"""Sleep: consolidation of what was said into core memory, by a cheap model, behind deterministic gates."""
