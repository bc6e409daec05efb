"""From a table to questions, step by step."""
