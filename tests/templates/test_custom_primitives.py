"""Custom primitives work in a benchmark: their source is stored, and only the sandbox runs it."""

from __future__ import annotations

import asyncio
import math
import re
from pathlib import Path
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.models import ChatRequest
from karenina_core.schemas import VerificationResult
from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.primitives import (
    REGISTRY,
    ExactMatch,
    TracePrimitive,
    VerificationPrimitive,
    _register_primitive,
)
from karenina_core.templates import (
    Evaluation,
    FieldSpec,
    Sandbox,
    TemplateSpec,
    read_template,
    source_of,
    write_template,
)
from tests.pipeline.scripted import evaluate

BOTH = '''
from typing import Any
from karenina.schemas.primitives import TracePrimitive, VerificationPrimitive


class CaseInsensitiveContains(VerificationPrimitive):
    """Pass if ground truth appears as a substring of the extracted value."""

    def check(self, extracted: Any, expected: Any) -> bool:
        return str(expected).lower() in str(extracted).lower()


class TraceWordCount(TracePrimitive):
    """Pass if the response word count falls within bounds."""

    min_words: int = 0
    max_words: int = 10000

    def check_trace(self, raw_trace: str) -> bool:
        count = len(raw_trace.split())
        return self.min_words <= count <= self.max_words


class Answer(BaseAnswer):
    drug: str = VerifiedField(
        description="The drug named", ground_truth="venetoclax", verify_with=CaseInsensitiveContains(), weight=3
    )
    is_brief: bool = VerifiedField(
        description="Whether it is brief", ground_truth=True, verify_with=TraceWordCount(max_words=4)
    )
'''


def rule(*body: str, head: str = "", field: str = "Rule()") -> str:
    """Return a template with one field and the given lines as the body of its rule's check."""
    lines = [head, "class Rule(VerificationPrimitive):", "    def check(self, extracted, expected):"]
    lines += [f"        {line}" for line in body]
    lines += ["class Answer(BaseAnswer):"]
    return "\n".join(
        [*lines, f"    x: str = VerifiedField(description='d', ground_truth='a', verify_with={field})", ""]
    )


def judged(template: str | type[BaseAnswer], values: Any, response: str = "Venetoclax it is.") -> VerificationResult:
    """Evaluate a benchmark of one question with the template."""
    benchmark = Benchmark.create("Drugs")
    benchmark.add_question("Which drug?", "venetoclax", answer_template=template)

    def script(request: ChatRequest) -> Any:
        return response if request.purpose == "answer" else values

    return asyncio.run(evaluate(benchmark, script))


def run(sandbox: Sandbox, source: str, values: dict[str, Any], trace: str = "") -> Evaluation:
    return read_template(source).evaluate(values, trace, sandbox=sandbox)


@pytest.mark.parametrize(
    ("drug", "response", "verdict", "granular"),
    [
        ("Venetoclax (Venclexta)", "Venetoclax it is.", "pass", 1.0),
        ("Ibrutinib", "Ibrutinib it is.", "fail", 0.25),
        ("Venetoclax", "It is venetoclax, of course, what else?", "fail", 0.75),
        (None, "No idea.", "fail", 0.25),
    ],
)
def test_the_documented_primitives_decide_in_a_run(
    drug: str | None, response: str, verdict: str, granular: float
) -> None:
    result = judged(BOTH, {"drug": drug}, response)
    assert result.template is not None
    assert (result.failure, result.verdict) == (None, verdict)
    assert result.template.verify_granular_result == granular


def test_a_file_keeps_the_source_byte_for_byte_but_for_the_root_of_imports(tmp_path: Path) -> None:
    benchmark = Benchmark.create("Drugs")
    key = benchmark.add_question("Which drug?", "venetoclax", answer_template=BOTH)
    benchmark.save(tmp_path / "drugs.jsonld")
    stored = Benchmark.load(tmp_path / "drugs.jsonld").get_template(key)
    assert stored == BOTH.replace("from karenina_core.", "from karenina.")
    assert read_template(stored).template_id == read_template(BOTH).template_id


