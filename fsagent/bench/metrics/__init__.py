"""Scores of answers and of retrieval, and the statistics that say how far they can be trusted."""
