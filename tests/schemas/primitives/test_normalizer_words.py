"""Every normaliser has plain words."""

from __future__ import annotations

import pytest

from karenina_core.schemas import NORMALIZER_WORDS, NORMALIZERS, SYNONYMS, normalizer_of_step, step_title, title


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
