"""Rules on rubric traits."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.authoring import Finding, lint_rubric
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, RubricTrait, StoredTrait

TEXT = "Rate the conciseness from 1 (very verbose) to 5 (extremely concise)."


def score(**settings: Any) -> RubricTrait:
    return RubricTrait(**{"name": "Conciseness", "description": TEXT, **settings})


def regex(pattern: str = "BH3", **settings: Any) -> ManualRubricTrait:
    trait = ManualRubricTrait(
        name="Mentions BH3", description="Whether BH3 proteins are named", pattern="BH3", **settings
    )
    return trait.model_copy(update={"pattern": pattern})


def metric(**changes: Any) -> MetricRubricTrait:
    trait = MetricRubricTrait(
        name="Diseases", metrics=["precision", "recall"], tp_instructions=["asthma", "bronchitis"]
    )
    return trait.model_copy(update=changes)


def literal(**classes: str) -> RubricTrait:
    return score(name="Register", description="Which register it is in", kind="literal", classes=classes)


STORED = StoredTrait(name="Short", kind="callable", rating={})

# Code: traits it speaks of, and traits like them it does not.
CASES: dict[str, tuple[list[AnyTrait], list[AnyTrait]]] = {
    "trait_undescribed": ([score(description=None), score(description=" "),
        regex().model_copy(update={"description": None})],
        [score(), metric()]),
    "scale_too_fine": ([score(max_score=100, description="How concise")],
        [score(), score(max_score=10, description="How concise")]),
    "scale_disagrees": ([score(max_score=10), score(description="From 0 to 3")],
        [score(), score(description="At least 3 sentences")]),
    "metric_not_computable": ([metric(metrics=["precision", "accuracy"]), metric(metrics=["specificity"])],
        [metric(), metric(metrics=["accuracy"], tn_instructions=["flu"], evaluation_mode="full_matrix")]),
    "negatives_unused": ([metric(tn_instructions=["flu"])],
        [metric(), metric(tn_instructions=["flu"], evaluation_mode="full_matrix")]),
    "trait_not_evaluated": ([STORED], [score()]),
    "trait_vague": ([score(description="Conciseness"), score(description="TODO"),
        literal(lay="", expert="full jargon")],
        [score(), score(description="How concise it is, compared with what was asked"),
         literal(lay="plain words", expert="full jargon")]),
    "trait_pattern": ([regex("t(14"), regex(r"\d*"), regex("(x|)")], [regex(), regex(r"\d+")]),
    "trait_pattern_can_hang": ([regex("(a+)+b")], [regex("a+b")]),
    "items_overlap": ([metric(tn_instructions=["Asthma "], evaluation_mode="full_matrix"),
        metric(tp_instructions=["asthma", "Asthma", "flu"]), metric(tp_instructions=["asthma", " "]),
        metric(tn_instructions=["flu", "flu"], evaluation_mode="full_matrix"), metric(fp_instructions=["asthma"])],
        [metric(), metric(fp_instructions=["emphysema"])]),
}  # fmt: skip


def found(trait: AnyTrait, code: str) -> list[Finding]:
    return [finding for finding in lint_rubric([trait]) if finding.code == code]


@pytest.mark.parametrize(("code", "trait"), [(code, trait) for code, (bad, _) in CASES.items() for trait in bad])
def test_a_rule_speaks_and_its_fix_silences_it(code: str, trait: AnyTrait) -> None:
    (finding,) = found(trait, code)
    assert finding.field == trait.name and finding.what.endswith(".") and finding.next.endswith(".")
    if finding.fix is not None:
        assert finding.fix is not None
        assert not found(finding.fix.edit(trait), code)


@pytest.mark.parametrize(("code", "trait"), [(code, trait) for code, (_, good) in CASES.items() for trait in good])
def test_a_rule_is_silent(code: str, trait: AnyTrait) -> None:
    assert not found(trait, code)


@pytest.mark.parametrize(
    "code",
    ["trait_undescribed", "scale_too_fine", "scale_disagrees", "trait_pattern", "metric_not_computable",
     "negatives_unused", "items_overlap"],
)  # fmt: skip
def test_a_rule_offers_a_fix(code: str) -> None:
    assert any(finding.fix for trait in CASES[code][0] for finding in found(trait, code))


def test_a_trait_that_hides_a_global_one_can_be_renamed() -> None:
    (finding,) = lint_rubric([score()], shared=[score(), score(name="Conciseness 2")])
    assert finding.code == "trait_hides_global" and finding.fix is not None
    renamed = finding.fix.edit(score())
    assert renamed.name == "Conciseness 3"
    assert lint_rubric([renamed], shared=[score()]) == []


def test_names_that_are_easily_confused() -> None:
    assert [f.code for f in lint_rubric([score(name="conciseness")], shared=[score()])] == ["trait_hides_global"]


def test_the_gravest_comes_first() -> None:
    severities = [
        finding.severity
        for finding in lint_rubric(
            [STORED, regex("(a+)+b"), score(description=None), score(name="clarity")], shared=[score(name="Clarity")]
        )
    ]
    assert severities == ["error", "warning", "warning", "warning"]
