"""The command line: the same jobs as the app, without a browser."""

from karenina_core.cli.main import main

__all__ = ["main"]
