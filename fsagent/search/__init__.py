"""Find things in a workspace: grep, ranked search, and the derived index under it."""
