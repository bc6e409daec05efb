"""What all figures have in common, and what each shows for known results."""

import json
import math

import plotly.graph_objects as go
import pytest

from karenina_core.analysis import (
    FIGURES,
    fields_frame,
    questions,
    results_frame,
    rows_behind,
    to_dataframe,
    traits_frame,
)
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import PLACES, place
from karenina_core.analysis.figures.grids import LOOKS, MOST_ROWS
from karenina_core.analysis.statistics import NO_KEYWORD
from karenina_core.schemas import AnswerPart, ConfusionPart, RubricTrait, Usage


def draw(name, results):
    spec = FIGURES[name]
    return spec.draw(to_dataframe(results, spec.frame))


def marks(figure):
    """Return every clickable mark as (x, y, customdata, hover, trace)."""
    return [
        (trace.x[n], trace.y[n], list(click), trace.hovertext[n], trace)
        for trace in figure.data
        if trace.customdata is not None
        for n, click in enumerate(trace.customdata)
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_without_results_a_figure_says_so_in_a_sentence(name):
    figure = draw(name, [])
    (note,) = figure.layout.annotations
    assert note.text.endswith(".") and not figure.data


@pytest.mark.parametrize("name", FIGURES)
def test_a_single_broken_result_can_be_drawn(name, result):
    assert isinstance(draw(name, [result(verdict="not_evaluated")]), go.Figure)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_takes_the_colours_of_the_page(name, mixed_run):
    layout = draw(name, mixed_run).to_dict()["layout"]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == canvas.CLEAR
    assert "color" not in json.dumps([layout.get("font"), layout.get("title"), layout.get("annotations")])
    assert 100 < layout["height"] < 1500


@pytest.mark.parametrize("name", FIGURES)
def test_every_mark_leads_to_the_rows_behind_it(name, rich_run):
    frame = to_dataframe(rich_run, FIGURES[name].frame)
    found = marks(FIGURES[name].draw(frame))
    assert found
    for _, _, click, hover, trace in found:
        assert len(click) == len(PLACES)
        assert json.loads(json.dumps(click)) == click
        assert not rows_behind(frame, click).empty
        assert hover
        assert trace.unselected.marker.opacity == 1
        assert trace.textfont.color == trace.unselected.textfont.color


@pytest.mark.parametrize("name", FIGURES)
def test_foreign_text_is_shown_and_not_read_as_markup(name, rich_run):
    markup = ' <a href="https://x.example">'
    for result in rich_run:
        result.answering_model += markup
        result.question.question = markup + result.question.question
        result.rubric.scores = {markup + trait: score for trait, score in result.rubric.scores.items()}
        result.rubric.labels = {markup + trait: label for trait, label in result.rubric.labels.items()}
    texts = list(visible(draw(name, rich_run)))
    assert any("&lt;a href" in text for text in texts)
    assert not any("<a" in text for text in texts)


def visible(figure):
    """Yield every text that a browser would draw."""
    for trace in figure.data:
        for texts in (trace.text, trace.hovertext):
            yield from () if texts is None else map(str, texts)
        yield trace.name or ""
    for axis in figure.select_xaxes():
        yield from axis.ticktext or ()
    for axis in figure.select_yaxes():
        yield from axis.ticktext or ()
    yield from (note.text for note in figure.layout.annotations)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_text_on_a_square_is_readable(look):
    assert contrast(look.colour, look.text_colour) >= 4.5


def contrast(first, second):
    """Return the contrast ratio of WCAG 2."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_pass_rates_show_interval_and_number(run):
    figure = draw("pass_rate", run("++++++++----0"))
    (trace,) = figure.data
    assert trace.x[0] == pytest.approx(8 / 12)
    assert trace.error_x.array[0] + trace.x[0] == pytest.approx(0.8619, abs=1e-4)
    assert figure.layout.yaxis.ticktext == ("Sample A<br>n = 12",)
    assert "8 of 12 right (67 %, 95 % interval 39–86 %), 1 not evaluated" in trace.hovertext[0]
    assert list(trace.customdata[0]) == place({"answering_model": "Sample A", "parsing_model": "judge"})


def test_a_model_with_few_answers_has_an_open_dot_and_one_without_a_cross(run):
    figure = draw("pass_rate", [*run("+" * 5, "A"), *run("++", "B"), *run("0", "C")])
    assert figure.data[0].marker.symbol == ("circle", "circle-open", "x-thin-open")
    assert figure.data[0].hovertext[2].endswith("none of 1 evaluated (1 error)")


def test_fields_tell_right_wrong_and_not_found_apart(result, field):
    fields = [field("a", True), field("b", False), field("c", None), field("d", None, extracted="x")]
    figure = draw("fields", [result(fields=fields)])
    texts = {trace.name: list(trace.text) for trace in figure.data if len(trace.text)}
    assert texts == {"✓ right": ["✓"], "✗ wrong": ["✗"], "∅ not found": ["∅"], "– not evaluated": ["–"]}
    assert figure.layout.yaxis.ticktext == ("a", "b", "c", "d")


def test_questions_have_a_column_per_repetition(run):
    results = [*run("+-", replicate=2), *run("0+", replicate=1)]
    figure = draw("questions", results)
    assert figure.layout.xaxis.ticktext == ("Sample A<br>#1", "Sample A<br>#2")
    seen = {(click[2], click[3]): trace.text[0] for _, _, click, _, trace in marks(figure) if len(trace.x) == 1}
    assert seen[results[1].question.id, 2] == "✗" and seen[results[0].question.id, 1] == "–"


def test_many_repetitions_are_summed_up(run):
    results = [result for n in range(1, 15) for result in run("+-", replicate=n)]
    figure = draw("questions", results)
    assert figure.layout.xaxis.ticktext == ("Sample A",)
    assert len(questions(results_frame(results), replicates=True).layout.xaxis.ticktext) == 14


def test_scores_are_drawn_on_the_range_of_their_trait(result, rubric):
    results = [result(f"Q{n}?", rubric=rubric(scores={"Clarity": score})) for n, score in enumerate((2, 2, 9))]
    frame = traits_frame(results, [RubricTrait(name="Clarity", min_score=0, max_score=10)])
    figure = FIGURES["trait_scores"].draw(frame)
    bubbles, means = figure.data
    assert list(figure.layout.xaxis.range) == [-0.5, 10.5]
    assert (list(bubbles.x), list(bubbles.text)) == ([2, 9], ["2", "1"])
    assert list(bubbles.customdata[0]) == place({"answering_model": "Sample A", "item": "Clarity", "label": "2"})
    assert means.x[0] == pytest.approx(13 / 3)
    assert figure.layout.annotations[0].text == "Clarity (higher is better →)"
    assert figure.layout.yaxis.ticktext == ("Sample A<br>n = 3",)


def test_shares_of_yes_have_intervals_and_numbers(result, rubric):
    results = [result(f"Q{n}?", rubric=rubric(regex={"Cites": n == 0})) for n in range(29)]
    figure = draw("trait_shares", results)
    (trace,) = figure.data
    assert trace.x[0] == pytest.approx(1 / 29)
    assert trace.error_x.arrayminus[0] == pytest.approx(1 / 29 - 0.0061, abs=1e-4)
    assert figure.layout.yaxis.ticktext == ("Cites<br>n = 29",)


def test_metrics_have_a_row_each(mixed_run):
    figure = draw("metrics", mixed_run)
    assert figure.layout.yaxis.ticktext == ("precision", "recall")
    assert figure.data[0].x == pytest.approx((2 / 3, 0.5))
    assert "TP 4 · FP 2 · TN 0 · FN 4" in figure.data[0].hovertext[0]


def test_an_undefined_metric_is_a_cross(result, rubric):
    part = rubric(metrics={"D": {"recall": 0.0}}, confusion={"D": ConfusionPart(fp=["x"], undefined=["recall"])})
    (trace,) = draw("metrics", [result(rubric=part)]).data
    assert trace.marker.symbol == ("x-thin-open",) and "1 undefined (0/0)" in trace.hovertext[0]


def test_recall_is_drawn_against_precision(mixed_run):
    (points,) = draw("precision_recall", mixed_run).data
    assert (points.x[0], points.y[0]) == pytest.approx((0.5, 2 / 3))
    assert "4 found, 4 missed, 2 made up" in points.hovertext[0]


def test_a_click_on_a_field_finds_its_rows_in_any_table(mixed_run):
    frame = fields_frame(mixed_run)
    click = place({"answering_model": "Sample A", "replicate": 1, "item": "target"})
    assert len(rows_behind(frame, click)) == 2
    assert len(rows_behind(results_frame(mixed_run), click)) == 2


def test_no_mark_stands_at_a_place_that_is_not_a_number(mixed_run):
    for name in FIGURES:
        for x, y, *_ in marks(draw(name, mixed_run)):
            assert not any(isinstance(value, float) and math.isnan(value) for value in (x, y))


def test_keywords_of_few_models_are_dots_with_intervals(run):
    figure = draw("keywords", [*run("++-", "A"), *run("+--", "B")])
    assert figure.layout.yaxis.ticktext == ("drugs",)
    assert [trace.name for trace in figure.data] == ["A", "B"]
    assert figure.data[0].error_x.array[0] > 0
    assert list(figure.data[0].customdata[0]) == place({"answering_model": "A", "keyword": "drugs"})


def test_keywords_of_many_models_are_squares_the_hardest_first(result):
    results = []
    for number in range(6):
        for keyword, verdict in (("easy", "pass"), ("hard", "fail")):
            item = result(f"A question about {keyword}?", f"Model {number}", verdict)
            item.question.keywords = [keyword]
            results.append(item)
    figure = draw("keywords", results)
    assert figure.layout.yaxis.ticktext == ("hard", "easy")
    assert len(figure.layout.xaxis.ticktext) == 6


def test_a_click_on_a_keyword_finds_its_rows(run):
    frame = results_frame(run("+-0"))
    assert len(rows_behind(frame, place({"keyword": "drugs"}))) == 3
    assert rows_behind(frame, place({"keyword": "genes"})).empty
    without = frame.assign(keywords=[[] for _ in range(3)])
    assert len(rows_behind(without, place({"keyword": NO_KEYWORD}))) == 3


def test_prices_are_drawn_with_intervals_and_the_line_of_the_best(run, call):
    results = []
    for model, verdicts, cost in (("cheap", "+---", 0.001), ("good", "+++-", 0.02), ("poor", "++--", 0.03)):
        answer = AnswerPart(text="x", call=call(usage=Usage(cost=cost, calls=1)))
        results += run(verdicts, model, answer=answer)
    line, models = draw("cost_quality", results).data
    assert list(zip(line.x, line.y, strict=True)) == [(0.001, 0.25), (0.02, 0.75)]
    assert models.text == ("cheap", "good", "poor")
    assert models.marker.symbol == ("diamond-open", "diamond-open", "circle-open")
    assert all(above > 0 for above in models.error_y.array)


def test_times_show_median_spread_and_the_slowest(run, call):
    results = []
    for number, seconds in enumerate((1.0, 2.0, 3.0, 4.0, 100.0), 1):
        results += run("+", replicate=number, answer=AnswerPart(text="x", call=call(seconds=seconds)))
    middle, slowest, medians = draw("latency", results).data
    assert medians.x == (3.0,)
    assert slowest.x[0] > 95
    assert middle.x[0] < 2 < 60 < middle.x[1]
    assert "median 3.00 s, n = 5" in medians.hovertext[0]


def test_correlated_traits_are_squares_with_numbers(result, rubric):
    scores = [(1, 2), (2, 3), (4, 4), (5, 5), (3, 4), (2, 2)]
    results = [
        result(f"Q{number}?", rubric=rubric(scores={"Clarity": first, "Depth": second}))
        for number, (first, second) in enumerate(scores)
    ]
    [text] = [text for trace in draw("trait_redundancy", results).data for text in trace.text]
    assert text.startswith("+0.9")


def test_a_question_that_good_models_get_wrong_stands_out(run):
    answers = ["++++-", "+++--", "++---", "+---+", "-+--+", "----+"]
    figure = draw("items", [item for number, row in enumerate(answers) for item in run(row, f"Model {number}")])
    odd = figure.data[0]
    assert [click[2] for click in odd.customdata] == [run("-----")[4].question.id]
    assert "check the question" in odd.hovertext[0]


def test_the_hardest_questions_are_shown_when_not_all_fit(run):
    wrong = 3
    figure = draw("questions", run("+" * MOST_ROWS + "-" * wrong))
    assert figure.layout.yaxis.ticktext[:wrong] == tuple(f"Question {MOST_ROWS + n}?" for n in (1, 2, 3))


def answered(call, cost, source="provider", **provenance):
    """Return an answer with the call that gave it."""
    made = call(source=source, usage=Usage(cost=cost, calls=1), provenance=provenance)
    return AnswerPart(text="x", call=made)


def remembered(call, paid, first_source="provider"):
    """Return an answer that the ledger gave, and that cost so much when its model was asked."""
    return answered(call, 0.0, "ledger", first_call={"source": first_source, "cost": paid})


@pytest.mark.parametrize(
    ("cost", "source", "first", "said"),
    [
        (0.0, "recording", {}, "recorded or prepared beforehand: no model was asked"),
        (0.0, "manual", {}, "recorded or prepared beforehand: no model was asked"),
        (0.0, "ledger", {"first_call": {"source": "manual", "cost": 0.0}}, "recorded or prepared beforehand"),
        (None, "provider", {}, "No price of these models is known"),
        (0.0, "ledger", {"first_call": {"source": "provider", "cost": None}}, "No price of these models is known"),
        (0.0, "local", {}, "No answer that cost anything has a verdict"),
        (0.0, "ledger", {"first_call": {"source": "local", "cost": 0.0}}, "No answer that cost anything has a verdict"),
    ],
)
def test_why_no_prices_can_be_compared_is_said_precisely(run, call, cost, source, first, said):
    drawing = draw("cost_quality", run("+-", answer=answered(call, cost, source, **first)))
    assert not drawing.data
    assert said in drawing.layout.annotations[0].text


@pytest.mark.parametrize(
    ("verdicts", "cost", "words"),
    [("+-", None, "No call behind an answer"), ("00", 0.01, "No answer that cost anything has a verdict")],
)
def test_why_no_prices_are_known_is_said(run, call, verdicts, cost, words):
    results = run(verdicts, **({"answer": answered(call, cost)} if cost else {}))
    assert draw("cost_quality", results).layout.annotations[0].text.startswith(words)


def test_recorded_answers_stand_beside_paid_ones_as_without_a_price(run, call):
    results = [
        *run("+-", "paid", answer=answered(call, 0.01)),
        *run("++", "old", answer=answered(call, 0, "recording")),
    ]
    drawing = draw("cost_quality", results)
    assert drawing.data[1].text == ("paid",)
    assert "Without a price or a verdict: old." in drawing.layout.annotations[0].text


def test_squares_of_many_models_keep_their_width_on_a_narrow_screen(run):
    assert draw("questions", [*run("+", "A"), *run("-", "B")]).layout.width is None
    assert draw("questions", [item for n in range(9) for item in run("+", f"M{n}")]).layout.width > 390
