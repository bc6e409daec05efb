"""Every rule and every normaliser has plain words."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.schemas import (
    NORMALIZER_WORDS,
    NORMALIZERS,
    SYNONYMS,
    normalizer_of_step,
    rule_help,
    rule_in_words,
    rule_title,
    step_title,
    title,
)
from karenina_core.schemas.primitives import REGISTRY


def test_every_rule_has_words_of_its_own() -> None:
    titles = {primitive.title for primitive in REGISTRY.values()}
    assert len(titles) == len(REGISTRY) and "" not in titles


def test_a_rule_that_is_unknown_keeps_its_name_and_has_no_help() -> None:
    assert (rule_title("Own"), rule_help("Own")) == ("Own", None)
    assert rule_help("ExactMatch") == "In the template: ExactMatch."


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"type": "NumericExact"}, "Same number"),
        ({"type": "ExactMatch", "normalize": ["lowercase", {"mapping": {}}]},
         "Same text: ignore capitals, replace synonyms"),
        ({"type": "NumericTolerance", "tolerance": 0.05, "mode": "relative"},
         "Number near enough: tolerance 0.05, mode relative"),
        ({"type": "DateRange", "min": None, "max": "2026-01-01", "dayfirst": False},
         'Date within bounds: max "2026-01-01"'),
    ],
)  # fmt: skip
def test_a_stored_rule_is_told_with_its_settings(rule: dict[str, Any], words: str) -> None:
    assert rule_in_words(rule) == words


def test_every_normaliser_has_words_of_its_own() -> None:
    assert set(NORMALIZER_WORDS) == {*NORMALIZERS, SYNONYMS}
    assert len({words.title for words in NORMALIZER_WORDS.values()}) == len(NORMALIZER_WORDS)


@pytest.mark.parametrize(
    ("stored", "words"),
    [("lowercase", "Ignore capitals"), ({"mapping": {}}, "Replace synonyms"), ("of my own", "of my own")],
)
def test_a_stored_normaliser_has_a_title(stored: object, words: str) -> None:
    assert title(stored) == words


@pytest.mark.parametrize(
    ("label", "words", "name"),
    [
        ("lowercase", "Ignore capitals", "lowercase"),
        ("expected, synonym", "Expected: replace synonyms", SYNONYMS),
        ("Unicode NFC", "Compose letters and accents", None),
        ("read as a number", "Read as a number", None),
        ("expected, read as a date", "Expected: read as a date", None),
    ],
)
def test_a_step_says_in_plain_words_what_was_done(label: str, words: str, name: str | None) -> None:
    assert step_title(label) == words
    assert normalizer_of_step(label) == name
