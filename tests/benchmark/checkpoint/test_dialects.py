"""Every form benchmark files ever had, each with its repairs; and files that other programs wrote."""

from __future__ import annotations

import copy
import json
from base64 import b64decode
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import read_document
from karenina_core.benchmark.checkpoint.questions import is_placeholder
from karenina_core.schemas import MetricRubricTrait, RubricTrait, StoredTrait
from tests.benchmark.checkpoint.upstream_rules import broken_rules
from tests.benchmark.samples import (
    FILES,
    LUNGS,
    TEMPLATE,
    document,
    item,
    load,
    prop,
    rating,
    repairs_of,
    small_benchmark,
)

ALL = sorted(path.name for path in FILES.glob("d*.json"))


def says(benchmark: Benchmark, *parts: str) -> bool:
    return any(all(part in repair for part in parts) for repair in repairs_of(benchmark))


def traits(benchmark: Benchmark, question_id: str | None = None) -> dict[str, object]:
    rubric = benchmark.get_question_rubric(question_id) if question_id else benchmark.get_global_rubric()
    return {trait.name: trait for trait in rubric.traits} if rubric else {}


@pytest.mark.parametrize("name", ALL)
def test_reading_changes_nothing_in_the_document(name: str) -> None:
    content = json.loads((FILES / name).read_text())
    before = copy.deepcopy(content)
    read_document(content)
    assert content == before


@pytest.mark.parametrize("name", ALL)
def test_once_saved_it_needs_no_conversion_and_stays_the_same(name: str) -> None:
    benchmark = Benchmark.load(FILES / name)
    saved = benchmark.to_json()
    again = Benchmark.from_json(saved)
    assert again == benchmark
    assert again.to_json() == saved
    assert not says(again, "converted")
    assert not says(again, "prefix")
    assert json.loads(saved)["@type"] == "DataFeed"


def test_the_first_editors_file() -> None:
    benchmark = Benchmark.load(FILES / "d0_gui_v2.json")
    assert (benchmark.name, benchmark.version) == ("Anatomy basics", "1.2.0")
    assert benchmark.creator == {"@type": "Person", "name": "Ada Example"}
    lungs, heart = benchmark
    assert (lungs.id, lungs.raw_answer, lungs.finished) == ("9b2c1f", "2", True)
    assert lungs.keywords == ["anatomy", "counting"]
    assert lungs.author == {"@type": "Person", "name": "Ben Example"}
    assert lungs.sources == [{"name": "Atlas", "url": "https://example.org/atlas"}]
    assert lungs.custom_metadata == {"difficulty": "easy"}
    assert lungs.few_shot_examples[0].answer == "1"
    assert "lungs: int" in lungs.answer_template
    assert (heart.finished, heart.answer_template) == (False, None)
    assert heart.date_created == "2025-05-04T08:00:00Z"


