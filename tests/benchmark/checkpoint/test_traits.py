"""The nine kinds of ratings, there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark.checkpoint.nodes import Repairs
from karenina_core.benchmark.checkpoint.traits import read_rating, write_rating
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, RubricTrait, StoredTrait
from tests.benchmark.samples import prop, rating

SCHEMA = {"type": "template", "schema": {"title": "Refs", "properties": {"n_refs": {"type": "integer"}}}}
NINE: dict[str, dict[str, Any]] = {
    "boolean": rating("GlobalRubricTrait", prop("higher_is_better", True)),
    "score": rating(
        "GlobalRubricTrait", prop("kind", "score"), prop("min_score", 1), prop("max_score", 5), best=5, worst=1
    ),
    "literal": rating(
        "GlobalLLMRubricTrait", prop("kind", "literal"), prop("classes", {"lay": "plain", "expert": "jargon"})
    ),
    "template": rating("GlobalLLMRubricTrait", prop("kind", SCHEMA), prop("higher_is_better", None), best=0),
    "regex": rating("GlobalRegexTrait", prop("pattern", r"\bmaybe\b"), prop("invert_result", True)),
    "callable": rating("GlobalCallableTrait", prop("callable_code", "gASVBAAA"), prop("kind", "boolean")),
    "metric": rating(
        "GlobalMetricRubricTrait",
        prop("metrics", ["precision", "accuracy"]),
        prop("evaluation_mode", "full_matrix"),
        prop("tp_instructions", ["liver"]),
        prop("tn_instructions", ["scalp"]),
    ),
    "agentic": rating("GlobalAgenticRubricTrait", prop("kind", "boolean"), prop("max_turns", 8)),
    "dynamic": rating("GlobalDynamicRubricTrait", prop("dynamic_trait_type", "llm"), prop("summary", "dosing")),
}


def read(node: dict[str, Any], place: str = "Global") -> AnyTrait:
    return read_with_repairs(node, place)[0]


def read_with_repairs(node: dict[str, Any], place: str = "Global") -> tuple[AnyTrait, str]:
    repairs = Repairs()
    _, trait = read_rating(node, place, "rubric", repairs)
    return trait, "\n".join(map(str, repairs.to_list()))


def values_of(node: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item["value"] for item in node["additionalProperty"]}


@pytest.mark.parametrize("kind", NINE)
def test_every_kind_is_read_without_repair_and_written_back(kind: str) -> None:
    trait, repairs = read_with_repairs(NINE[kind])
    assert repairs == ""
    written = write_rating(trait, "Global", NINE[kind])
    assert read(written) == trait
    assert {**values_of(NINE[kind])}.items() <= values_of(written).items()


@pytest.mark.parametrize("kind", ["template", "callable", "agentic", "dynamic"])
def test_kinds_that_are_not_evaluated_are_kept_to_the_letter(kind: str) -> None:
    trait = read(NINE[kind])
    assert isinstance(trait, StoredTrait)
    assert (trait.kind, trait.problem) == (kind, None)
    assert write_rating(trait, "Global", NINE[kind]) == NINE[kind]


def test_a_binary_trait_is_written_as_boolean() -> None:
    node = write_rating(RubricTrait(name="T", kind="binary"), "Global")
    assert (node["bestRating"], node["worstRating"]) == (1, 0)
    assert node["additionalType"] == "karenina:GlobalRubricTrait"
    assert values_of(node)["kind"] == "boolean"


def test_score_bounds_fall_back_to_worst_and_best_rating() -> None:
    trait = read(rating("GlobalRubricTrait", best=10, worst=0))
    assert (trait.kind, trait.min_score, trait.max_score) == ("score", 0, 10)


def test_a_stated_kind_wins_over_the_bounds() -> None:
    node = rating(
        "GlobalRubricTrait", prop("kind", "score"), prop("min_score", 0), prop("max_score", 1), best=1, worst=0
    )
    assert read(node).kind == "score"


def test_classes_may_be_json_text_and_keep_their_order() -> None:
    node = rating("GlobalLLMRubricTrait", prop("kind", "literal"), prop("classes", '{"z": "1", "a": "2"}'))
    trait = read(node)
    assert list(trait.classes) == ["z", "a"]
    assert values_of(write_rating(trait, "Global", node))["classes"] == '{"z": "1", "a": "2"}'


def test_expected_mistakes_are_written_as_properties() -> None:
    trait = MetricRubricTrait(
        name="T", metrics=["f1"], tp_instructions=["a"], fp_instructions=["b"], fn_instructions=["c"]
    )
    node = write_rating(trait, "QuestionSpecific")
    assert (values_of(node)["fp_instructions"], values_of(node)["fn_instructions"]) == (["b"], ["c"])
    assert read(node, "QuestionSpecific") == trait


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (rating("GlobalRegexTrait"), "no pattern"),
        (rating("GlobalRegexTrait", prop("pattern", "")), "no pattern"),
        (rating("GlobalRegexTrait", prop("pattern", "(")), "not valid"),
        (rating("GlobalRubricTrait", prop("kind", "score"), best=1.5, worst=0), "not a whole number"),
        (rating("GlobalRubricTrait", best=1, worst=5), "must be below"),
        (rating("GlobalRubricTrait", prop("kind", "stars")), "Input should be"),
        (rating("GlobalLLMRubricTrait", prop("kind", "literal"), prop("classes", {"one": "1"})), "2 to 20 classes"),
        (rating("GlobalMetricRubricTrait", prop("tp_instructions", ["a"])), "must not be empty"),
        (rating("GlobalMetricRubricTrait", prop("evaluation_mode", "tn_only")), "'tn_only' is not supported"),
        (rating("GlobalMetricRubricTrait", prop("evaluation_mode", ["odd"])), "not supported"),
        (rating("GlobalFancyTrait"), "is not known"),
    ],
)
def test_an_unusable_trait_is_kept_with_its_problem(node: dict[str, Any], problem: str) -> None:
    trait, repairs = read_with_repairs(node)
    assert isinstance(trait, StoredTrait)
    assert problem in trait.problem
    assert "the trait cannot be evaluated" in repairs
    assert values_of(write_rating(trait, "Global", node)) == values_of(node)


def test_a_type_without_prefix_gets_one() -> None:
    node = {**NINE["regex"], "additionalType": "GlobalRegexTrait"}
    trait, repairs = read_with_repairs(node)
    assert isinstance(trait, ManualRubricTrait)
    assert "prefix added" in repairs
    assert write_rating(trait, "Global", node)["additionalType"] == "karenina:GlobalRegexTrait"


def test_the_older_name_of_regex_traits_is_read() -> None:
    trait, repairs = read_with_repairs(rating("GlobalManualRubricTrait", prop("pattern", "x"), prop("invert", True)))
    assert isinstance(trait, ManualRubricTrait)
    assert trait.invert
    assert "older name" in repairs
    assert "read as 'invert_result'" in repairs


@pytest.mark.parametrize(
    ("properties", "kind"),
    [
        ([prop("pattern", "x")], "regex"),
        ([prop("metrics", ["f1"]), prop("tp_instructions", ["a"])], "metric"),
        ([prop("callable_code", "x")], "stored"),
        ([], "llm"),
    ],
)
def test_a_rating_without_type_is_recognised_by_its_properties(properties: list[Any], kind: str) -> None:
    node = rating("", *properties)
    del node["additionalType"]
    trait, repairs = read_with_repairs(node)
    assert trait.type == kind
    assert "no additionalType" in repairs


@pytest.mark.parametrize(("name", "read_as"), [(None, "Unnamed trait"), ("a\nb", "a b"), ("x" * 300, "x" * 255)])
def test_an_unusable_name_is_replaced(name: str | None, read_as: str) -> None:
    trait, repairs = read_with_repairs(rating("GlobalRubricTrait", name=name))  # type: ignore[arg-type]
    assert trait.name == read_as
    assert "it got another one" in repairs


def test_what_a_rating_holds_beyond_its_trait_survives_a_change() -> None:
    node = {
        **rating("GlobalRubricTrait", prop("deep_judgment_enabled", True), prop("higher_is_better", True, note="x")),
        "@id": "urn:rating",
        "ratingExplanation": "why",
    }
    changed = read(node).model_copy(update={"description": "Another"})
    written = write_rating(changed, "Global", node)
    assert written["description"] == "Another"
    assert (written["@id"], written["ratingExplanation"]) == ("urn:rating", "why")
    assert prop("higher_is_better", True, note="x") in written["additionalProperty"]
    assert values_of(written)["deep_judgment_enabled"] is True


def test_a_trait_of_another_kind_does_not_inherit_the_old_properties() -> None:
    written = write_rating(ManualRubricTrait(name="T", pattern="x"), "Global", NINE["score"])
    assert "min_score" not in values_of(written)


def test_a_kept_trait_follows_its_rubric() -> None:
    moved = write_rating(read(NINE["callable"]), "QuestionSpecific")
    assert moved["additionalType"] == "karenina:QuestionSpecificCallableTrait"


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20).filter(
    str.strip
)
TEXTS = st.none() | st.text(st.characters(codec="utf-8"), max_size=20)
LISTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=10), max_size=3)
DIRECTION = st.none() | st.booleans()
TRAITS = st.one_of(
    st.builds(
        RubricTrait,
        name=NAMES,
        description=TEXTS,
        summary=TEXTS,
        kind=st.sampled_from(["score", "binary"]),
        min_score=st.integers(-5, 1),
        max_score=st.integers(2, 100),
        higher_is_better=DIRECTION,
    ),
    st.builds(
        RubricTrait,
        name=NAMES,
        description=TEXTS,
        kind=st.just("literal"),
        classes=st.dictionaries(NAMES, st.text(st.characters(codec="utf-8")), min_size=2, max_size=5),
    ),
    st.builds(
        ManualRubricTrait,
        name=NAMES,
        description=TEXTS,
        summary=TEXTS,
        pattern=st.sampled_from(["x", r"\bBH3\b", "[a-z]+", "{}", "[1]"]),
        case_sensitive=st.booleans(),
        invert=st.booleans(),
        higher_is_better=DIRECTION,
    ),
    st.builds(
        MetricRubricTrait,
        name=NAMES,
        description=TEXTS,
        metrics=st.just(["precision", "f1"]),
        tp_instructions=LISTS.filter(bool),
        fp_instructions=LISTS,
        tn_instructions=LISTS,
        fn_instructions=LISTS,
        repeated_extraction=st.booleans(),
        higher_is_better=DIRECTION,
    ),
)


@given(TRAITS, st.sampled_from(["Global", "QuestionSpecific"]))
def test_every_trait_survives_a_file(trait: AnyTrait, scope: str) -> None:
    node = write_rating(trait, scope)
    assert read_with_repairs(node, scope) == (trait, "")
    assert write_rating(trait, scope, node) == node
