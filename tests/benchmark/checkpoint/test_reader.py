"""What the reader does with files that are not quite right."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import CheckpointError
from tests.benchmark.samples import document, item, load, prop, rating, repairs_of


def only(benchmark: Benchmark) -> Any:
    (question,) = benchmark
    return question


def question_with(*properties: dict[str, Any], **extras: Any) -> dict[str, Any]:
    return item(additionalProperty=[prop("finished", True), *properties], **extras)


@pytest.mark.parametrize("content", [[], "text", 3, {}, {"results": []}, {"dataFeedElement": "none"}])
def test_other_json_is_no_benchmark(content: Any) -> None:
    with pytest.raises(CheckpointError, match="not a benchmark") as caught:
        load(content)
    assert caught.value.code == "not_a_benchmark"


def test_too_many_questions_are_refused() -> None:
    with pytest.raises(CheckpointError, match="20,001 questions") as caught:
        load(document(*[{}] * 20_001))
    assert caught.value.code == "too_many_questions"


def test_elements_that_hold_no_question_are_left_out_and_reported() -> None:
    benchmark = load(document(item(), {"@type": "DataFeedItem"}, "text"))
    assert len(benchmark) == 1
    assert "the file: an element holds no question; left out." in repairs_of(benchmark)
    assert benchmark.repairs[-1].count == 2


@pytest.mark.parametrize(
    ("root", "attribute", "value"),
    [
        ({"version": 2}, "version", "2"),
        ({"name": None}, "name", "Unnamed benchmark"),
        ({"description": 7}, "description", "7"),
        ({"creator": ["a"]}, "creator", "Karenina Benchmarking System"),
        ({"dateCreated": None}, "created_at", "2026-01-05T09:00:00"),
    ],
)
def test_odd_headers_are_repaired_and_reported(root: dict[str, Any], attribute: str, value: Any) -> None:
    benchmark = load(document(item(), **root))
    assert getattr(benchmark, attribute) == value
    assert len(benchmark.repairs) == 1


def test_a_person_as_creator_is_kept() -> None:
    person = {"@type": "Person", "name": "Ada", "email": "ada@example.org"}
    assert load(document(creator=person)).creator == person


def test_a_missing_finished_flag_means_unfinished() -> None:
    benchmark = load(document(item(additionalProperty=[])))
    assert not only(benchmark).finished
    assert "there is no 'finished' flag; read as unfinished" in repairs_of(benchmark)[0]


@pytest.mark.parametrize(
    ("value", "finished"), [("true", True), (1, True), ("no", False), ("perhaps", False), (None, False)]
)
def test_an_odd_finished_flag_is_read_and_reported(value: Any, finished: bool) -> None:
    benchmark = load(document(item(additionalProperty=[prop("finished", value)])))
    assert only(benchmark).finished is finished
    assert benchmark.repairs


@pytest.mark.parametrize(
    ("value", "author"),
    [('{"name": "Ada"}', {"name": "Ada"}), ({"name": "Ada"}, {"name": "Ada"}), ("Ada", {"name": "Ada"})],
)
def test_the_author_may_be_json_text_an_object_or_a_name(value: Any, author: dict[str, str]) -> None:
    assert only(load(document(question_with(prop("author", value))))).author == author


@pytest.mark.parametrize(
    ("value", "sources"),
    [
        ('[{"name": "Atlas"}]', [{"name": "Atlas"}]),
        ([{"name": "Atlas"}], [{"name": "Atlas"}]),
        ({"name": "Atlas"}, [{"name": "Atlas"}]),
        (["https://example.org", "Atlas"], [{"url": "https://example.org"}, {"name": "Atlas"}]),
    ],
)
def test_sources_may_have_any_sensible_form(value: Any, sources: list[dict[str, str]]) -> None:
    assert only(load(document(question_with(prop("sources", value))))).sources == sources


def test_examples_without_question_and_answer_are_not_used() -> None:
    value = [{"question": "q", "answer": "a", "note": "n"}, {"question": "q"}]
    benchmark = load(document(question_with(prop("few_shot_examples", value))))
    assert [example.answer for example in only(benchmark).few_shot_examples] == ["a"]
    assert "1 without question and answer are not used" in repairs_of(benchmark)[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("author", 3), ("sources", 3), ("few_shot_examples", "x"), ("answer_notes", ["x"]), ("workspace_path", 1)],
)
def test_unreadable_properties_are_kept_even_when_the_question_changes(name: str, value: Any) -> None:
    benchmark = load(document(question_with(prop(name, value))))
    benchmark.mark_unfinished(only(benchmark).id)
    saved = benchmark.to_dict()["dataFeedElement"][0]["item"]["additionalProperty"]
    assert prop(name, value) in saved
    assert f"the property {name!r} cannot be read" in repairs_of(benchmark)[0]


def test_only_the_leading_custom_prefix_is_removed() -> None:
    benchmark = load(document(question_with(prop("custom_my_custom_field", 1), prop("custom_empty", None))))
    assert only(benchmark).custom_metadata == {"my_custom_field": 1, "empty": None}


def test_of_a_repeated_property_the_first_counts() -> None:
    benchmark = load(document(question_with(prop("answer_notes", "one"), prop("answer_notes", "two"))))
    assert only(benchmark).answer_notes == "one"
    assert "'answer_notes' is given twice" in repairs_of(benchmark)[0]


def test_the_id_is_that_of_the_item_then_of_the_question_then_the_hash() -> None:
    second, third = item("Second?"), item("Third?")
    second["item"]["@id"] = "urn:question"
    del second["@id"], third["@id"]
    benchmark = load(document(item("First?"), second, third))
    assert benchmark.get_question_ids() == ["urn:uuid:First?", "urn:question", hashlib.md5(b"Third?").hexdigest()]
    assert [repair.where for repair in benchmark.repairs] == ["question urn:question", f"question {benchmark[2].id}"]


def test_repeated_ids_are_numbered() -> None:
    twin = {**item("Another?"), "@id": item()["@id"]}
    benchmark = load(document(item(), twin))
    assert benchmark.get_question_ids() == [item()["@id"], f"{item()['@id']}-1"]
    assert "another question has the same id" in repairs_of(benchmark)[0]


def test_a_question_is_found_by_the_hash_of_its_text() -> None:
    benchmark = load(document(item("First?")))
    assert benchmark[hashlib.md5(b"First?").hexdigest()].id == "urn:uuid:First?"


def test_keywords_as_one_text_are_split() -> None:
    assert only(load(document(item(keywords="a, b,")))).keywords == ["a", "b"]


def test_keywords_beside_the_question_move_into_it_when_saved() -> None:
    benchmark = load(document({**item(), "keywords": ["a"]}))
    saved = benchmark.to_dict()["dataFeedElement"][0]
    assert saved["item"]["keywords"] == ["a"]
    assert "keywords" not in saved


def test_a_question_without_text_or_answer_is_kept() -> None:
    node = item("")
    node["item"]["acceptedAnswer"] = {"@type": "Answer"}
    benchmark = load(document(node))
    assert (only(benchmark).question, only(benchmark).raw_answer) == ("", "")
    assert {"no_text", "no_answer"} <= {problem.code for problem in benchmark.check()}


@pytest.mark.parametrize(("answer", "text"), [("2", "2"), ([{"text": "2"}, {"text": "3"}], "2"), ({"text": 2}, "2")])
def test_odd_answers_are_read(answer: Any, text: str) -> None:
    benchmark = load(document(item(acceptedAnswer=answer)))
    assert only(benchmark).raw_answer == text
    assert benchmark.repairs


def test_a_template_may_stand_in_a_list() -> None:
    part = [
        {"@type": "Thing"},
        {"@type": "SoftwareSourceCode", "text": "class Answer: ...", "programmingLanguage": "python"},
    ]
    benchmark = load(document(item(hasPart=part)))
    assert only(benchmark).answer_template == "class Answer: ..."
    assert len(benchmark.repairs) == 2


def test_traits_of_one_name_are_told_apart_or_read_once() -> None:
    first, other = rating("GlobalRubricTrait"), rating("GlobalRubricTrait", best=5, worst=1)
    benchmark = load(document(rating=[first, other, first]))
    assert [trait.name for trait in benchmark.get_global_rubric().traits] == ["T", "T (2)"]
    assert len(benchmark.repairs) == 2
    assert [node["name"] for node in benchmark.to_dict()["rating"]] == ["T", "T (2)"]


def test_a_global_trait_that_only_a_question_holds_becomes_global() -> None:
    benchmark = load(document(item(rating=[rating("GlobalRubricTrait")])))
    assert benchmark.get_global_rubric().trait("T")
    assert benchmark.get_question_rubric(only(benchmark).id) is None
    assert "moved to the global rubric" in repairs_of(benchmark)[0]


def test_a_question_trait_among_the_global_ones_becomes_global() -> None:
    benchmark = load(document(rating=[rating("QuestionSpecificRubricTrait")]))
    assert benchmark.to_dict()["rating"][0]["additionalType"] == "karenina:GlobalRubricTrait"
    assert "read as global" in repairs_of(benchmark)[0]


def test_entries_of_rating_lists_that_are_no_objects_are_reported() -> None:
    benchmark = load(document(rating=["x", rating("GlobalRubricTrait")]))
    assert len(benchmark.get_global_rubric().traits) == 1
    assert "no object" in repairs_of(benchmark)[0]


@pytest.mark.parametrize(
    ("name", "trait", "kind"),
    [
        ("global_regex_rubric_traits", {"name": "R", "pattern": "x", "invert": True}, "regex"),
        ("global_manual_rubric_traits", {"name": "M", "callable_name": "f"}, "stored"),
        ("global_callable_rubric_traits", {"name": "C", "callable_code": "x"}, "stored"),
        ("global_metric_rubric_traits", {"name": "N", "metrics": ["f1"], "tp_instructions": ["a"]}, "metric"),
        ("global_rubric_traits", {"name": "L", "kind": "boolean"}, "llm"),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_older_places_of_global_traits_are_read(name: str, trait: dict[str, Any], kind: str, as_text: bool) -> None:
    import json

    benchmark = load(document(additionalProperty=[prop(name, json.dumps([trait]) if as_text else [trait])]))
    (found,) = benchmark.get_global_rubric().traits
    assert (found.name, found.type) == (trait["name"], kind)
    assert name not in {node["name"] for node in benchmark.to_dict()["additionalProperty"]}


def test_an_unreadable_older_place_is_kept() -> None:
    benchmark = load(document(additionalProperty=[prop("global_rubric_traits", "not json")]))
    assert benchmark.get_global_rubric() is None
    assert prop("global_rubric_traits", "not json") in benchmark.to_dict()["additionalProperty"]
    assert "kept as it is, not used" in repairs_of(benchmark)[0]


def test_the_same_repair_in_many_places_is_reported_once() -> None:
    benchmark = load(document(*[item(f"{number}?", additionalProperty=[]) for number in range(10)]))
    (repair,) = benchmark.repairs
    assert repair.count == 10
    assert repair.where == "question urn:uuid:0?; question urn:uuid:1?; question urn:uuid:2? and 7 more"


def test_a_property_without_a_name_is_kept_once() -> None:
    benchmark = load(document(item(), additionalProperty=[prop("", "x")]))
    again = Benchmark.from_json(benchmark.to_json())
    assert again.to_json() == benchmark.to_json()
