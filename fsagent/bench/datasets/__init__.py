"""Benchmark data, each format read into the same samples and questions."""