def test_the_first_editors_rubrics() -> None:
    benchmark = Benchmark.load(FILES / "d0_gui_v2.json")
    found = traits(benchmark)
    assert (found["Clarity"].min_score, found["Clarity"].max_score) == (1, 10)
    assert found["Polite"].is_binary
    assert (found["No hedging"].invert, found["No hedging"].case_sensitive) == (True, False)
    assert found["Own check"].kind == "callable"
    assert benchmark.get_global_rubric().name == "House rules"
    assert list(traits(benchmark, "9b2c1f")) == ["Brief", "Has digit"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("d0_gui_v2.json", ("the file", "version 2", "converted")),
        ("d0_gui_v2.json", ("global rubric", "plain object", "turned into ratings")),
        ("d0_gui_v2.json", ("question 9b2c1f", "'tags'", "read as keywords")),
        ("d0_gui_v2.json", ("trait No hedging", "'invert'", "'invert_result'")),
        ("d1_dataset_with_authors.json", ("'hasPart' of a Dataset", "converted")),
        ("d1_dataset_with_authors.json", ("@context", "replaced")),
        ("d1_dataset_with_authors.json", ("trait Depth", "no additionalType", "QuestionSpecific llm")),
        ("d1_dataset_with_authors.json", ("trait Accuracy", "no additionalType", "Global llm")),
        ("d1_dataset_with_authors.json", ("trait Accuracy", "question repeats", "read once")),
        ("d1_dataset_with_authors.json", ("'global_rubric_traits'", "turned into ratings")),
        ("d1_dataset_with_authors.json", ("'question_manual_rubric_traits'", "turned into ratings")),
        ("d1_dataset_with_authors.json", ("no dateCreated", "the file's date")),
        ("d3_autumn.json", ("the version is 2", "'2'")),
        ("d3_autumn.json", ("beside the question", "read from there")),
        ("d3_autumn.json", ("'tp_and_tn'", "'full_matrix'")),
        ("d3_autumn.json", ("'tn_only' is not supported", "kept as it is")),
        ("d3_autumn.json", ("repeated mentions", "every mention counts")),
        ("d3_autumn.json", ("'ManualRubricTrait'", "read as a regex trait")),
        ("d3_autumn.json", ("trait Cited", "it has no pattern")),
        ("d5_elements.json", ("question q001", "the element is the question itself")),
        ("d5_elements.json", ("'finished'", "read as unfinished")),
        ("d5_elements.json", ("dateCreated or dateModified is missing",)),
        ("d5_elements.json", ("question q002, trait grounded", "neither kind nor bounds", "from 1 to 5")),
    ],
)
def test_a_repair_says_where_and_what(name: str, parts: tuple[str, ...]) -> None:
    assert says(Benchmark.load(FILES / name), *parts)


def test_the_first_editors_unknown_keys_are_kept() -> None:
    saved = Benchmark.load(FILES / "d0_gui_v2.json").to_dict()
    assert (saved["exportedBy"], saved["license"]) == ("editor 0.3", "CC-BY-4.0")
    lungs = saved["dataFeedElement"][0]["item"]
    assert lungs["reviewState"] == "approved"
    assert "original_answer_template" in {node["name"] for node in lungs["additionalProperty"]}


def test_a_listing_of_questions_with_templates_apart() -> None:
    benchmark = load(
        {
            "version": "2.0",
            "questions": [{"id": "q1", "question": "Capital?", "category": "Geo", "isFinished": True, "rubric": None}],
            "templates": {"q1": {"template": "class Answer(BaseAnswer): ..."}},
            "globalRubric": {"traits": [{"name": "Clarity", "scale": [1, 2, 3]}]},
        }
    )
    assert (benchmark["q1"].finished, benchmark["q1"].raw_answer) == (True, "")
    assert benchmark["q1"].answer_template == "class Answer(BaseAnswer): ..."
    assert traits(benchmark)["Clarity"].max_score == 3
    assert benchmark.to_dict()["dataFeedElement"][0]["item"]["category"] == "Geo"
    assert says(benchmark, "question q1", "no reference answer")


def test_the_dataset_whose_ratings_name_their_rubric() -> None:
    benchmark = Benchmark.load(FILES / "d1_dataset_with_authors.json")
    (question,) = benchmark
    assert (question.id, question.finished) == ("urn:uuid:a2dc831e", True)
    assert question.date_modified == "2025-07-02T10:00:00Z"
    assert list(traits(benchmark)) == ["Accuracy"]
    own = traits(benchmark, question.id)
    assert (own["Depth"].min_score, own["Depth"].max_score) == (0, 10)
    assert own["Mentions ice"].pattern == "ice"


def test_converted_carriers_are_gone_so_cleared_traits_stay_cleared() -> None:
    benchmark = Benchmark.load(FILES / "d1_dataset_with_authors.json")
    benchmark.clear_all_rubrics()
    again = Benchmark.from_json(benchmark.to_json())
    assert again.get_global_rubric() is None
    assert again.get_question_rubric("urn:uuid:a2dc831e") is None


def test_the_dataset_of_the_first_library() -> None:
    benchmark = Benchmark.load(FILES / "d2_dataset_from_python.json")
    (question,) = benchmark
    assert question.author == {"name": "Example Author", "email": "author@example.org"}
    assert question.custom_metadata == {"my_custom_field": "intermediate"}
    assert [trait.kind for trait in traits(benchmark).values()] == ["binary", "score"]
    assert list(traits(benchmark, question.id)) == ["code_examples"]
    assert says(benchmark, "prefix 'karenina:'", "prefix added")


