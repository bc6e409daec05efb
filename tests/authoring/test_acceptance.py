"""Which change of a rule would accept a variant that fails now."""

from __future__ import annotations

import pytest

from karenina_core.authoring import acceptances, near_misses
from karenina_core.templates import FieldSpec, TemplateSpec
from tests.authoring.linter.cases import LOWER, category, day, exact, items, number


def changes(item: FieldSpec) -> dict[str, list[str]]:
    """Return what each change accepts, by its label."""
    template = TemplateSpec(fields=[item])
    return {
        change.fix.label: [case.label for case in change.accepts]
        for change in acceptances(template, near_misses(template))
    }


def test_a_normaliser_accepts_another_spelling() -> None:
    assert "with a full stop" in changes(exact(*LOWER))["Add “Drop punctuation”"]


def test_a_synonym_accepts_what_no_normaliser_does() -> None:
    assert changes(exact(*LOWER))['Count "BCL2s" as "bcl2"'] == ["in the plural"]
    assert not [label for label in changes(exact(*LOWER)) if "The answer is" in label]


def test_a_change_that_accepts_nothing_more_is_left_out() -> None:
    found = changes(exact("strip"))
    assert "Add “Ignore capitals”" in found and "Add “Ignore capitals in all scripts”" not in found


def test_a_synonym_joins_the_ones_there_are() -> None:
    template = TemplateSpec(fields=[exact(*LOWER, {"mapping": {"bcl-2": "bcl2"}})])
    [change] = [item for item in acceptances(template, near_misses(template)) if item.fix.label.startswith("Count")]
    rule = change.fix.edit(template).fields[0].verify_with
    assert rule is not None
    assert rule["normalize"] == [*LOWER, {"mapping": {"bcl-2": "bcl2", "bcl2s": "bcl2"}}]


def test_the_change_does_what_it_says() -> None:
    template = TemplateSpec(fields=[exact(*LOWER)])
    for change in acceptances(template, near_misses(template)):
        changed = change.fix.edit(template)
        passing = {case.label for case in near_misses(changed) if case.verdict == "pass"}
        assert {case.label for case in change.accepts} <= passing


def test_what_a_change_lets_through_is_said() -> None:
    template = TemplateSpec(fields=[items(mode="exact")])
    for change in acceptances(template, near_misses(template)):
        assert len(change.opens) <= len(change.accepts)
        assert all(case.expected == "fail" for case in change.opens)


@pytest.mark.parametrize("item", [category(), number(), day(), number(0.72, "float")], ids=lambda item: item.type)
def test_changes_never_lose_what_passes(item: FieldSpec) -> None:
    template = TemplateSpec(fields=[item])
    cases = near_misses(template)
    before = {case.label for case in cases if case.verdict == "pass"}
    for change in acceptances(template, cases):
        after = {case.label for case in near_misses(change.fix.edit(template)) if case.verdict == "pass"}
        assert before & {case.label for case in cases} <= after | {"as a text", "with decimals"}
