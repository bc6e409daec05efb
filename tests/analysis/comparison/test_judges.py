"""How far judges agree with each other, with people and with themselves."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from karenina_core.analysis import PEOPLE, field_ratings, repeat_ratings, verdict_ratings
from karenina_core.analysis.comparison.judges import (
    agreement,
    consistency,
    human_label,
    kappa,
    krippendorff_alpha,
    label_pairs,
    raters_of,
    ratings_behind,
)
from karenina_core.schemas import Annotation
from tests.analysis.comparison.arms import joined, rows


def ratings(**raters):
    """Return ratings: one text of labels per rater, one letter per unit, a dot for none."""
    found = [
        (place, f"q{place}", "r1", f"{name}{place}", "", name, label)
        for name, labels in raters.items()
        for place, label in enumerate(labels)
        if label != "."
    ]
    return pd.DataFrame(found, columns=["unit", "question_id", "run_id", "result_id", "item", "rater", "label"])


def review(result_id, agrees=True, at=1, **parts):
    when = datetime(2026, 1, at, tzinfo=UTC)
    return Annotation(run_id="r1", result_id=result_id, agrees=agrees, at=when, **parts)


def two_judges(first, second):
    return joined(rows(list(first), judge="a"), rows(list(second), judge="b"))


def test_kappa_gives_the_published_value():
    # Fifty grant proposals, the example of the article on Cohen's kappa in Wikipedia: 0.40.
    found = kappa(pd.DataFrame([[20, 5], [10, 15]]))
    assert found.value == pytest.approx(0.40, abs=1e-9)
    assert found.low < 0.40 < found.high


def test_alpha_gives_the_published_value():
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, example C: 0.743 for nominal data.
    table = ratings(A="123321412...", B="1233224125.3", C=".333234225 1.".replace(" ", ""), D="12332441251.")
    assert krippendorff_alpha(table) == pytest.approx(0.743, abs=5e-4)


@settings(deadline=None, max_examples=12)
@given(st.lists(st.text("xy", min_size=3, max_size=3), min_size=2, max_size=20))
def test_alpha_of_complete_ratings_follows_from_fleiss_kappa(units):
    table = ratings(**{f"r{place}": "".join(unit[place] for unit in units) for place in range(3)})
    counts, _ = aggregate_raters(pd.DataFrame([list(unit) for unit in units]).to_numpy())
    if counts.shape[1] == 1:
        assert math.isnan(krippendorff_alpha(table))
    else:
        n = counts.sum()
        assert krippendorff_alpha(table) == pytest.approx(1 - (1 - fleiss_kappa(counts)) * (n - 1) / n)


def test_judges_are_compared_on_the_same_answers():
    [row] = agreement(verdict_ratings(two_judges("++--+", "+--+0"))).to_dict("records")
    assert (row["a"], row["b"], row["n"], row["agreed"], row["left_out"]) == ("a", "b", 4, 2, 1)
    assert row["kappa"] == pytest.approx(0.0)
    assert row["few"]


def test_agreement_without_any_variation_has_a_share_but_no_kappa():
    [row] = agreement(verdict_ratings(two_judges("+++", "+++"))).to_dict("records")
    assert row["share"] == 1
    assert math.isnan(row["kappa"])
    assert math.isnan(row["alpha"])


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(st.sampled_from("+-0"), st.sampled_from("+-0")), min_size=1, max_size=20))
def test_the_cells_add_up_to_all_units_and_lead_to_them(pairs):
    table = verdict_ratings(two_judges([a for a, _ in pairs], [b for _, b in pairs]))
    counted = label_pairs(table, "a", "b")
    assert counted["n"].sum() == len(pairs)
    for row in counted.to_dict("records"):
        found = ratings_behind(table, "a", "b", row["a_label"], row["b_label"])
        assert len(found) == row["n"]
    assert len(ratings_behind(table, "a", "b")) == sum(a != b for a, b in pairs)
    [row] = agreement(table).to_dict("records")
    assert row["n"] + row["left_out"] == len(pairs)
    assert row["agreed"] == sum(a == b != "0" for a, b in pairs)


def test_a_review_of_one_judge_is_an_opinion_of_the_answer_and_meets_the_other_judge_too():
    table = verdict_ratings(two_judges("+-", "--"), [review("r1-A-a-0-1", agrees=False)])
    assert raters_of(table) == ["a", "b", PEOPLE]
    found = agreement(table).set_index(["a", "b"])
    assert found.loc[("a", PEOPLE), ["n", "agreed"]].to_list() == [1, 0]
    assert found.loc[("b", PEOPLE), ["n", "agreed"]].to_list() == [1, 1]


def test_the_latest_review_counts():
    reviews = [review("r1-A-a-0-1", agrees=True, at=3), review("r1-A-b-0-1", agrees=False, at=2)]
    table = verdict_ratings(two_judges("+", "+"), reviews)
    assert table[table["rater"] == PEOPLE]["label"].to_list() == ["pass"]


@pytest.mark.parametrize(
    ("machine", "parts", "label"),
    [
        ("pass", {"agrees": True}, "pass"),
        ("pass", {"agrees": False}, "fail"),
        ("fail", {"agrees": False, "cause": "rule_too_strict"}, "pass"),
        ("fail", {"agrees": False, "cause": "abstained"}, "not_evaluated"),
        ("not_evaluated", {"agrees": False}, "not_evaluated"),
        ("not_found", {"agrees": False, "field": "target"}, "right"),
        ("right", {"agrees": False, "field": "target"}, "wrong"),
        ("wrong", {"agrees": True, "field": "target"}, "wrong"),
    ],
)
def test_a_review_says_what_the_verdict_should_have_been(machine, parts, label):
    assert human_label(machine, review("x", **parts)) == label


def test_fields_are_compared_one_by_one_and_reviewed_one_by_one():
    table = two_judges("++", "++")
    fields = joined(
        *(
            table.assign(field=name, state=["right", "wrong", "right", state])
            for name, state in [("x", "wrong"), ("y", "not_found")]
        )
    )
    rated = field_ratings(fields, [review("r1-A-a-0-1", agrees=False, field="x"), review("r1-A-a-0-1", agrees=False)])
    found = agreement(rated).set_index(["a", "b"])
    assert found.loc[("a", "b"), ["n", "agreed"]].to_list() == [4, 3]
    assert found.loc[("a", PEOPLE), ["n", "agreed"]].to_list() == [1, 0]


def test_a_judge_is_consistent_when_repeats_have_one_verdict():
    found = consistency(repeat_ratings(rows(["+++", "+-+", "--0", "+00"]), "judge"), "judge")
    assert (found.same, found.n) == (2, 3)
    assert found.low < 2 / 3 < found.high
