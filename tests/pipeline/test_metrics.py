"""Confusion matrices and metrics, with the documented examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.pipeline import arithmetic, evaluate, marked, metric_values, named_in
from karenina_core.pipeline.metrics import ExtractedItem, confusion
from karenina_core.schemas import METRICS_BY_MODE, MetricRubricTrait

INFLAMMATORY = ["asthma", "bronchitis", "pneumonia", "pleurisy"]
OTHERS = ["emphysema", "pulmonary fibrosis", "sarcoidosis", "lung cancer", "tuberculosis"]


def identification(**changes: object) -> MetricRubricTrait:
    settings = {
        "metrics": ["precision", "recall", "f1"],
        "tp_instructions": INFLAMMATORY,
        "fp_instructions": OTHERS[:3],
    }
    return MetricRubricTrait.model_validate({"name": "Inflammatory", **settings, **changes})


def classification() -> MetricRubricTrait:
    return MetricRubricTrait(
        name="Classes",
        metrics=["precision", "recall", "f1", "accuracy", "specificity"],
        tp_instructions=INFLAMMATORY,
        tn_instructions=OTHERS,
    )


def named(*items: str, given_class: str | None = None) -> list[ExtractedItem]:
    return [ExtractedItem.model_validate({"item": item, "class": given_class}) for item in items]


def test_identification_counts_what_was_found_missed_and_wrongly_named() -> None:
    values, part = evaluate(identification(), named("asthma", "bronchitis", "emphysema"))
    assert (part.tp, part.fp, part.fn) == (["asthma", "bronchitis"], ["emphysema"], ["pneumonia", "pleurisy"])
    assert {name: round(value, 2) for name, value in values.items()} == {"precision": 0.67, "recall": 0.5, "f1": 0.57}


def test_classification_counts_only_what_the_answer_mentions() -> None:
    items = named("asthma", "bronchitis", "sarcoidosis", given_class="positive") + named(
        "emphysema", given_class="negative"
    )
    values, part = evaluate(classification(), items)
    assert (len(part.tp), len(part.fp), len(part.tn), len(part.fn)) == (2, 1, 1, 0)
    assert part.not_mentioned == ["pneumonia", "pleurisy", "pulmonary fibrosis", "lung cancer", "tuberculosis"]
    rounded = {name: round(value, 2) for name, value in values.items()}
    assert rounded == {"precision": 0.67, "recall": 1.0, "f1": 0.8, "accuracy": 0.75, "specificity": 0.5}


def test_the_printed_example_of_a_full_identification() -> None:
    values, _ = evaluate(identification(), named("asthma", "bronchitis", "pneumonia"))
    assert {name: round(value, 2) for name, value in values.items()} == {"precision": 1.0, "recall": 0.75, "f1": 0.86}


def test_a_term_in_no_list_is_a_false_positive_when_identifying() -> None:
    assert confusion(identification(), named("gout")).fp == ["gout"]


def test_expected_mistakes_are_told_apart_from_unexpected_ones() -> None:
    part = confusion(identification(fn_instructions=["Pleurisy "]), named("asthma", "EMPHYSEMA", "gout"))
    assert (part.fp, part.expected_fp) == (["emphysema", "gout"], ["emphysema"])
    assert (part.fn, part.expected_fn) == (["bronchitis", "pneumonia", "pleurisy"], ["pleurisy"])
    classes = classification().model_copy(update={"fp_instructions": ["sarcoidosis"], "fn_instructions": ["asthma"]})
    items = named("sarcoidosis", "tuberculosis", given_class="positive") + named("asthma", given_class="negative")
    part = confusion(classes, items)
    assert (part.fp, part.expected_fp) == (["sarcoidosis", "tuberculosis"], ["sarcoidosis"])
    assert part.fn == part.expected_fn == ["asthma"]


def test_a_positive_item_called_negative_is_a_false_negative() -> None:
    assert confusion(classification(), named("asthma", given_class="negative")).fn == ["asthma"]


def test_the_judge_links_a_paraphrase_to_its_instruction() -> None:
    item = ExtractedItem(item="bronchial asthma", matches="asthma")
    assert confusion(identification(), [item]).tp == ["asthma"]


def test_the_answers_own_words_win_over_the_judges_link() -> None:
    item = ExtractedItem(item="emphysema", matches="asthma")
    assert confusion(identification(), [item]).fp == ["emphysema"]


def test_an_invented_link_is_ignored() -> None:
    item = ExtractedItem(item="gout", matches="something else")
    assert confusion(identification(), [item]).fp == ["gout"]


def test_repeated_mentions_count_once_by_default() -> None:
    items = named("Asthma", "asthma ", "ASTHMA.")
    assert len(confusion(identification(), items).tp) == 1
    assert len(confusion(identification(repeated_extraction=False), items).tp) == 3


def test_a_metric_without_a_denominator_is_zero_and_marked_undefined() -> None:
    values, part = evaluate(identification(), [])
    assert values["precision"] == 0.0
    assert part.undefined == ["precision"]
    assert part.fn == INFLAMMATORY


counts = st.integers(0, 50)


@given(counts, counts, counts, counts)
def test_metrics_stay_between_zero_and_one_and_f1_is_the_harmonic_mean(tp: int, fp: int, tn: int, fn: int) -> None:
    values, undefined = metric_values(["precision", "recall", "f1", "accuracy", "specificity"], tp, fp, tn, fn)
    assert all(0 <= value <= 1 for value in values.values())
    precision, recall = values["precision"], values["recall"]
    if precision and recall:
        assert values["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert ("accuracy" in undefined) == (tp + fp + tn + fn == 0)


@given(st.lists(st.sampled_from([*INFLAMMATORY, *OTHERS, "gout", "flu"])))
def test_every_positive_instruction_is_either_found_or_missed(items: list[str]) -> None:
    part = confusion(identification(), named(*items))
    assert sorted(part.tp + part.fn) == sorted(INFLAMMATORY)


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
