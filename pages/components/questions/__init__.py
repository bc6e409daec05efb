"""The questions of a benchmark: list, grid, details, history."""
