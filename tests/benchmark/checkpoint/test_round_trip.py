"""Nothing is lost between loading and saving, also of files damaged at random."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import read_document
from karenina_core.benchmark.checkpoint.nodes import CONTEXT
from karenina_core.errors import CheckpointError
from karenina_core.schemas import Rubric, StoredTrait
from tests.benchmark.checkpoint.test_traits import NAMES, NINE, TEXTS, TRAITS
from tests.benchmark.samples import BH3, FILES, document, item, load, prop, rating, small_benchmark

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda values: st.lists(values, max_size=2) | st.dictionaries(NAMES, values, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=3)


def rubrics(scope: str) -> st.SearchStrategy[Rubric]:
    node = {**NINE["callable"], "additionalType": f"karenina:{scope}CallableTrait"}
    kept = StoredTrait(name="T", description="Something", kind="callable", rating=node)
    traits = st.lists(TRAITS | st.just(kept), max_size=3, unique_by=lambda trait: trait.name)
    return st.builds(Rubric, name=st.none() | TEXT, description=TEXTS, traits=traits)


QUESTIONS = st.fixed_dictionaries(
    {"question": TEXT, "raw_answer": TEXT, "finished": st.booleans()},
    optional={
        "keywords": st.lists(TEXT, max_size=3),
        "author": OBJECTS,
        "sources": st.lists(OBJECTS, max_size=2),
        "custom_metadata": OBJECTS,
        "few_shot_examples": st.lists(st.fixed_dictionaries({"question": TEXT, "answer": TEXT}), max_size=2),
        "answer_notes": TEXT,
        "workspace_path": st.sampled_from(["task_01", "unit/task_01"]),
        "rubric": rubrics("QuestionSpecific"),
    },
)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    benchmark = Benchmark.create(draw(TEXT), draw(TEXT), draw(TEXT), draw(TEXT | OBJECTS))
    for question in draw(st.lists(QUESTIONS, max_size=4)):
        benchmark.add_question(question)
    if draw(st.booleans()):
        benchmark.set_global_rubric(draw(rubrics("Global")))
    for name, value in draw(OBJECTS).items():
        benchmark.set_custom_property(f"x-{name}", value)
    return benchmark


def content(benchmark: Benchmark) -> tuple[Any, ...]:
    """Everything a benchmark says through its methods."""
    return (
        benchmark.name,
        benchmark.description,
        benchmark.version,
        benchmark.creator,
        benchmark.created_at,
        benchmark.get_global_rubric(),
        benchmark.get_all_custom_properties(),
        [
            (benchmark.get_question_metadata(question_id), benchmark.get_question_rubric(question_id))
            for question_id in benchmark.get_question_ids()
        ],
    )


@settings(max_examples=60, deadline=None)
@given(benchmarks())
def test_what_is_saved_is_loaded(benchmark: Benchmark) -> None:
    again = Benchmark.from_json(benchmark.to_json())
    assert content(again) == content(benchmark)
    assert again.repairs == []
    assert again == benchmark
    assert again.to_json() == benchmark.to_json()


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of the format, from the root to the properties."""
    yield value
    for element in value["dataFeedElement"]:
        question = element["item"]
        yield from (element, question, question["acceptedAnswer"], question["hasPart"])
        for holder in (question, *question.get("rating", ())):
            yield from (holder, *holder.get("additionalProperty", ()))
    for holder in (value, *value.get("rating", ())):
        yield from (holder, *holder.get("additionalProperty", ()))


@settings(max_examples=30, deadline=None)
@given(benchmarks(), VALUES)
def test_unknown_keys_survive_at_every_level(benchmark: Benchmark, value: Any) -> None:
    written = benchmark.to_dict()
    for number, node in enumerate(nodes(written)):
        node["x-unknown"] = [number, value]
    assert load(written).to_dict() == written


@settings(max_examples=30, deadline=None)
@given(benchmarks())
def test_unknown_keys_survive_a_change(benchmark: Benchmark) -> None:
    written = benchmark.to_dict()
    for number, node in enumerate(nodes(written)):
        node["x-unknown"] = number
    loaded = load(written)
    for question in loaded:
        loaded.update_question(question.id, answer_notes="changed", finished=not question.finished)
    changed = loaded.to_dict()
    kept = {node["x-unknown"] for node in nodes(changed) if "x-unknown" in node}
    assert kept == {node["x-unknown"] for node in nodes(written)}


@pytest.mark.parametrize("kind", NINE)
def test_each_kind_of_rating_survives_in_both_places(kind: str) -> None:
    own = {**NINE[kind], "additionalType": NINE[kind]["additionalType"].replace("Global", "QuestionSpecific")}
    written = document(item(rating=[own]), rating=[NINE[kind]])
    benchmark = load(written)
    assert benchmark.repairs == []
    (question,) = benchmark
    assert benchmark.get_question_rubric(question.id).traits == benchmark.get_global_rubric().traits or kind in (
        "template",
        "callable",
        "agentic",
        "dynamic",
    )
    assert benchmark.to_dict()["dataFeedElement"] == written["dataFeedElement"]
    assert load(benchmark.to_dict()) == benchmark


