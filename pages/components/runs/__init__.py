"""Configuring a run and following it."""
