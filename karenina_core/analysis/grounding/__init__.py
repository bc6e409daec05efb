"""Where the values a judge extracted stand in the answer. A value that stands nowhere may be the judge's own."""

from karenina_core.analysis.grounding.places import How, Place
from karenina_core.analysis.grounding.values import Grounding, ground, grounding, ungrounded

__all__ = ["Grounding", "How", "Place", "ground", "grounding", "ungrounded"]
