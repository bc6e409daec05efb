"""Models, runs and judges against each other: matched by question, tested, ranked, and said in plain sentences."""
