"""What the figures of a comparison show for known verdicts."""

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
)
from karenina_core.analysis.comparison.agreement import agreement, consistency, raters_of
from karenina_core.analysis.comparison.leaderboard import leaderboard
from karenina_core.analysis.comparison.replicates import repeat_rates
from karenina_core.analysis.figures import canvas
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


def test_the_leaderboard_names_groups_and_numbers():
    labels = figures()["leaderboard"].layout.yaxis.ticktext
    assert [label.rsplit("<br>", 1)[1] for label in labels] == [
        "group a · n = 32",
        "group b · n = 32",
        "group c · n = 32",
    ]


def test_repeats_are_drawn_once_and_always_for_every_arm():
    assert len(figures()["repeats"].data) == 6
    assert {len(trace.x) for trace in figures()["repeats"].data} == {2}


def test_a_square_for_every_two_judges_on_both_sides_of_the_diagonal():
    [trace] = figures()["agreement"].data
    found = dict(zip(map(tuple, trace.customdata), trace.text, strict=True))
    assert found == {("a", "b"): "κ 0.50<br>n 12", ("b", "a"): "κ 0.50<br>n 12"}


def test_a_square_of_few_answers_has_no_kappa_and_no_colour():
    few = verdict_ratings(joined(rows(list("+--"), judge="a"), rows(list("++-"), judge="b")))
    [(_, hover, trace), _] = marks(compare_agreement(agreement(few), raters_of(few)))
    assert set(trace.text) == {"2 of 3<br>agree"}
    assert set(trace.marker.color) == {0.5}
    assert "Too few answers for kappa" in hover


def test_the_diagonal_says_how_consistent_a_judge_is():
    own = consistency(repeat_ratings(TABLE, "judge"), "judge")
    [(click, hover, trace)] = marks(compare_agreement(agreement(JUDGES)[:0], ["judge"], [own]))
    assert click == ["judge", "judge"]
    assert trace.text[0] == "100 %<br>n 48"
    assert "48 of 48 questions" in hover
