"""The arithmetic of metrics, written out; and marking items by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karenina_core.pipeline import arithmetic, evaluate, marked, named_in
from karenina_core.schemas import METRICS_BY_MODE, MetricRubricTrait

LUNGS = MetricRubricTrait(
    name="Lungs",
    metrics=["precision", "recall", "f1"],
    tp_instructions=["asthma", "bronchitis", "pneumonia", "pleurisy"],
    fp_instructions=["emphysema", "pulmonary fibrosis"],
)
CLASSES = MetricRubricTrait(
    name="Classes",
    metrics=list(METRICS_BY_MODE["full_matrix"]),
    tp_instructions=["asthma", "bronchitis", "pneumonia"],
    tn_instructions=["emphysema", "sarcoidosis"],
)


def test_precision_is_written_out() -> None:
    assert arithmetic(["precision"], tp=3, fp=1, tn=0, fn=0) == ["precision = 3 / (3 + 1) = 0.75"]


def test_every_metric_is_written_out() -> None:
    assert arithmetic(METRICS_BY_MODE["full_matrix"], tp=2, fp=1, tn=1, fn=0) == [
        "precision = 2 / (2 + 1) = 0.67",
        "recall = 2 / (2 + 0) = 1.00",
        "f1 = 2 × 2 / (2 × 2 + 1 + 0) = 0.80",
        "accuracy = (2 + 1) / (2 + 1 + 1 + 0) = 0.75",
        "specificity = 1 / (1 + 1) = 0.50",
    ]


def test_a_division_by_nothing_has_no_value() -> None:
    assert arithmetic(["recall"], 0, 1, 0, 0) == ["recall = 0 / (0 + 0): nothing to divide by, so it has no value"]


@given(st.tuples(*[st.integers(0, 50)] * 4))
def test_what_is_written_is_what_is_computed(counts: tuple[int, int, int, int]) -> None:
    for line in arithmetic(METRICS_BY_MODE["full_matrix"], *counts):
        if "=" in line.partition("=")[2]:
            formula, _, value = line.partition("=")[2].rpartition("=")
            top, _, bottom = formula.strip().partition(" / ")
            assert abs(_number(top) / _number(bottom) - float(value)) <= 0.005 + 1e-9


def _number(text: str) -> int:
    """Work out a sum of numbers and doubled numbers."""
    return sum(2 * int(part[3:]) if part.startswith("2 ×") else int(part) for part in text.strip("()").split(" + "))


def test_items_are_found_as_whole_words_in_any_case() -> None:
    assert named_in(LUNGS, "Asthma; pulmonary   fibrosis, and bronchitises.") == ["asthma", "pulmonary fibrosis"]


def test_items_marked_by_hand_are_counted_like_a_judges() -> None:
    values, part = evaluate(LUNGS, marked(["asthma", "bronchitis", "emphysema"]))
    assert (part.tp, part.fp, part.fn) == (["asthma", "bronchitis"], ["emphysema"], ["pneumonia", "pleurisy"])
    assert values["recall"] == 0.5


def test_classes_marked_by_hand_give_the_whole_matrix() -> None:
    values, part = evaluate(CLASSES, marked(["asthma", "bronchitis", "sarcoidosis"], ["emphysema"]))
    assert (len(part.tp), len(part.fp), len(part.tn), len(part.fn)) == (2, 1, 1, 0)
    assert part.not_mentioned == ["pneumonia"]
    assert values["accuracy"] == 0.75
