"""How fast models are called: limits, retries, and what they show."""