def test_the_spec_lists_fields_and_parameters_but_cannot_be_written() -> None:
    template = read_template(BOTH)
    assert [item.verify_with for item in template.spec.fields] == [
        {"type": "CaseInsensitiveContains"},
        {"type": "TraceWordCount", "min_words": 0, "max_words": 4},
    ]
    assert [item.is_trace for item in template.spec.fields] == [False, True]
    assert list(template.judge_schema()["properties"]) == ["drug"]
    assert (template.style, template.badge) == ("mixed", "own code, sandboxed")
    assert TemplateSpec.model_validate(template.spec.model_dump()) == template.spec
    with pytest.raises(InputError, match="Edit its source"):
        write_template(template.spec)
    with pytest.raises(ValueError, match="needs the source"):
        TemplateSpec(fields=[FieldSpec.model_validate(template.spec.fields[0].model_dump())])


def test_a_trace_rule_may_be_expected_to_fail(sandbox: Sandbox) -> None:
    source = BOTH.replace("ground_truth=True", "ground_truth=False")
    assert run(sandbox, source, {"drug": "venetoclax"}, "just four words here").verdict is False
    assert run(sandbox, source, {"drug": "venetoclax"}, "far more than four words").verdict is True


def test_composition_and_built_in_rules_work_beside_custom_ones(sandbox: Sandbox) -> None:
    source = BOTH + (
        '    dose: int = VerifiedField(description="Dose", ground_truth=400, verify_with=NumericExact())\n'
        "    class VerificationStrategy:\n"
        '        verify_strategy = AtLeastN(2, [FieldCheck("drug"), FieldCheck("is_brief"), FieldCheck("dose")])\n'
    )
    assert run(sandbox, source, {"drug": "x", "dose": 400}, "short").verdict is True
    assert run(sandbox, source, {"drug": "x", "dose": 300}, "short").verdict is False


def test_a_rule_may_use_helpers_constants_and_built_in_rules(sandbox: Sandbox) -> None:
    source = """
import re
LIMIT = 2

def clean(text):
    return re.sub(r"\\s+", " ", text).strip()

@_register_primitive
class Near(VerificationPrimitive):
    words: list[str] = []
    scale: float = Field(1.0, gt=0)
    mode: Literal["all", "any"] = "any"
    note: str | None = None

    @staticmethod
    def size(text):
        return len(text)

    @property
    def limit(self):
        return LIMIT * self.scale

    def check(self, extracted, expected):
        text = clean(extracted)
        close = abs(self.size(text) - self.size(expected)) <= self.limit
        return close and (ExactMatch().check(text, expected) or text in self.words)

class Answer(BaseAnswer):
    x: str = VerifiedField(description="d", ground_truth="bcl2", verify_with=Near(words=["bcl-2"], scale=2))
"""
    assert [run(sandbox, source, {"x": x}).verdict for x in ("BCL2", " bcl-2 ", "bax")] == [True, True, False]
    assert read_template(source).spec.fields[0].verify_with == {
        "type": "Near",
        "words": ["bcl-2"],
        "scale": 2.0,
        "mode": "any",
        "note": None,
    }


def test_a_null_never_reaches_the_check(sandbox: Sandbox) -> None:
    outcome = run(sandbox, rule("return 1 / 0"), {"x": None})
    assert (outcome.verdict, outcome.results) == (False, {"x": None})


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (["while True:", "    pass"], "timeout", 3),
        (["return 'a' * 10 ** 12"], "memory", 4),
        (["return self.check(1, 2)"], "recursion", 4),
        (["return 1 / 0"], "raised", 4),
        (["return open('/etc/passwd')"], "raised", 4),
        (["return ().__class__.__base__.__subclasses__()"], "raised", 4),
        (["return 1"], "bad_result", 3),
        (["return 'yes'"], "bad_result", 3),
        (["return None"], "bad_result", 3),
        (["return Sly()"], "bad_result", 3),
    ],
)
def test_a_failing_check_is_an_error_that_names_the_line(
    sandbox: Sandbox, lines: list[str], code: str, line: int
) -> None:
    sly = "class Sly: __bool__ = lambda self: True"
    with pytest.raises(TemplateError) as caught:
        run(sandbox, rule(*lines, head=sly), {"x": "a"})
    assert (caught.value.code, caught.value.line) == (code, line)


