"""The composition of a form: read, replaced, and refused where it is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.authoring import (
    Composition,
    FormData,
    add_field,
    composition_of,
    form_data,
    lint_form,
    remove_field,
    set_composition,
    set_name,
    set_rule,
    write_form,
)
from karenina_core.authoring.compositions import field_check
from karenina_core.errors import InputError
from karenina_core.templates import TemplateSpec
from tests.authoring.linter.cases import LOWER, exact

ONE = field_check("gene")


def form(strategy: Any) -> FormData:
    data = form_data(TemplateSpec(fields=[exact(*LOWER)]))
    data["fields"][0]["name"] = "gene"
    return {**data, "verify_strategy": strategy}


def nested(depth: int) -> Any:
    condition: Any = ONE
    for _ in range(depth):
        condition = {"type": "all_of", "conditions": [condition]}
    return condition


UNUSABLE = [
    {"type": "at_least_n", "n": "x", "conditions": [ONE]},
    {"type": "field_check"},
    {"type": "all_of", "conditions": 5},
    {"type": "all_of", "conditions": [5]},
    {"type": "none_of", "conditions": [ONE]},
    {"conditions": [ONE]},
    "all of them",
    nested(101),
    nested(5_000),
]
EDITS: list[Callable[[FormData], Any]] = [
    composition_of,
    add_field,
    lambda data: remove_field(data, 0),
    lambda data: set_name(data, 0, "drug"),
    lambda data: set_rule(data, 0, None),
]


@pytest.mark.parametrize("strategy", UNUSABLE)
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_no_composition_is_refused_in_words(strategy: Any, edit: Callable[[FormData], Any]) -> None:
    with pytest.raises(InputError) as caught:
        edit(form(strategy))
    assert caught.value.why and caught.value.next


@pytest.mark.parametrize("strategy", UNUSABLE)
def test_what_is_no_composition_can_be_replaced(strategy: Any) -> None:
    changed = set_composition(form(strategy), "any_of", ["gene"])
    assert composition_of(changed) == Composition("any_of", ("gene",))


@pytest.mark.parametrize("strategy", UNUSABLE)
def test_what_is_no_composition_is_named_and_leaves_the_source(strategy: Any) -> None:
    written = write_form("", form(strategy))
    assert written.source == "" and written.problem
    assert any(finding.severity == "error" for finding in lint_form(form(strategy)))


def test_a_composition_as_deep_as_a_source_holds_is_read() -> None:
    assert composition_of(form(nested(100))) == Composition("nested", ("gene",))


def test_an_unknown_primitive_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="'Nope'"):
        set_rule(form(None), 0, "Nope")


def test_an_unknown_way_to_compose_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="'none_of'"):
        set_composition(form(None), "none_of", ["gene"])
