"""`python -m tests`: linter, type checker and all tests, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys

# One more than there are processors: many tests wait for a server, a browser or another process.
WORKERS = min(4, (os.cpu_count() or 1) + 1)
# A file stays on one worker, with the servers and browsers it starts; the slow ones come first, as conftest says.
SHARES = ["--dist", "loadfile", "--no-loadscope-reorder"]
CHECKS = [
    ["-m", "ruff", "check", "."],
    ["-m", "ruff", "format", "--check", "."],
    ["-m", "mypy"],
    ["-m", "pytest", "--numprocesses", str(WORKERS), *SHARES, "--durations", "15"],
]


def main() -> int:
    """Run all checks; the first failure ends with its exit code."""
    for check in CHECKS:
        print("$ python", *check, flush=True)
        code = subprocess.run([sys.executable, *check], check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
