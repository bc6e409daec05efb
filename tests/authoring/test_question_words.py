"""What questions ask for, offer and remark."""

from __future__ import annotations

import pytest

from karenina_core.authoring import read_notes
from karenina_core.authoring.question_words import Notes, asked_for, field_name, offered


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many pairs of chromosomes does a human cell have?", "number of pairs"),
        ("How many chromosomes are in a human somatic cell?", "number of chromosomes"),
        ("What is the putative target of venetoclax?", "putative target"),
        ("Which gene encodes it?", "gene"),
        ("What year did it happen?", "year"),
        ("Which of the following are diseases?", ""),
        ("Name it.", ""),
    ],
)
def test_what_is_asked_for(question: str, asked: str) -> None:
    assert asked_for(question) == asked


def test_the_name_of_the_field() -> None:
    assert field_name("How many pairs of it are there?", "amount") == "number_of_pairs"
    assert field_name("Name it.", "amount") == "amount"
    assert field_name("What is the class of it?", "answer") == "answer"


@pytest.mark.parametrize(
    ("question", "answer", "options"),
    [
        ("Is it an agonist or an antagonist?", "Antagonist.", ["agonist", "antagonist"]),
        ("Which phase (I, II, III, or IV)?", "III", ["I", "II", "III", "IV"]),
        ("Which is it: red, green or blue?", "green", ["red", "green", "blue"]),
        ("Which is it: red, green or blue?", "pink", []),
        ("What is it?", "pink", []),
    ],
)
def test_what_a_question_offers(question: str, answer: str, options: list[str]) -> None:
    assert offered(question, answer) == options


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ("Accept 'Bcl2' but not 'BCL-XL'.", Notes(("Bcl2",), ("BCL-XL",))),
        ('Also “Bcl-2” or "bcl 2". Reject "MCL1".', Notes(("Bcl-2", "bcl 2"), ("MCL1",))),
        ("See 'Nature' for it.", Notes()),
        (None, Notes()),
    ],
)
def test_what_notes_accept_and_reject(notes: str | None, said: Notes) -> None:
    assert read_notes(notes) == said


def test_of_a_long_text_the_end_is_what_is_asked() -> None:
    vignette = "Which patient: " + "one, two, " * 20_000
    assert asked_for(f"{vignette}. How many pairs are there?") == "number of pairs"
    assert offered(f"{vignette}. Which is it: warm or cold?", "cold") == ["warm", "cold"]


def test_notes_full_of_quotes_are_read_in_one_go() -> None:
    assert len(read_notes("Accept " + " ".join(f"'x{number}'" for number in range(30_000))).accepted) == 30_000
