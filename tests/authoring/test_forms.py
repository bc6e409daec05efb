"""A form shows a template, is changed, and is written back: nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import (
    Composition,
    FormData,
    add_field,
    composition_of,
    form_data,
    form_of,
    lint_form,
    move_field,
    remove_field,
    set_composition,
    set_name,
    set_parameter,
    set_rule,
    set_type,
    set_value,
    write_form,
)
from karenina_core.errors import InputError
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import REGISTRY
from karenina_core.templates import TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import LOWER, exact, items, number
from tests.authoring.test_source_edits import SOURCE
from tests.templates.test_writer import specs

PLAIN = """\
class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=ExactMatch())
"""
CLASSIC = """\
class Answer(BaseAnswer):
    gene: str = Field(description="The gene")

    def verify(self) -> bool:
        return self.gene == "BCL2"
"""
OWN_RULE = """\
class Near(VerificationPrimitive):
    def check(self, extracted, expected):
        return extracted == expected


class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=Near())
"""


def test_a_blank_source_is_an_empty_form() -> None:
    view = form_of(" \n")
    assert view.editable and view.spec == TemplateSpec()


@pytest.mark.parametrize(
    ("source", "reason"),
    [(CLASSIC, "has methods of its own"), (OWN_RULE, "defines Near itself")],
)
def test_own_code_is_shown_and_not_edited(source: str, reason: str) -> None:
    view = form_of(source)
    assert not view.editable and view.spec is not None
    assert reason in str(view.reason) and "Edit the source" in str(view.reason)


def test_an_unreadable_source_is_left_alone_and_the_form_says_why() -> None:
    view = form_of("class Answer(BaseAnswer):\n    gene = 3\n")
    assert view.spec is None and not view.editable
    assert view.line == 2 and "line 2: 'gene' has no type" in str(view.reason)


def test_a_type_the_form_does_not_list_is_locked() -> None:
    view = form_of(PLAIN + "    seen: str | None = None\n")
    assert view.editable and list(view.locked) == ["seen"]
    assert "str | None" in view.locked["seen"]


def data() -> FormData:
    spec = form_of(SOURCE).spec
    assert spec is not None
    return form_data(spec)


def test_an_edit_keeps_comments() -> None:
    written = write_form(SOURCE, set_value(data(), 0, "description", "The gene symbol"))
    assert written.source == SOURCE.replace('"The gene named in the response"', '"The gene symbol"')


def test_what_makes_no_template_leaves_the_source_and_says_why() -> None:
    written = write_form(SOURCE, set_name(data(), 0, "the gene"))
    assert written.source == SOURCE
    assert "'the gene' is not a field name" in str(written.problem)


def test_a_template_that_would_verify_nothing_is_not_written() -> None:
    written = write_form(SOURCE, remove_field(remove_field(data(), 0), 0))
    assert written.source == SOURCE and "cannot be written into the source" in str(written.problem)


TYPES = ["bool", "str", "int", "float", "list_str", "literal", "date"]
GENE, AMOUNT, USES = exact(*LOWER), number(), items()


def form(*fields: Any, **more: Any) -> FormData:
    return form_data(TemplateSpec(fields=list(fields), **more))


def spec(data: FormData) -> TemplateSpec:
    return TemplateSpec.model_validate(data)


@given(specs())
def test_what_a_form_holds_is_the_template(given_spec: TemplateSpec) -> None:
    assert spec(form_data(given_spec)) == given_spec


def test_an_edit_leaves_what_it_was_given_alone() -> None:
    before = form(GENE)
    set_parameter(before, 0, "normalize", [])
    add_field(before)
    assert before == form(GENE)


def test_the_first_field_takes_type_and_truth_from_the_reference_answer() -> None:
    [item] = add_field(form(), "46 chromosomes")["fields"]
    assert (item["name"], item["type"], item["ground_truth"]) == ("answer", "int", 46)
    assert item["verify_with"] == {"type": "NumericExact"}


def test_a_new_field_counts_where_all_counted() -> None:
    one = AnyOf(conditions=[FieldCheck(field_name="gene"), FieldCheck(field_name="amount")])
    assert composition_of(add_field(form(GENE, AMOUNT, verify_strategy=one))).fields == ("gene", "amount", "answer")
    some = AnyOf(conditions=[FieldCheck(field_name="gene")])
    assert composition_of(add_field(form(GENE, AMOUNT, verify_strategy=some))).fields == ("gene",)


def test_a_removed_field_is_forgotten_by_the_composition() -> None:
    checks = [FieldCheck(field_name=name) for name in ("gene", "amount", "uses")]
    data = form(GENE, AMOUNT, USES, verify_strategy=AtLeastN(n=3, conditions=checks))
    assert spec(remove_field(data, 0)).verify_strategy == AtLeastN(n=2, conditions=checks[1:])
    nested = form(GENE, AMOUNT, verify_strategy=AllOf(conditions=[AnyOf(conditions=[checks[0]]), checks[1]]))
    assert spec(remove_field(nested, 0)).verify_strategy == AllOf(conditions=[checks[1]])


def test_a_field_without_a_rule_is_forgotten_too() -> None:
    one = AnyOf(conditions=[FieldCheck(field_name="gene"), FieldCheck(field_name="amount")])
    data = set_rule(form(GENE, AMOUNT, verify_strategy=one), 0, None)
    assert list(spec(data).verify_strategy.field_names()) == ["amount"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "truth", "after", "rule"),
    [("int", "23", 23, "NumericExact"), ("float", "0.74", 0.74, "NumericTolerance"),
     ("bool", "yes", True, "BooleanMatch"), ("list_str", "CLL, SLL and AML", ["CLL", "SLL", "AML"], "SetContainment"),
     ("literal", "III", "III", "LiteralMatch"), ("date", "2016-04-11", "2016-04-11", "DateMatch"),
     ("int", "many", "many", "NumericExact")],
)  # fmt: skip
def test_a_type_brings_the_truth_along_and_the_natural_rule(kind: str, truth: str, after: Any, rule: str) -> None:
    [item] = set_type(form(exact(*LOWER, truth=truth)), 0, kind)["fields"]
    assert (item["ground_truth"], item["verify_with"]["type"]) == (after, rule)
    assert type(item["ground_truth"]) is type(after)


def test_normalisers_go_along_to_another_rule() -> None:
    data = set_rule(form(exact("casefold")), 0, "ContainsAny")
    assert data["fields"][0]["verify_with"] == {
        "type": "ContainsAny",
        "substrings": ["BCL2"],
        "normalize": ["casefold"],
    }


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_primitive_can_be_chosen_and_begins_with_something(name: str) -> None:
    data = set_rule(form(GENE), 0, name)
    assert set(data["fields"][0]["verify_with"]) == {"type", *REGISTRY[name].model_fields}
    assert write_form(write_template(spec(form(GENE))), data).source


def test_the_type_follows_a_rule_that_fits_no_other() -> None:
    data = set_rule(form(GENE), 0, "DateMatch")
    assert data["fields"][0]["type"] == "date"
    assert set_rule(data, 0, "ExactMatch")["fields"][0]["type"] == "str"
    trace = set_rule(data, 0, "TraceRegex")["fields"][0]
    assert (trace["type"], trace["ground_truth"]) == ("bool", True)


def test_all_fields_of_all_is_what_goes_without_saying() -> None:
    data = set_composition(form(GENE, AMOUNT), "at_least_n", ["gene", "amount"], 5)
    assert composition_of(data) == ("at_least_n", ("gene", "amount"), 2)
    assert set_composition(data, "all_of", [], 1)["verify_strategy"] is None
    assert spec(set_composition(data, "all_of", ["gene"])).verify_strategy == AllOf(
        conditions=[FieldCheck(field_name="gene")]
    )


@st.composite
def edits(draw: st.DrawFn, data: FormData) -> FormData:
    """Draw something that a person does to a form."""
    place = draw(st.integers(0, len(data["fields"]) - 1))
    act = draw(st.sampled_from(["add", "remove", "move", "name", "describe", "truth", "type", "rule", "compose"]))
    if act == "remove" and len(data["fields"]) > 1:
        return remove_field(data, place)
    if act == "move":
        return move_field(data, place, draw(st.integers(0, len(data["fields"]) - 1)))
    if act == "name":
        return set_name(data, place, draw(st.sampled_from(["gene", "a name", "verify", "dose", ""])))
    if act == "describe":
        return set_value(data, place, "description", draw(st.sampled_from(["", "What is said", "ß\n'\"\\"])))
    if act == "truth":
        return set_value(data, place, "ground_truth", draw(st.none() | st.text(max_size=5) | st.integers()))
    if act == "type" and data["fields"][place]["type"] != "other":
        return set_type(data, place, draw(st.sampled_from(TYPES)))
    if act == "rule":
        return set_rule(data, place, draw(st.sampled_from([*REGISTRY, None])))
    if act == "compose":
        now = composition_of(data)
        return set_composition(data, draw(st.sampled_from(["all_of", "any_of", "at_least_n"])), now.fields, 2)
    return add_field(data)


@given(specs(), st.data())
def test_whatever_is_done_the_source_stays_readable_and_says_what_the_form_holds(
    before: TemplateSpec, drawn: st.DataObject
) -> None:
    source, data = write_template(before), form_data(before)
    for _ in range(drawn.draw(st.integers(1, 5))):
        data = drawn.draw(edits(data))
        written = write_form(source, data)
        if written.problem is None:
            assert form_of(written.source).spec == spec(data)
        else:
            assert written.source == source
        source = written.source
    assert read_template(source)


ONE = {"type": "field_check", "field_name": "gene"}


def composed(strategy: Any) -> FormData:
    data = form_data(TemplateSpec(fields=[exact(*LOWER)]))
    data["fields"][0]["name"] = "gene"
    return {**data, "verify_strategy": strategy}


def nested(depth: int) -> Any:
    condition: Any = ONE
    for _ in range(depth):
        condition = {"type": "all_of", "conditions": [condition]}
    return condition


UNUSABLE = [
    {"type": "at_least_n", "n": "x", "conditions": [ONE]}, {"type": "field_check"}, {"type": "all_of", "conditions": 5},
    {"type": "all_of", "conditions": [5]}, {"type": "none_of", "conditions": [ONE]}, {"conditions": [ONE]},
    "all of them", nested(101), nested(5_000),
]  # fmt: skip
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
        edit(composed(strategy))
    assert caught.value.why and caught.value.next


@pytest.mark.parametrize("strategy", UNUSABLE)
def test_what_is_no_composition_can_be_replaced(strategy: Any) -> None:
    changed = set_composition(composed(strategy), "any_of", ["gene"])
    assert composition_of(changed) == Composition("any_of", ("gene",))


@pytest.mark.parametrize("strategy", UNUSABLE)
def test_what_is_no_composition_is_named_and_leaves_the_source(strategy: Any) -> None:
    written = write_form("", composed(strategy))
    assert written.source == "" and written.problem
    assert any(finding.severity == "error" for finding in lint_form(composed(strategy)))


def test_a_composition_as_deep_as_a_source_holds_is_read() -> None:
    assert composition_of(composed(nested(100))) == Composition("nested", ("gene",))
