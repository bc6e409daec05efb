"""Attacks found by playing the adversary, each with the road it took."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark, checks, load_checkpoint
from karenina_core.benchmark.checkpoint import traits
from karenina_core.errors import CheckpointError, TemplateError
from karenina_core.models import parse_answers
from karenina_core.pipeline.stages.rubric import trait_keys
from karenina_core.schemas import ManualRubricTrait, Rubric, RubricTrait
from karenina_core.templates import Sandbox, read_template
from karenina_core.text import first_free, visible, visible_data
from tests.security.road import DECLARATIVE, file_of, own_code, script, travel
from tests.steps import growth


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    document = json.loads(file_of())
    change(document)
    return json.dumps(document).encode()


def rating(number: int, pattern: str = "a") -> dict[str, Any]:
    return {
        "@type": "Rating",
        "name": f"T{number}",
        "additionalType": "karenina:GlobalRegexTrait",
        "additionalProperty": [{"@type": "PropertyValue", "name": "pattern", "value": f"{number}{pattern}"}],
    }


# What once took minutes because every entry was compared with all others.


def repeated(questions: int) -> Benchmark:
    def multiply(document: dict[str, Any]) -> None:
        document["dataFeedElement"] *= questions

    return load_checkpoint(changed(multiply))[0]


def test_twenty_thousand_questions_with_the_same_id_are_read_one_after_the_other() -> None:
    assert growth(repeated, 200) < 2.5
    benchmark = repeated(20_000)
    assert len(set(benchmark.get_question_ids())) == 20_000
    first, second, *_, last = benchmark.get_question_ids()
    assert (second, last) == (f"{first}-1", f"{first}-19999")


def test_thousands_of_traits_with_the_same_name_are_told_apart_quickly() -> None:
    def tell_apart(number: int) -> None:
        traits = [RubricTrait(name=f"评{n}", kind="binary") for n in range(number)]
        assert list(trait_keys(traits))[:3] == ["0", "1", "2"][:number]
        assert len(trait_keys([trait.model_copy(update={"name": "评"}) for trait in traits])) == number
        Rubric(traits=traits)

    assert growth(tell_apart, 500) < 2.5
    tell_apart(5_000)


def test_the_first_free_name_is_found_among_gaps() -> None:
    assert first_free("{}".format, {"1", "2", "3"}) == "4"
    assert first_free("{}".format, set(), start=2) == "2"
    assert first_free("{}".format, {"1", "3"}) == "2"
    assert first_free("{}".format, {str(number) for number in range(1, 1_000)}) == "1000"


def test_a_rubric_of_very_many_traits_is_refused() -> None:
    with pytest.raises(CheckpointError, match="1,001 traits") as caught:
        load_checkpoint(changed(lambda document: document.update(rating=[rating(n) for n in range(1_001)])))
    assert caught.value.code == "too_many_traits"


@pytest.mark.parametrize("pattern", ["|ab" * 400, "(?:ab){240}"], ids=["long", "repeated"])
def test_traits_whose_patterns_would_take_minutes_to_compile_are_kept_and_not_evaluated(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traits, "MAX_PATTERN_SIZE", 5_000)
    data = changed(lambda document: document.update(rating=[rating(n, pattern) for n in range(10)]))
    benchmark, _ = load_checkpoint(data)
    rubric = benchmark.get_global_rubric()
    assert rubric is not None
    assert [trait.type for trait in rubric.traits] == ["regex"] * 4 + ["stored"] * 6
    assert "more than 5,000 parts" in str(benchmark.check())
    assert benchmark.to_json().count(pattern) == 10


def test_a_check_stops_reading_templates_after_a_while_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_CHECK_SECONDS", 0)
    benchmark, _ = load_checkpoint(file_of("no template at all"))
    [problem] = [problem for problem in benchmark.check() if "not checked" in problem.what]
    assert problem.severity == "warning"
    monkeypatch.undo()
    assert [problem.code for problem in benchmark.check() if problem.severity == "error"] == ["template"]


# Names that look like others, or become others.


def test_letters_that_normalise_to_others_name_the_same_field(tmp_path: Path) -> None:
    source = (
        "class Answer(BaseAnswer):\n"
        "    ｔarget: str = VerifiedField(description='d', ground_truth='BCL2', verify_with=ExactMatch())\n"
    )
    assert [field.name for field in read_template(source).spec.fields] == ["target"]
    assert travel(file_of(source), tmp_path).result.verdict == "pass"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("class Аnswer(BaseAnswer):\n    x: str", "syntax"),  # a Cyrillic letter
        ("class Answer(BaseAnswer):\n    ﬁeld: str\n    field: str\n", "duplicate"),
        ("class Answer(BaseAnswer):\n    ｃorrect: str\n", "reserved"),
        ("class Answer(BaseAnswer):\n    ＿＿class＿＿: str\n", "syntax"),
        ("class Answer(BaseAnswer):\n    ｍodel_validate: str\n", "reserved"),
        ("class Answer(ＢaseAnswer):\n    x: ｓtr\n", "no_verify"),
        ("class Answer(BaseAnswer):\n    x: str = Field(ｄefault=__ｉmport__('os'))\n", "unknown_call"),
        ("import ｏs\nclass Answer(BaseAnswer):\n    x: str\n", "import"),
    ],
)
def test_look_alikes_are_refused_like_what_they_mean(source: str, code: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(source)
    assert caught.value.code == code


@pytest.mark.parametrize("attribute", ["__ｃlass__", "＿＿class＿＿", "__class__"])
def test_no_spelling_of_an_attribute_leads_out(attribute: str, quick_sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(own_code(f"return self.{attribute}.__base__.__subclasses__()")).evaluate(
            {"x": "a"}, "", sandbox=quick_sandbox
        )
    assert caught.value.code in ("raised", "unsupported", "syntax")


def test_one_changed_or_invisible_character_is_another_template() -> None:
    source = own_code("return self.x == 'a'")
    identities = {read_template(text).template_id for text in (source, source.replace("'a'", "'a\u200b'"))}
    identities.add(read_template(source.replace("'a'", "'b'")).template_id)
    assert len(identities) == 3
    assert "\\u200b" in visible("a\u200b")
    with pytest.raises(TemplateError) as caught:
        read_template(source.replace("return", "re\u200bturn"))
    assert caught.value.code == "syntax"


# Values that explode when they are calculated, formatted or nested.

HUGE = {
    "a power": ("10 ** 10 ** 8", "literal"),
    "a long text": ("'a' * 10 ** 9", "literal"),
    "a shift": ("1 << 10 ** 9", "literal"),
    "a hexadecimal number": (f"0x{'f' * 50_000}", "literal"),
    "many products": (" * ".join(["10"] * 90), None),
    "a product beyond all floats": ("1e308 * 10", "literal"),
    "a formatted text": ("f'{1:>999999999}'", "literal"),
    "nested lists": ("[" * 60 + "]" * 60, "field_option"),
    "a list of nines": (f"[{', '.join(['9'] * 9_000)}]", None),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_value_in_a_definition_is_refused_before_it_is_made(name: str) -> None:
    value, code = HUGE[name]
    source = (
        f"class Answer(BaseAnswer):\n    x: str = VerifiedField(description='d', ground_truth={value}, "
        "verify_with=ExactMatch())\n"
    )
    caught = None
    tracemalloc.start()
    try:
        read_template(source)
    except TemplateError as error:
        caught = error.code
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 20_000_000
    assert caught is not None or code is None
    assert code is None or caught == code


@pytest.mark.parametrize(
    "lines",
    [
        ["return f'{1:>99999999999}' == ''"],
        ["return f'{1:.999999999f}' == ''"],
        ["return '%0999999999d' % 1 == ''"],
        ["return 'a'.ljust(10 ** 10) == ''"],
        ["return 'a'.translate({97: 'b' * 10 ** 7}) == ''"],
        ["return ('a' * 10 ** 6).translate({97: 'b' * 100}) == ''"],
        ["return re.sub('a', lambda m: 'b' * 10 ** 7, 'a' * 100) == ''"],
        ["return str.maketrans({n: n for n in range(10 ** 7)}) == {}"],
        ["return 10 ** 10 ** 8 > 1"],
    ],
)
def test_a_huge_value_in_code_is_an_error(lines: list[str], quick_sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(own_code(*lines, before="import re")).evaluate({"x": "a"}, "", sandbox=quick_sandbox)
    assert caught.value.code in ("memory", "timeout", "raised")


def test_code_that_borrows_the_lent_functions_only_harms_itself(quick_sandbox: Sandbox, tmp_path: Path) -> None:
    spoiled = own_code(
        "global _karenina_translate",
        "_karenina_translate = lambda value: lambda table: 'changed'",
        "return 'a'.translate({}) == 'changed'",
    )
    assert read_template(spoiled).evaluate({"x": "a"}, "", sandbox=quick_sandbox).verdict is True
    clean = own_code("return 'a'.translate({}) == 'a'")
    assert read_template(clean).evaluate({"x": "a"}, "", sandbox=quick_sandbox).verdict is True


# Metadata, answers and results of strangers.


@pytest.mark.parametrize("where", ["benchmark", "question"])
def test_very_much_metadata_is_carried_and_looked_at_once(where: str) -> None:
    def carry(number: int) -> None:
        extra = [{"@type": "PropertyValue", "name": f"custom_{n}", "value": n} for n in range(number)]

        def add(document: dict[str, Any]) -> None:
            place = document if where == "benchmark" else document["dataFeedElement"][0]["item"]
            place["additionalProperty"] += extra

        benchmark, _ = load_checkpoint(changed(add))
        benchmark.check()
        assert Benchmark.from_json(benchmark.to_json()).to_json() == benchmark.to_json()

    assert growth(carry, 1_000) < 2.5
    carry(100_000)


def test_prepared_answers_with_formulas_stay_text_all_the_way(tmp_path: Path) -> None:
    answers = parse_answers(b"question,answer,model\nQ,\"=cmd|' /C calc'!A0\",=1+1\n", "answers.csv")
    assert answers == {"=1+1": {"Q": "=cmd|' /C calc'!A0"}}
    arrival = travel(file_of(), tmp_path, script(answer="=cmd|' /C calc'!A0"))
    assert "'=cmd|" in arrival.csv and ",=cmd" not in arrival.csv


def test_a_template_of_nested_models_and_generics_has_a_bound() -> None:
    def read(depth: int) -> None:
        inner = ["int", *(f"M{n}" for n in range(depth))]
        models = "".join(f"class M{n}(BaseModel):\n    a: {inner[n]}\n    b: list[{inner[n]}]\n" for n in range(depth))
        try:
            template = read_template(f"{models}{DECLARATIVE}    deep: {inner[-1]}\n")
            assert len(json.dumps(template.judge_schema())) < 200_000
        except TemplateError as error:
            assert error.code in ("type", "schema", "too_complex")

    assert growth(read, 15) < 2.5


def test_a_pattern_of_a_trait_cannot_fill_the_memory() -> None:
    with pytest.raises(ValueError, match="too large"):
        ManualRubricTrait(name="T", pattern="(?:" * 25 + "a" + ")+" * 25)


def test_data_of_strangers_is_visible_at_every_depth() -> None:
    assert visible_data({"\u202ek": ["\u202ev", {"x": ("\u2066", 1, None, True)}]}) == {
        "\\u202ek": ["\\u202ev", {"x": ["\\u2066", 1, None, True]}]
    }
