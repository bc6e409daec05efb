"""Which traits say the same."""

from __future__ import annotations

import math

import pytest
from scipy.stats import spearmanr

from karenina_core.analysis import traits_frame
from karenina_core.analysis.redundancy import MOST_TRAITS, trait_correlations

CLARITY, DEPTH = [1, 2, 2, 4, 5, 3], [2, 1, 3, 4, 4, 5]


@pytest.fixture
def scored(result, rubric):
    """Return a function that makes one result per pair of scores."""

    def make(**columns):
        rows = zip(*columns.values(), strict=True)
        return [
            result(f"Q{number}?", rubric=rubric(scores=dict(zip(columns, values, strict=True))))
            for number, values in enumerate(rows)
        ]

    return make


def test_correlations_are_spearmans(scored):
    [row] = trait_correlations(traits_frame(scored(Clarity=CLARITY, Depth=DEPTH))).to_dict("records")
    assert (row["first"], row["second"], row["n"], row["few"]) == ("Clarity", "Depth", 6, False)
    assert row["correlation"] == pytest.approx(spearmanr(CLARITY, DEPTH).statistic)
    assert row["low"] < row["correlation"] < row["high"]


def test_a_trait_that_never_changes_correlates_with_nothing(scored):
    [row] = trait_correlations(traits_frame(scored(Clarity=CLARITY, Depth=[3] * 6))).to_dict("records")
    assert math.isnan(row["correlation"])


def test_repeats_are_averaged_first(result, rubric):
    results = [
        result(f"Q{number}?", replicate=repeat, rubric=rubric(scores={"Clarity": score + repeat, "Depth": score}))
        for number, score in enumerate((1, 2, 3))
        for repeat in (1, 2)
    ]
    [row] = trait_correlations(traits_frame(results)).to_dict("records")
    assert (row["n"], row["correlation"]) == (3, pytest.approx(1.0))


def test_every_pair_has_a_row_up_to_a_readable_number(scored):
    traits = {f"Trait {number}": CLARITY for number in range(MOST_TRAITS + 5)}
    assert len(trait_correlations(traits_frame(scored(**traits)))) == MOST_TRAITS * (MOST_TRAITS - 1) // 2