def test_reading_rubrics_twice_changes_nothing() -> None:
    benchmark = load(document(rating=[NINE["dynamic"]]))
    before = benchmark.to_json()
    assert benchmark.get_global_rubric() == benchmark.get_global_rubric()
    assert benchmark.to_json() == before


def test_the_context_is_written_exactly() -> None:
    written = load(document(item(), **{"@context": "https://schema.org"})).to_dict()
    assert written["@context"] == CONTEXT
    assert CONTEXT == {
        "@version": 1.1,
        "@vocab": "https://schema.org/",
        "karenina": "urn:karenina:vocab:",
        "dataFeedElement": {"@id": "dataFeedElement", "@container": "@set"},
        "item": {"@id": "item", "@type": "@id"},
        "acceptedAnswer": {"@id": "acceptedAnswer", "@type": "@id"},
        "rating": {"@id": "contentRating", "@container": "@set"},
        "additionalProperty": {"@id": "additionalProperty", "@container": "@set"},
        "hasPart": {"@id": "hasPart", "@container": "@set"},
        "keywords": {"@id": "keywords", "@container": "@set"},
    }


def test_a_new_question_has_every_part_other_programs_need() -> None:
    written = small_benchmark().to_dict()
    assert prop("benchmark_format_version", "3.0.0-jsonld") in written["additionalProperty"]
    lungs = written["dataFeedElement"][1]
    assert (lungs["@type"], lungs["@id"]) == ("DataFeedItem", "lungs")
    assert lungs["item"]["hasPart"] == {
        "@type": "SoftwareSourceCode",
        "name": "How many lungs?... Answer Template",
        "text": "",
        "programmingLanguage": "Python",
    }
    assert prop("author", '{"name":"Ben"}') in lungs["item"]["additionalProperty"]


def test_ids_of_a_file_are_kept() -> None:
    node = item()
    node["item"]["@id"] = "urn:question"
    node["item"]["acceptedAnswer"]["@id"] = "urn:answer"
    node["item"]["hasPart"]["@id"] = "urn:template"
    node["item"]["rating"] = [{**rating("QuestionSpecificRubricTrait"), "@id": "urn:rating"}]
    benchmark = load(document(node))
    benchmark.update_question(node["@id"], raw_answer="two")
    text = json.dumps(benchmark.to_dict())
    assert all(
        f'"{name}"' in text for name in ("urn:question", "urn:answer", "urn:template", "urn:rating", node["@id"])
    )


def test_the_workspace_root_is_never_written(tmp_path: Any) -> None:
    benchmark = small_benchmark()
    benchmark.set_workspace_root(tmp_path)
    assert str(tmp_path) not in benchmark.to_json()


def test_deep_judgment_settings_are_left_out_on_request(tmp_path: Any) -> None:
    own = rating("QuestionSpecificRubricTrait", prop("deep_judgment_enabled", True), prop("higher_is_better", True))
    benchmark = load(document(item(rating=[{**own, "deep_judgment_max_excerpts": 3}])))
    path = benchmark.save(tmp_path / "quiet", save_deep_judgment_config=False)
    assert "deep_judgment" not in path.read_text()
    assert "deep_judgment_enabled" in benchmark.to_json()


PRESENT = document(
    item(
        keywords=["a"],
        rating=[rating("QuestionSpecificRegexTrait", prop("pattern", "x"))],
        additionalProperty=[prop("finished", True), prop("author", {"name": "A"}), prop("sources", [{"name": "B"}])],
    ),
    item("Another?"),
    rating=list(NINE.values()),
    additionalProperty=[prop("global_rubric_traits", [{"name": "L"}]), prop("checkpoint_format_version", "3")],
)
ALL = [PRESENT, *(json.loads(path.read_text()) for path in sorted(FILES.glob("d*.json")))]
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "x", "[1]", "{}", "\n"])
)
JUNK = (
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["name", "text", "item", "x"]), SCALARS)
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a document with every key or index in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    content = copy.deepcopy(draw(st.sampled_from(ALL)))
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(list(places(content))))
        if isinstance(container, dict) and key in container and draw(st.booleans()):
            del container[key]
        elif isinstance(container, dict) or key < len(container):
            container[key] = draw(JUNK)
    return content


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_a_damaged_file_is_read_or_refused(content: Any) -> None:
    before = copy.deepcopy(content)
    try:
        read_document(content)
        benchmark = Benchmark.from_json(json.dumps(content))
    except CheckpointError as error:
        assert error.code == "not_a_benchmark"
        return
    assert content == before
    saved = benchmark.to_json()
    again = Benchmark.from_json(saved)
    assert again.to_json() == saved
    assert [question.id for question in again] == [question.id for question in benchmark]
    benchmark.check()
    benchmark.to_csv()
    benchmark.to_markdown()


@settings(max_examples=50, deadline=None)
@given(damaged())
def test_a_damaged_benchmark_can_still_be_worked_on(content: Any) -> None:
    try:
        benchmark = Benchmark.from_json(json.dumps(content))
    except CheckpointError:
        return
    benchmark.add_questions(list(small_benchmark()))
    for question_id in benchmark.get_question_ids():
        benchmark.toggle_finished(question_id)
        benchmark.set_question_rubric(question_id, {"traits": [BH3.model_dump()]})
    assert Benchmark.from_json(benchmark.to_json()) == benchmark
