"""The findings of a whole benchmark, and fixes of findings applied."""

from __future__ import annotations

import pytest
from hypothesis import given

from karenina_core.authoring import (
    Finding,
    form_data,
    lint,
    lint_benchmark,
    repair_all,
    repair_benchmark,
    repaired,
    set_name,
)
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import Rubric, RubricTrait
from karenina_core.templates import TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import CONFIG, field, similar
from tests.templates.test_writer import specs

TRAIT = RubricTrait(name="Clarity", description="Rate the clarity from 1 to 5.")


def benchmark() -> Benchmark:
    made = Benchmark.create(name="b")
    sound, vague = (write_template(TemplateSpec(fields=[item])) for item in (field(), field(description="The gene")))
    made.add_question("Which gene?", "BCL2", answer_template=sound, question_id="sound")
    made.add_question("Which gene is it?", "BCL2", answer_template=vague, question_id="vague")
    made.add_question(
        "Which one is it?", "KRAS", answer_template=sound, question_id="other", rubric=Rubric(traits=[TRAIT])
    )
    made.add_question("Without a template?", "BCL2", question_id="bare")
    made.set_global_rubric(Rubric(traits=[TRAIT, RubricTrait(name="Depth")]))
    return made


def test_questions_with_something_to_mend() -> None:
    found = lint_benchmark(benchmark())
    assert {name: item.worst for name, item in found.questions.items()} == {"vague": "warning", "other": "warning"}
    assert [finding.code for finding in found.questions["other"].template] == ["truth_not_in_reference"]
    assert [finding.code for finding in found.questions["other"].rubric] == ["trait_hides_global"]
    assert [finding.code for finding in found.rubric] == ["trait_undescribed"]


def test_settings_of_a_run_are_looked_at_when_they_are_known() -> None:
    made = Benchmark.create(name="b")
    source = write_template(TemplateSpec(fields=[similar()]))
    made.add_question("What does it do?", "It binds.", answer_template=source, question_id="q")
    assert lint_benchmark(made).questions == {}
    assert lint_benchmark(made, CONFIG).questions["q"].worst == "error"


SOURCE = """\
class Answer(BaseAnswer):
    # Which gene.
    gene: str = VerifiedField(
        description="The gene",  # too short
        ground_truth="BCL2",
        verify_with=ExactMatch(),
    )
"""


def test_a_fix_leaves_comments_where_they_are() -> None:
    (finding,) = lint(SOURCE)
    fixed = repaired(SOURCE, finding)
    assert finding.code == "description_vague" and finding.line == 3
    assert "# Which gene." in fixed and "# too short" in fixed and not lint(fixed)


def test_a_finding_without_a_fix_says_what_to_do() -> None:
    with pytest.raises(InputError, match="Look"):
        repaired(SOURCE, Finding("x", "hint", None, "What.", "Why.", "Look at it."))


@given(specs())
def test_every_fix_that_is_offered_makes_its_finding_go_away(spec: TemplateSpec) -> None:
    for finding in lint(spec):
        if finding.fix is not None and finding.fix.target == "template":
            mended = finding.fix.edit(spec)
            left = [(other.code, other.field) for other in lint(mended)]
            assert (finding.code, finding.field) not in left
            assert not mended.verified or read_template(write_template(mended)).spec == mended


@given(specs())
def test_a_fix_of_a_form_is_a_fix_of_its_source(spec: TemplateSpec) -> None:
    source = write_template(spec)
    for finding in lint(source):
        if finding.fix is not None and finding.fix.target == "template":
            assert read_template(repaired(source, finding)).spec == finding.fix.edit(spec)


def test_all_fixes_are_applied_one_after_the_other() -> None:
    source = SOURCE.replace('"BCL2"', '"23"').replace("str =", "int =").replace("ExactMatch()", "NumericExact()")
    mended = repair_all(source)
    assert mended.applied and mended.result != source
    assert not [finding for finding in lint(mended.result) if finding.fix is not None]


def test_fixes_also_complete_a_form() -> None:
    data = set_name(form_data(read_template(SOURCE).spec), 0, "the gene")
    mended = repair_all(data)
    assert mended.applied[0].code == "field_name"
    assert mended.result["fields"][0]["name"] == "the_gene" and data["fields"][0]["name"] == "the gene"


UNSOUND = """from karenina.schemas.entities import BaseAnswer, VerifiedField
from karenina.schemas.primitives import ExactMatch


class Answer(BaseAnswer):
    # why there are two
    target: str = VerifiedField(
        description="The protein that the response names as the target",
        ground_truth=" BCL2",
        verify_with=ExactMatch(normalize=["lowercase", "lowercase"]),
    )
    other: str = VerifiedField(
        description="The drug the question is about, as the response writes it",
        ground_truth="venetoclax",
        verify_with=ExactMatch(normalize=["lowercase", "lowercase", "strip"]),
    )
"""
CODE = "normalizer_without_effect"


def unsound() -> Benchmark:
    benchmark = Benchmark.create("Unsound")
    benchmark.add_question("What is the target?", "BCL2", UNSOUND, question_id="one")
    benchmark.add_question("Which is the target?", "BCL2", UNSOUND, question_id="two")
    return benchmark


def places(benchmark: Benchmark) -> list[str]:
    found = lint_benchmark(benchmark).questions
    return [name for name, item in found.items() if CODE in {finding.code for finding in item.template}]


def test_every_finding_of_a_kind_is_mended_everywhere() -> None:
    benchmark = unsound()
    assert places(benchmark) == ["one", "two"]
    assert repair_benchmark(benchmark, ["one", "two"], CODE) == 4
    assert places(benchmark) == []


def test_a_single_field_can_be_mended_alone() -> None:
    benchmark = unsound()
    assert repair_benchmark(benchmark, ["one"], CODE, "target") == 1
    left = [finding.field for finding in lint_benchmark(benchmark).questions["one"].template if finding.code == CODE]
    assert left == ["other"]


def test_what_a_fix_does_not_concern_stays_as_it_was() -> None:
    benchmark = unsound()
    repair_benchmark(benchmark, ["one"], CODE)
    assert "# why there are two" in (benchmark.get_template("one") or "")
    assert benchmark.get_template("two") == UNSOUND


def test_a_kind_without_a_fix_changes_nothing() -> None:
    benchmark = unsound()
    assert repair_benchmark(benchmark, ["one", "two"], "unreadable") == 0
    assert benchmark.get_template("one") == UNSOUND


def test_traits_of_all_questions_and_of_one_are_mended() -> None:
    benchmark = Benchmark.create("Traits")
    benchmark.add_question("What?", "BCL2", question_id="one")
    benchmark.set_global_rubric(Rubric(traits=[RubricTrait(name="clarity", kind="binary")]))
    benchmark.set_question_rubric("one", Rubric(traits=[RubricTrait(name="brevity", kind="binary")]))
    [found] = {finding.code for finding in lint_benchmark(benchmark).rubric if finding.fix}
    assert repair_benchmark(benchmark, [None, "one"], found) == 2
    overall, own = benchmark.get_global_rubric(), benchmark.get_question_rubric("one")
    assert overall is not None and overall.traits[0].description
    assert own is not None and own.traits[0].description
