"""Traits beside a run: kept, tried, and scored afterwards."""
