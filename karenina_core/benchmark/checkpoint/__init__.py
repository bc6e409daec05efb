"""Benchmark files: every dialect is read, the newest is written."""
