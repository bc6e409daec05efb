"""`python -m tests`: linter, type checker and all tests; `--quick` leaves out what takes minutes."""

from __future__ import annotations

import os
import subprocess
import sys

# One more than there are processors: many tests wait for a server, a browser or another process.
WORKERS = min(4, (os.cpu_count() or 1) + 1)
# A file stays on one worker, with the servers and browsers it starts; the slow ones come first, as conftest says.
PYTEST = ["-m", "pytest", "--numprocesses", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
CHECKS = [["-m", "ruff", "check", "."], ["-m", "ruff", "format", "--check", "."], ["-m", "mypy"]]
SLOW = ["app", "browser", "faults", "security"]


def main(arguments: list[str]) -> int:
    """Run all checks; the first failure ends with its exit code."""
    quick = arguments == ["--quick"]
    if arguments and not quick:
        print("Usage: python -m tests [--quick]", file=sys.stderr)
        return 2
    skipped = [f"--ignore=tests/{folder}" for folder in SLOW] if quick else []
    for check in [*CHECKS, [*PYTEST, *skipped, *(["-m", "not slow"] if quick else ["--durations", "25"])]]:
        print("$ python", *check, flush=True)
        code = subprocess.run([sys.executable, *check], check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