def test_a_placeholder_counts_as_no_template_and_is_kept_in_the_file() -> None:
    benchmark = Benchmark.load(FILES / "d2_dataset_from_python.json")
    (question,) = benchmark
    assert not benchmark.has_template(question.id)
    assert says(benchmark, "placeholder", "read as no template")
    source = json.loads((FILES / "d2_dataset_from_python.json").read_text())["hasPart"][0]["item"]["hasPart"]["text"]
    assert benchmark.to_dict()["dataFeedElement"][0]["item"]["hasPart"]["text"] == source


def test_the_autumn_file() -> None:
    benchmark = Benchmark.load(FILES / "d3_autumn.json")
    (question,) = benchmark
    assert (benchmark.version, question.keywords) == ("2", ["lungs", "inflammation"])
    found = traits(benchmark)
    assert isinstance(found["Grounded"], RubricTrait)
    lists = found["Lists"]
    assert isinstance(lists, MetricRubricTrait)
    assert (lists.evaluation_mode, lists.tp_instructions) == ("full_matrix", ["asthma", "bronchitis"])
    assert lists.repeated_extraction is False
    assert isinstance(found["Negatives"], StoredTrait)
    assert found["No maybe"].invert
    assert isinstance(traits(benchmark, question.id)["Cited"], StoredTrait)


def test_deep_judgment_settings_on_a_rating_are_kept_or_left_out() -> None:
    benchmark = Benchmark.load(FILES / "d3_autumn.json")
    kept = benchmark.to_dict()["rating"][0]
    assert (kept["deep_judgment_enabled"], kept["deep_judgment_max_excerpts"]) == (True, 3)


def test_files_whose_elements_are_bare_questions() -> None:
    benchmark = Benchmark.load(FILES / "d5_elements.json")
    assert benchmark.get_question_ids() == ["q001", "q002"]
    assert benchmark["q001"].question == "What is the capital of France?"
    assert benchmark["q001"].raw_answer == "Paris"
    assert not benchmark["q001"].finished
    assert benchmark.created_at == benchmark.modified_at == "2026-01-13T00:00:00Z"
    assert [trait.type for trait in traits(benchmark).values()] == ["llm", "regex", "stored"]
    assert benchmark.get_global_rubric().name == "All kinds"
    assert traits(benchmark, "q002")["grounded"].kind == "score"
    assert benchmark.to_dict()["dataFeedElement"][0]["item"]["scenario"] == "template_simple"


def test_code_of_a_callable_survives_and_is_never_loaded() -> None:
    saved = Benchmark.load(FILES / "d5_elements.json").to_dict()
    (kept,) = (node for node in saved["rating"] if node["name"] == "ResponseLength")
    values = {node["name"]: node["value"] for node in kept["additionalProperty"]}
    # As text of its own it would keep other programs from reading the file.
    assert b64decode(values["callable_code"], validate=True) == b"def evaluate(trace):\n    return len(trace)"
    assert (kept["bestRating"], kept["worstRating"]) == (5, 1)


def test_a_rubric_object_beside_ordinary_items() -> None:
    benchmark = load(document(item(), globalRubric={"llm_traits": [{"name": "Clarity", "kind": "boolean"}]}))
    assert list(traits(benchmark)) == ["Clarity"]
    assert "globalRubric" not in benchmark.to_dict()


def test_scenarios_are_kept_beside_questions() -> None:
    scenarios = [{"@type": "Scenario", "name": "s"}]
    benchmark = load(document(item(), hasPart=scenarios))
    assert benchmark.to_dict()["hasPart"] == scenarios
    assert "Its scenarios are kept but not run." in [problem.what for problem in benchmark.check()]


def test_a_present_file_needs_no_repair() -> None:
    assert repairs_of(load(document(item()))) == []


PLACEHOLDER = '''class Answer(BaseAnswer):
    """Answer template for: Why?..."""

    response: str = Field(description="The answer response")

    def verify(self) -> bool:
        # A remark
        return False
'''


