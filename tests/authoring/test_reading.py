"""What short texts written by people mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import read_notes
from karenina_core.authoring.reading import (
    Figure,
    Notes,
    asked_for,
    offered,
    read_figure,
    spread,
    with_synonyms,
)


@pytest.mark.parametrize(
    ("text", "figure"),
    [("23", Figure(23)), ("23 pairs", Figure(23, "pairs")), ("1,000,000", Figure(1_000_000)),
     ("1,000", Figure(1000, unsure=True)), ("10 000", Figure(10_000)),
     ("about 20 mg/kg", Figure(20, "mg/kg", about=True)), ("~0.72", Figure(0.72, about=True)),
     ("5.5 ± 0.2 mm", Figure(5.5, "mm", margin=0.2)), ("-196 °C", Figure(-196, "°C")), ("−196 °C.", Figure(-196, "°C")),
     ("50%", Figure(50, "%")), ("$5", Figure(5, "$")), ("3.2e-5", Figure(3.2e-5)),
     ("5 × 10^9 cells", Figure(5_000_000_000, "cells")), ("6.022×10²³ mol⁻¹", Figure(6.022e23, "mol⁻¹")),
     ("2 million", Figure(2_000_000)), ("1.5 million people", Figure(1_500_000, "people")),
     ("5-10 mg", Figure(5, "mg", low=5, high=10, is_range=True)),
     ("between 5 and 10", Figure(5, low=5, high=10, is_range=True)),
     ("4 to 6 weeks", Figure(4, "weeks", low=4, high=6, is_range=True)),
     ("≥ 18 years", Figure(18, "years", low=18, is_range=True)),
     ("less than 0.05", Figure(0.05, high=0.05, is_range=True))],
)  # fmt: skip
def test_numbers_with_what_stands_around_them(text: str, figure: Figure) -> None:
    assert read_figure(text) == figure


@pytest.mark.parametrize(
    "text", ["", "BCL2", "phase III", "2016-04-11", "April 11, 2016", "3,5", "1 in 10", "46 (23 pairs)", "x" * 200]
)
def test_what_is_no_single_number(text: str) -> None:
    assert read_figure(text) is None


@given(st.integers(-(10**9), 10**9))
def test_every_whole_number_is_read(number: int) -> None:
    assert read_figure(str(number)) == Figure(number)
    grouped = read_figure(f"{number:,}")
    assert grouped is not None and grouped.value == number


@given(st.text(max_size=90))
def test_no_text_is_too_odd(text: str) -> None:
    read_figure(text)
    spread(text)
    with_synonyms(text)


@pytest.mark.parametrize(
    ("text", "things"),
    [("CLL, SLL and AML", ["CLL", "SLL", "AML"]), ("CLL, SLL, and AML.", ["CLL", "SLL", "AML"]),
     ("a; b; c", ["a", "b", "c"]), ("- liver\n- kidney", ["liver", "kidney"]),
     ("1. liver\n2. kidney", ["liver", "kidney"]), ("liver and kidney", ["liver", "kidney"]),
     ("BCL2 (B-cell lymphoma 2, Bcl-2), MCL1", ["BCL2 (B-cell lymphoma 2, Bcl-2)", "MCL1"]),
     ("1,2-dichloroethane, ethanol", ["1,2-dichloroethane", "ethanol"])],
)  # fmt: skip
def test_enumerations(text: str, things: list[str]) -> None:
    assert spread(text) == things


@pytest.mark.parametrize(
    "text",
    ["Paris", "1,000,000", "BCL2 (a, b)", "It binds BCL2, which frees others that start the death of the cell", "",
     "loss of contact inhibition and of polarity"],
)  # fmt: skip
def test_what_is_no_enumeration(text: str) -> None:
    assert spread(text) == []


@pytest.mark.parametrize(
    ("text", "name", "others"),
    [("BCL2 (B-cell lymphoma 2)", "BCL2", ["B-cell lymphoma 2"]),
     ("Venetoclax (ABT-199, Venclexta)", "Venetoclax", ["ABT-199", "Venclexta"]),
     ("TNF (also known as cachectin)", "TNF", ["cachectin"]), ("BCL2, also known as Bcl-2", "BCL2", ["Bcl-2"]),
     ("p53 or TP53", "p53", ["TP53"]), ("Paris.", "Paris", [])],
)  # fmt: skip
def test_names_with_other_names(text: str, name: str, others: list[str]) -> None:
    assert with_synonyms(text) == (name, others)


def test_a_bracket_that_is_never_closed_hides_nothing() -> None:
    assert spread("a (b, c") == ["a (b", "c"]


def test_names_far_apart_are_read_as_if_they_were_near() -> None:
    assert with_synonyms("a" + " " * 100_000 + "or b") == ("a", ["b"])


@pytest.mark.parametrize(
    ("question", "asked"),
    [("How many pairs of chromosomes does a human cell have?", "number of pairs"),
     ("How many chromosomes are in a human somatic cell?", "number of chromosomes"),
     ("What is the putative target of venetoclax?", "putative target"), ("Which gene encodes it?", "gene"),
     ("What year did it happen?", "year"), ("Which of the following are diseases?", ""), ("Name it.", "")],
)  # fmt: skip
def test_what_is_asked_for(question: str, asked: str) -> None:
    assert asked_for(question) == asked


@pytest.mark.parametrize(
    ("question", "answer", "options"),
    [("Is it an agonist or an antagonist?", "Antagonist.", ["agonist", "antagonist"]),
     ("Which phase (I, II, III, or IV)?", "III", ["I", "II", "III", "IV"]),
     ("Which is it: red, green or blue?", "green", ["red", "green", "blue"]),
     ("Which is it: red, green or blue?", "pink", []), ("What is it?", "pink", [])],
)  # fmt: skip
def test_what_a_question_offers(question: str, answer: str, options: list[str]) -> None:
    assert offered(question, answer) == options


@pytest.mark.parametrize(
    ("notes", "expected"),
    [("Accept 'Bcl2' but not 'BCL-XL'.", Notes(("Bcl2",), ("BCL-XL",))),
     ('Also “Bcl-2” or "bcl 2". Reject "MCL1".', Notes(("Bcl-2", "bcl 2"), ("MCL1",))),
     ("See 'Nature' for it.", Notes()), (None, Notes())],
)  # fmt: skip
def test_what_notes_accept_and_reject(notes: str | None, expected: Notes) -> None:
    assert read_notes(notes) == expected


def test_of_a_long_text_the_end_is_what_is_asked() -> None:
    vignette = "Which patient: " + "one, two, " * 20_000
    assert asked_for(f"{vignette}. How many pairs are there?") == "number of pairs"
    assert offered(f"{vignette}. Which is it: warm or cold?", "cold") == ["warm", "cold"]


def test_notes_full_of_quotes_are_read_in_one_go() -> None:
    assert len(read_notes("Accept " + " ".join(f"'x{number}'" for number in range(30_000))).accepted) == 30_000
