"""Carrying runs out: workers, durable storing, spending, progress."""