@pytest.mark.parametrize(
    "source", [PLACEHOLDER, PLACEHOLDER.replace("False", "True"), f"from pydantic import Field\n\n{PLACEHOLDER}"]
)
def test_templates_made_up_for_questions_without_one_are_recognised(source: str) -> None:
    assert is_placeholder(source)


@pytest.mark.parametrize(
    "source",
    [TEMPLATE, "", PLACEHOLDER.replace("return False", "return self.response == 'x'"), PLACEHOLDER + "x = 1\n"],
)
def test_templates_that_decide_something_are_not(source: str) -> None:
    assert not is_placeholder(source)


INTEROP_FOLDER = Path(__file__).parents[3] / "../shared/data/checkpoints"
INTEROP = sorted(INTEROP_FOLDER.glob("*.jsonld"))
needs_interop = pytest.mark.skipif(not INTEROP, reason="the interop files are not here")


@pytest.mark.parametrize("path", INTEROP, ids=lambda path: path.name)
def test_only_context_and_format_version_differ_after_saving(path: Path) -> None:
    before = json.loads(path.read_text())
    after = Benchmark.load(path).to_dict()
    for content in (before, after):
        del content["@context"]
        content.pop("additionalProperty", None)
    assert after == before


@needs_interop
def test_callables_without_code_are_kept() -> None:
    benchmark = Benchmark.load(INTEROP_FOLDER / "multi_question.jsonld")
    assert (len(benchmark), benchmark.finished_count, benchmark.repairs) == (5, 4, [])
    (trait,) = benchmark.get_global_rubric().traits
    assert isinstance(trait, StoredTrait)
    assert trait.kind == "callable"
    assert benchmark["urn:karenina:test:mq001"].keywords == ["science", "physics", "temperature"]


@needs_interop
def test_question_traits_of_a_real_save() -> None:
    benchmark = Benchmark.load(INTEROP_FOLDER / "test_checkpoint.jsonld")
    kinds = [
        trait.type
        for question in benchmark.get_questions_with_rubric()
        for trait in benchmark.get_question_rubric(question.id).traits
    ]
    assert kinds == ["llm", "llm", "regex"]
    assert len(benchmark.get_missing_templates()) == 1
    assert not [problem for problem in benchmark.check() if problem.severity == "error"]


@pytest.mark.parametrize("changed", [False, True], ids=["as it was", "changed"])
@pytest.mark.parametrize("path", [*(FILES / name for name in ALL), *INTEROP], ids=lambda path: path.name)
def test_what_is_written_keeps_the_rules_of_the_published_format(path: Path, changed: bool) -> None:
    benchmark = Benchmark.load(path)
    if changed:
        benchmark.set_custom_property("note", "changed")
        for question_id in benchmark.get_question_ids():
            benchmark.toggle_finished(question_id)
    # A mode of metrics that nobody supports stays in the file as it came.
    assert [rule for rule in broken_rules(benchmark.to_dict()) if "trait Negatives" not in rule] == []


def test_a_benchmark_made_here_keeps_the_rules_of_the_published_format() -> None:
    benchmark = small_benchmark()
    benchmark.add_global_rubric_trait(LUNGS)
    matrix = {"name": "Matrix", "metrics": ["accuracy"], "tp_instructions": ["a"], "tn_instructions": ["b"]}
    benchmark.add_question_rubric_trait("lungs", MetricRubricTrait(**matrix))
    literal = RubricTrait(name="Register", kind="literal", classes={"lay": "plain", "expert": "jargon"})
    benchmark.add_question_rubric_trait("lungs", literal)
    benchmark.creator = {"@type": "Person", "name": "Ada"}
    assert list(broken_rules(benchmark.to_dict())) == []
    assert list(broken_rules(Benchmark("Empty").to_dict())) == []


def test_code_as_plain_text_in_a_rating_is_written_back_as_it_came() -> None:
    given = rating("GlobalCallableTrait", prop("callable_code", "def f(text):\n    return True"))
    for node in (given, {**given, "additionalType": "GlobalCallableTrait"}):
        content = document(item(), rating=[node])
        benchmark = load(content)
        benchmark.toggle_finished(benchmark.get_question_ids()[0])
        assert benchmark.to_dict()["rating"] == [node]
