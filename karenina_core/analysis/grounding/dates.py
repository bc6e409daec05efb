"""Where a date stands in an answer, however it is written."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from karenina_core.analysis.grounding.limits import KEPT, MOST_PLACES, MOST_WORDS
from karenina_core.analysis.grounding.places import Place
from karenina_core.schemas import read_date

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH},? \d{{4}}",
    re.IGNORECASE,
)


def date_places(text: str, answer: str) -> list[Place]:
    """Return where the date that a text is stands; nothing for a text that is none."""
    wanted = read_date(text)
    if wanted is None or not wanted.known or not any(character.isdigit() for character in text):
        return []
    size = len(wanted.known)
    same = (place for place, known in _dates(answer) if any(date[:size] == wanted.known for date in known))
    return list(islice(same, MOST_PLACES))


@lru_cache(KEPT)
def _dates(answer: str) -> list[tuple[Place, list[tuple[int, ...]]]]:
    """Return the dates in an answer, each with what it may mean."""
    return [(Place(*match.span()), _readings(match.group())) for match in islice(_DATE.finditer(answer), MOST_WORDS)]


def _readings(text: str) -> list[tuple[int, ...]]:
    readings = (read_date(text.replace(" of ", " ")), read_date(text, dayfirst=True))
    return [reading.known for reading in readings if reading is not None]
