"""Drafting the templates that a benchmark lacks."""
