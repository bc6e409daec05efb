"""The rubric of a benchmark or a question."""
