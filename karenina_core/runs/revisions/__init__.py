"""Answers that are stored, looked at and decided again."""
