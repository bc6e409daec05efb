"""Models and judges side by side."""
