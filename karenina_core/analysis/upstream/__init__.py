"""The results format 2.2 of the upstream project, in both directions.

It has no place for stages, explanations, weights and prompts; our own JSON export has. What it does hold survives:
who answered what, what was extracted and expected, every verdict, trait and failure. Reviews stand in the rows, where
other readers pass over them.
"""

from karenina_core.analysis.upstream.read import from_upstream, is_upstream, upstream_reviews
from karenina_core.analysis.upstream.write import FORMAT_VERSION, to_upstream

__all__ = ["FORMAT_VERSION", "from_upstream", "is_upstream", "to_upstream", "upstream_reviews"]
