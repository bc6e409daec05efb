"""Templates that other programs put where there is none yet. They decide nothing, so they count as none."""

from __future__ import annotations

import re

# A class with the one field `response` whose verify() returns a constant.
_PLACEHOLDER = re.compile(
    r"""(?:(?:from|import)\s[^\n]*\n\s*)*
        class\s+Answer\(BaseAnswer\):\s*
        (?:\"\"\"Answer\ template\ for:.*?\"\"\"\s*)
        response:\s*str\s*=\s*Field\(description="The\ answer\ response"\)\s*
        def\s+verify\(self\)\s*->\s*bool:\s*
        (?:\#[^\n]*\n\s*)*
        return\s+(?:True|False)\s*""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST = 1_000


def is_placeholder(source: str) -> bool:
    """Whether the source is the template other programs make up for a question without one."""
    return len(source) <= _LONGEST and "The answer response" in source and bool(_PLACEHOLDER.fullmatch(source.strip()))
