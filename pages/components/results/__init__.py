"""A run in figures and tables."""
