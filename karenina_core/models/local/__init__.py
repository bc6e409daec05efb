"""A small model inside the process."""
