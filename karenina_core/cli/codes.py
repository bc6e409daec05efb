"""Exit codes of the command line."""

DONE = 0
PROBLEMS = 1
UNUSABLE = 2
INTERRUPTED = 130
