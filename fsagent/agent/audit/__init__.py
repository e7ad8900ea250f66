"""Audit: what is wrong with memory as it stands, found by rules alone; nothing is changed."""
