"""The findings of a whole benchmark."""

from __future__ import annotations

from karenina_core.authoring import lint_benchmark
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import Rubric, RubricTrait
from karenina_core.templates import TemplateSpec, write_template
from tests.authoring.linter.cases import CONFIG, field, similar

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
    assert found.count == {"error": 1, "warning": 3, "hint": 0}


def test_questions_by_what_is_to_be_mended() -> None:
    assert lint_benchmark(benchmark()).by_code == {
        "description_repeats_name": ["vague"],
        "truth_not_in_reference": ["other"],
        "trait_hides_global": ["other"],
    }


def test_settings_of_a_run_are_looked_at_when_they_are_known() -> None:
    made = Benchmark.create(name="b")
    source = write_template(TemplateSpec(fields=[similar()]))
    made.add_question("What does it do?", "It binds.", answer_template=source, question_id="q")
    assert lint_benchmark(made).questions == {}
    assert lint_benchmark(made, CONFIG).questions["q"].worst == "error"


def test_nothing_is_changed() -> None:
    made = benchmark()
    before = made.get_question("vague")
    lint_benchmark(made)
    assert made.get_question("vague") == before