def test_one_evaluation_does_not_see_what_another_did(sandbox: Sandbox) -> None:
    source = rule("SEEN.append(1)", "return len(SEEN) == 1", head="SEEN = []")
    assert [run(sandbox, source, {"x": "a"}).verdict for _ in range(3)] == [True, True, True]


@pytest.mark.parametrize("change", ["_karenina_outcomes.append(True)", "_karenina_jobs.clear()"])
def test_a_check_cannot_answer_for_fields_that_are_not_asked(sandbox: Sandbox, change: str) -> None:
    source = rule(change, "return True")
    source += "    y: str = VerifiedField(description='d', ground_truth='a', verify_with=Rule())\n"
    with pytest.raises(TemplateError, match="one result for each field"):
        run(sandbox, source, {"x": "a", "y": "a"})


class CountingSandbox(Sandbox):
    """Says how often it was used."""

    runs = 0

    def run(self, code: str, inputs: Any, lines: int, prelude: str = "") -> Any:
        self.runs += 1
        return super().run(code, inputs, lines, prelude)


def test_all_checks_of_an_evaluation_share_the_limits_of_one_session() -> None:
    counting = CountingSandbox(processes=1)
    assert run(counting, BOTH, {"drug": "venetoclax"}, "short").verdict is True
    assert counting.runs == 1
    counting.close()


def test_a_long_response_is_read_whole(sandbox: Sandbox) -> None:
    source = BOTH.replace("max_words=4", "min_words=30_000, max_words=30_000")
    assert run(sandbox, source, {"drug": "venetoclax"}, "responses " * 30_000).verdict is True


@pytest.mark.parametrize(("line", "line_of_failure"), [("return 1", 3), ("return 1 / 0", 4), ("return missing", 4)])
def test_a_failing_check_is_no_fail_in_a_run(line: str, line_of_failure: int) -> None:
    result = judged(rule(line), {"x": "a"})
    assert result.failure is not None
    assert (result.failure.category, result.failure.line) == ("template_execution", line_of_failure)
    assert result.verdict not in ("pass", "fail")


def test_a_rule_that_imports_the_system_is_refused_when_it_is_added() -> None:
    for source in (rule("return True", head="import os"), rule("import os", "return True")):
        with pytest.raises(TemplateError, match="import of os"):
            Benchmark.create("Drugs").add_question("Which drug?", "a", answer_template=source)


CHECK = "def check(self, extracted, expected): return True"
SHAPES = [
    ("class Rule(VerificationPrimitive, Extra): pass", "bases"),
    ("class Rule(VerificationPrimitive, metaclass=type): pass", "bases"),
    (f"class Rule(VerificationPrimitive):\n    {CHECK}\nclass More(Rule): pass", "bases"),
    ("@sneaky\nclass Rule(VerificationPrimitive): pass", "decorator"),
    ("class ExactMatch(VerificationPrimitive): pass", "reserved"),
    (f"class Rule(VerificationPrimitive):\n    {CHECK}\nclass Rule(VerificationPrimitive): pass", "duplicate"),
]
BODIES = [
    ("pass", "bad_primitive"),
    ("def check(self, extracted): return True", "bad_primitive"),
    ("def check(self, *values): return True", "bad_primitive"),
    ("def check_trace(self, raw_trace): return True", "bad_primitive"),
    (f"async {CHECK}", "bad_primitive"),
    (f"@cached\n    {CHECK}", "unsupported"),
    ("def __init__(self): pass", "reserved"),
    ("limit = 3", "untyped"),
    ("limit: int = len('abc')", "unknown_call"),
    ("when: date = None", "bad_primitive"),
    ("type: str = 'a'", "bad_primitive"),
    (f"limit: int = 'three'\n    {CHECK}", "bad_primitive"),
    (f"limit: int = 3\n    limit: int = 4\n    {CHECK}", "duplicate"),
]
SHAPES += [(f"class Rule(VerificationPrimitive):\n    {body}", code) for body, code in BODIES]


