"""The three tiers of memory, each the only writer of its folder, and the workspace that holds them."""
