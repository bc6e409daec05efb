"""Number tables have plain headings; their data keeps the names that code knows."""

from __future__ import annotations
