"""Drafting templates of a benchmark in the background."""
