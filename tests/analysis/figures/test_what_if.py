"""The curve of pass rates over settings."""

from __future__ import annotations

import json

from karenina_core.analysis import what_if
from karenina_core.authoring import Curve, Point

POINTS = (Point(0.0, 1), Point(0.1, 3, gained=2), Point(-1, None, problem="too small"), Point(0.2, 4, gained=3))


def test_the_curve_has_a_step_for_every_possible_setting() -> None:
    figure = what_if(Curve("amount", "tolerance", 4, 1, POINTS), now=0.0, chosen=0.1)
    above, below, line, mark = figure.data
    assert list(line.x) == [0.0, 0.1, 0.2] and list(line.y) == [0.25, 0.75, 1.0]
    assert line.hovertext[1] == "tolerance 0.1: 3 of 4 pass"
    assert (list(mark.x), list(mark.y)) == ([0.1], [0.75])
    assert all(0 <= low <= rate <= high <= 1 for low, rate, high in zip(below.y, line.y, above.y, strict=True))
    assert figure.layout.yaxis.title.text == "pass, of n = 4"


def test_names_of_fields_are_shown_and_not_rendered() -> None:
    figure = what_if(Curve("<b>x</b>", "tolerance", 4, 1, POINTS))
    assert "<b>" not in json.dumps(figure.layout.xaxis.title.text)


def test_without_answers_it_says_so_in_a_sentence() -> None:
    figure = what_if(Curve("amount", "tolerance", 0, 0, POINTS))
    (note,) = figure.layout.annotations
    assert note.text.endswith(".") and not figure.data
