"""What the figures of a comparison and of a rule show for known verdicts."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from karenina_core.analysis import (
    arm_labels,
    compare,
    compare_agreement,
    compare_differences,
    compare_leaderboard,
    compare_repeats,
    repeat_ratings,
    tallies,
    verdict_ratings,
    what_if,
)
from karenina_core.analysis.comparison.judges import agreement, consistency, raters_of
from karenina_core.analysis.comparison.pairs import leaderboard, repeat_rates
from karenina_core.analysis.figures import canvas
from karenina_core.authoring import Curve, Point
from tests.analysis.comparison.arms import arm, joined, rows

A, B, C = arm("A"), arm("B <b>bold</b>"), arm("C")
TABLE = joined(rows(["++", "--"] * 8, "A"), rows(["++"] * 16, B.answering_model), rows(["--", "--"] * 8, "C"))
COUNTS = tallies(TABLE)
LABELS = arm_labels(list(COUNTS), {})
JUDGES = verdict_ratings(joined(rows(list("++--" * 3), judge="a"), rows(list("+---" * 3), judge="b")))


def figures():
    own = [consistency(repeat_ratings(TABLE, "judge"), "judge")]
    return {
        "differences": compare_differences(compare(COUNTS, A, [B, C]), LABELS),
        "leaderboard": compare_leaderboard(leaderboard(TABLE, COUNTS, [A, B, C]), LABELS),
        "repeats": compare_repeats(repeat_rates(COUNTS, [A, B, C]), LABELS),
        "agreement": compare_agreement(agreement(JUDGES), raters_of(JUDGES), own[:0]),
    }


def marks(figure):
    return [
        (list(click), trace.hovertext[place], trace)
        for trace in figure.data
        for place, click in enumerate(trace.customdata)
    ]


@pytest.mark.parametrize("name", figures())
def test_a_figure_takes_the_colours_of_the_page_and_its_marks_lead_somewhere(name):
    figure = figures()[name]
    assert isinstance(figure, go.Figure)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == canvas.CLEAR
    for click, hover, _ in marks(figure):
        assert json.loads(json.dumps(click)) == click
        assert hover and "<b>bold" not in hover
    assert "<b>bold" not in json.dumps(figure.to_dict()["layout"], default=str)


def test_without_data_every_figure_says_so_in_a_sentence():
    empty = [
        compare_differences([], LABELS),
        compare_leaderboard(leaderboard(TABLE, COUNTS, [A])[:0], LABELS),
        compare_repeats(repeat_rates(tallies(rows(["+"])), [A]), LABELS),
        compare_agreement(agreement(JUDGES)[:0], ["a"]),
    ]
    for figure in empty:
        assert figure.layout.annotations[0].text.endswith(".") and not figure.data


def test_a_difference_stands_where_it_is_and_what_can_be_told_has_a_shape():
    found = {click[0]: (trace.x[0], trace.name) for click, _, trace in marks(figures()["differences"])}
    assert found[B.id] == (50, "better beyond chance")
    assert found[C.id] == (-50, "worse beyond chance")


def test_a_square_for_every_two_judges_on_both_sides_of_the_diagonal():
    [trace] = figures()["agreement"].data
    found = dict(zip(map(tuple, trace.customdata), trace.text, strict=True))
    assert found == {("a", "b"): "κ 0.50<br>n 12", ("b", "a"): "κ 0.50<br>n 12"}


def test_the_diagonal_says_how_consistent_a_judge_is():
    own = consistency(repeat_ratings(TABLE, "judge"), "judge")
    [(click, hover, trace)] = marks(compare_agreement(agreement(JUDGES)[:0], ["judge"], [own]))
    assert click == ["judge", "judge"]
    assert trace.text[0] == "100 %<br>n 48"
    assert "48 of 48 questions" in hover


POINTS = (Point(0.0, 1), Point(0.1, 3, gained=2), Point(0.2, 4, gained=3))


def test_the_curve_has_a_step_for_every_possible_setting() -> None:
    figure = what_if(Curve("amount", "tolerance", 4, 1, POINTS), now=0.0, chosen=0.1)
    (line,) = figure.data
    assert list(line.x) == [0.0, 0.1, 0.2] and list(line.y) == [0.25, 0.75, 1.0]
    assert line.hovertext[1] == "tolerance 0.1: 3 of 4 pass"
    assert line.marker.symbol == ("circle", "diamond", "circle")
    assert all(rate - below >= 0 for rate, below in zip(line.y, line.error_y.arrayminus, strict=True))
    assert all(rate + above <= 1 for rate, above in zip(line.y, line.error_y.array, strict=True))
    assert figure.layout.yaxis.title.text == "pass, of n = 4"


def test_names_of_fields_are_shown_and_not_rendered() -> None:
    figure = what_if(Curve("<b>x</b>", "tolerance", 4, 1, POINTS))
    assert "<b>" not in json.dumps(figure.layout.xaxis.title.text)


def test_without_answers_it_says_so_in_a_sentence() -> None:
    figure = what_if(Curve("amount", "tolerance", 0, 0, POINTS))
    (note,) = figure.layout.annotations
    assert note.text.endswith(".") and not figure.data