@pytest.mark.parametrize(("shape", "code"), SHAPES)
def test_other_shapes_are_refused_with_line_and_hint(shape: str, code: str) -> None:
    source = f"{shape}\nclass Answer(BaseAnswer):\n    x: str = VerifiedField('d', 'a', Rule())\n"
    with pytest.raises(TemplateError) as caught:
        read_template(source)
    assert caught.value.code == code
    assert caught.value.line is not None
    assert caught.value.next or caught.value.why


@pytest.mark.parametrize("call", ["Rule", "Rule(1)", "Rule(limit=1)", "Rule(**{})", "Rule(type='x')", "Other()"])
def test_a_rule_is_built_by_its_named_parameters_only(call: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(rule("return True", field=call))
    assert caught.value.code in ("bad_primitive", "unknown_call")
    assert caught.value.line == 6


def test_a_trace_rule_needs_a_bool_field() -> None:
    with pytest.raises(TemplateError, match="type it bool"):
        read_template(BOTH.replace("is_brief: bool", "is_brief: str"))


PREFIX = re.compile(r"^\s*drug:\s*")


def stripped(text: str) -> str:
    return PREFIX.sub("", text)


class Begins(VerificationPrimitive):
    length: int = 4

    def check(self, extracted: Any, expected: Any) -> bool:
        return stripped(extracted)[: math.floor(self.length)] == expected[: self.length]


def asking(primitive: VerificationPrimitive, truth: Any = "a") -> type[BaseAnswer]:
    class Answer(BaseAnswer):
        found: Any = VerifiedField(description="What it is", ground_truth=truth, verify_with=primitive)

    return Answer


def test_a_class_in_python_brings_its_unregistered_primitives() -> None:
    class FewWords(TracePrimitive):
        most: int = 3

        def check_trace(self, raw_trace: str) -> bool:
            return len(raw_trace.split()) <= self.most

    class Answer(BaseAnswer):
        drug: str = VerifiedField(description="Drug", ground_truth="venetoclax", verify_with=Begins(length=3))
        brief: bool = VerifiedField(description="Brief", ground_truth=True, verify_with=FewWords())

    source = source_of(Answer)
    assert source.index("def stripped") < source.index("class Begins") < source.index("class Answer")
    result = judged(Answer, {"drug": "drug: venet"}, "Venetoclax it is.")
    assert result.verdict == "pass"
    benchmark = Benchmark.create("Drugs")
    key = benchmark.add_question("Which drug?", "venetoclax")
    benchmark.add_answer_template(key, Answer)
    assert benchmark.get_template(key) == source


def test_a_primitive_that_uses_variables_around_it_is_refused_when_it_is_added() -> None:
    limit = 3

    class Around(VerificationPrimitive):
        def check(self, extracted: Any, expected: Any) -> bool:
            return len(extracted) > limit

    class Default(VerificationPrimitive):
        least: int = limit

        def check(self, extracted: Any, expected: Any) -> bool:
            return len(extracted) > self.least

    class Unknown(VerificationPrimitive):
        def check(self, extracted: Any, expected: Any) -> bool:
            return bool(SANDBOXES)

    for primitive, name in ((Around(), "limit"), (Default(), "limit"), (Unknown(), "SANDBOXES")):
        with pytest.raises(InputError, match=f"cannot be stored: it uses {name}") as caught:
            Benchmark.create("Drugs").add_question("Which drug?", "a", answer_template=asking(primitive))
        assert "parameter" in caught.value.next


SANDBOXES = [Sandbox()]


def test_a_registered_primitive_runs_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "Registered", ExactMatch)

    @_register_primitive
    class Registered(VerificationPrimitive):
        def check(self, extracted: Any, expected: Any) -> bool:
            return bool(extracted == expected)

    template = read_template(source_of(asking(Registered())))
    assert template.badge == "built-in checks"
    assert template.evaluate({"found": "a"}, "").verdict is True
    read_template.cache_clear()
