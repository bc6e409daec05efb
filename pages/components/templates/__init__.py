"""Writing a template by form and by source."""
