"""One trait: its form, and trying it."""
