"""Secrets in text: found by rules, replaced before the text reaches the disk."""
