"""Templates whose verdict is the author's code."""

from __future__ import annotations

import re
from typing import Any

import pytest

from karenina_core.errors import TemplateError
from karenina_core.templates import Evaluation, Sandbox, read_template


def classic(*body: str, head: str = "", field: str = "x: str = Field(description='d')") -> str:
    """Return a template with one field and the given lines as the body of `verify`."""
    lines = [head, "class Answer(BaseAnswer):", f"    {field}", "    def verify(self):"]
    return "\n".join([*lines, *(f"        {line}" for line in body)])


@pytest.fixture
def run(sandbox: Sandbox) -> Any:
    def evaluate(source: str, values: dict[str, Any] | None = None, trace: str = "") -> Evaluation:
        template = read_template(source)
        reply = {item.name: None for item in template.spec.judged} | ({"x": "a"} if values is None else values)
        return template.evaluate(template.validate_reply(reply), trace, sandbox=sandbox)

    return evaluate


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "an int of 1 bits"),
        ("'yes'", "'yes'"),
        ("None", "None"),
        ("[True]", "[True]"),
        ("Sly()", "MontyClassProxy"),
        ("10 ** 4000", "an int of 13288 bits"),
    ],
)
def test_verify_must_return_true_or_false(run: Any, value: str, shown: str) -> None:
    head = "class Sly:\n    def __bool__(self):\n        return True"
    with pytest.raises(TemplateError) as caught:
        run(classic(f"return {value}", head=head))
    assert caught.value.code == "bad_result"
    assert caught.value.what == f"verify() returned {shown}"


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "1.5", "-0.1", "10 ** 4000", "'1'", "None"])
def test_verify_granular_must_return_a_number_from_0_to_1(run: Any, value: str) -> None:
    source = classic("return True", "") + f"\n    def verify_granular(self):\n        return {value}\n"
    if value == "None":
        assert run(source).granular is None
        return
    with pytest.raises(TemplateError, match="verify_granular") as caught:
        run(source)
    assert caught.value.code == "bad_result"


def test_a_score_is_not_refused_for_the_noise_of_floats(run: Any) -> None:
    source = (
        classic("return True") + "\n    def verify_granular(self):\n        return 0.1 + 0.2 + 0.7000000000000002\n"
    )
    assert run(source).granular == 1.0


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (["while True:", "    pass"], "timeout", None),
        (["try:", "    while True:", "        pass", "except BaseException:", "    return True"], "timeout", None),
        (["x = [1]", "while True:", "    x = x + x"], "memory", 7),
        (["return 'a' * 10 ** 12"], "memory", 5),
        (["return 9 ** 9 ** 9 ** 9"], "memory", 5),
        (["print('a' * 100_000)", "return True"], "memory", None),
        (["return self.verify()"], "recursion", 5),
        (["return 1 / 0"], "raised", 5),
        (["raise TimeoutError('not ours')"], "raised", 5),
        (["return self.y"], "raised", 5),
        (["return open('/etc/passwd')"], "raised", 5),
        (["return ().__class__.__base__.__subclasses__()"], "raised", 5),
        (["return self.verify.__globals__"], "raised", 5),
        (["return '{0.__class__}'.format(1)"], "raised", 5),
        (["return __import__('os')"], "raised", 5),
        (["return __ｉｍｐｏｒｔ__('os')"], "raised", 5),
        (["import json", "return json.loads('[' * 100_000)"], "raised", 6),
        (["for i in range(100):", "    try:", "        missing", "    except NameError:", "        pass"], "raised", 7),
        (["class Inner:", "    class Deep:", "        pass", "return True"], "unsupported", 6),
    ],
)
def test_failing_code_is_an_error_that_names_the_line(run: Any, lines: list[str], code: str, line: int | None) -> None:
    with pytest.raises(TemplateError) as caught:
        run(classic(*lines))
    assert (caught.value.code, caught.value.line) == (code, line)


def test_an_error_names_method_and_reason(run: Any) -> None:
    with pytest.raises(TemplateError) as caught:
        run(classic("return self.correct['y'] == 1"))
    assert str(caught.value).startswith("line 5: verify() raised TypeError: 'NoneType'")


def test_nothing_is_carried_over_to_the_next_evaluation(run: Any) -> None:
    source = classic("SEEN.append(1)", "return len(SEEN) == 1", head="SEEN = []")
    assert [run(source).verdict for _ in range(3)] == [True, True, True]


def test_clock_and_chance_stand_still(run: Any) -> None:
    source = classic("return datetime.now().year == 2025", head="from datetime import datetime")
    assert run(source).verdict is True


def test_a_null_is_wrong_without_running_the_code(run: Any) -> None:
    outcome = run(classic("return 1 / 0"), {"x": None})
    assert (outcome.verdict, outcome.granular) == (False, None)
    assert outcome.fields[0].result is None
    assert outcome.fields[0].reason == "The judge found nothing in the response."


def test_code_sees_the_null_of_an_optional_field(run: Any) -> None:
    source = classic("return self.x is None", field="x: Optional[str] = Field(default=None, description='d')")
    assert run(source, {"x": None}).verdict is True


def test_expected_values_are_evidence(run: Any) -> None:
    outcome = run(
        "class Answer(BaseAnswer):\n"
        "    x: str = Field(description='d')\n"
        "    def ground_truth(self):\n"
        "        self.correct = {'x': 'b', 'ids': {1}, 'n': float('nan')}\n"
        "    def verify(self):\n"
        "        return self.x == self.correct['x']\n"
    )
    assert outcome.expected == {"x": "b", "ids": [1], "n": None}
    assert outcome.fields[0].expected == "b"


def test_expected_values_may_not_be_huge(run: Any) -> None:
    with pytest.raises(TemplateError) as caught:
        run(classic("self.correct = ['a' * 1000] * 1000", "return True"))
    assert caught.value.code == "bad_result"


def test_text_no_file_can_hold_is_replaced_before_it_is_compared(run: Any) -> None:
    outcome = run(classic("return self.x == 'a?' and self._raw_trace == '?'"), {"x": "a\ud800"}, "\ud800")
    assert outcome.verdict is True


MIXED = """
class Answer(BaseAnswer):
    gene: str = VerifiedField(description="gene", ground_truth="BCL2", verify_with=ExactMatch(), weight=3)
    cites: bool = VerifiedField(description="cites", ground_truth=True, verify_with=TraceContains(substring="NCT"))
    dose: float = Field(description="dose")
"""


def test_verified_fields_and_own_verify_work_together(run: Any) -> None:
    source = MIXED + (
        "    def verify(self):\n"
        "        self.correct['dose'] = 400\n"
        "        results = self.field_results()\n"
        "        return results['gene'] and super().verify() and self.cites and self.dose == 400\n"
    )
    right = run(source, {"gene": "bcl2", "dose": 400}, "NCT1")
    assert (right.verdict, right.granular) == (True, 1.0)
    assert right.expected == {"gene": "BCL2", "cites": True, "dose": 400}
    assert right.fields[2].expected == 400
    wrong = run(source, {"gene": "bcl2", "dose": 400}, "none")
    assert (wrong.verdict, wrong.granular) == (False, 0.75)
    assert wrong.results == {"gene": True, "cites": False}


def test_the_rules_decide_where_there_is_no_own_verify(run: Any) -> None:
    source = MIXED + "    def verify_granular(self):\n        return super().verify_granular() / 2\n"
    outcome = run(source, {"gene": "bcl2", "dose": 1}, "NCT1")
    assert (outcome.verdict, outcome.granular) == (True, 0.5)
    assert read_template(source).style == "mixed"
    assert read_template(source).composition_strategy == "all_of"


def test_own_code_alone_still_decides_when_there_is_nothing_to_complete(sandbox: Sandbox) -> None:
    template = read_template(classic("return 'a' in self.x"))
    done = template.evaluate({"x": "abc"}, "", sandbox=sandbox)
    missing = template.evaluate({"x": None}, "", sandbox=sandbox)
    assert template.complete(done, {}, sandbox=sandbox) == done
    assert template.complete(missing, {}, sandbox=sandbox) == missing


def test_a_null_in_a_mixed_template_keeps_the_score_of_the_rules(run: Any) -> None:
    source = MIXED + "    def verify(self):\n        return 1 / 0\n"
    outcome = run(source, {"gene": "bcl2", "dose": None}, "NCT1")
    assert (outcome.verdict, outcome.granular) == (False, 1.0)


def test_own_code_waits_for_the_embedding_check(sandbox: Sandbox) -> None:
    template = read_template("""
class Answer(BaseAnswer):
    why: str = VerifiedField(description="why", ground_truth="BCL2", verify_with=SemanticMatch())

    def verify(self):
        return self.field_results()["why"] and self.why == "BCL-2" and self._raw_trace == "raw"
""")
    waiting = template.evaluate({"why": "BCL-2"}, "raw", sandbox=sandbox)
    assert (waiting.verdict, waiting.pending) == (None, ("why",))
    assert template.complete(waiting, {"why": (True, 0.9)}, sandbox=sandbox).verdict is True
    assert template.complete(waiting, {"why": (False, 0.1)}, sandbox=sandbox).verdict is False


def test_only_the_answer_class_of_declarative_templates_verifies_by_itself() -> None:
    template = read_template(classic("return True"))
    assert (template.style, template.composition_strategy) == ("own_code", None)
    with pytest.raises(NotImplementedError, match=r"Template\.evaluate"):
        template.answer_class(x="a").verify()


def test_without_the_sandbox_only_own_code_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pydantic_monty", None)
    monkeypatch.setattr("karenina_core.templates.template.available", lambda: False)
    template = read_template(classic("return True"))
    assert template.badge == "not runnable"
    with pytest.raises(TemplateError, match="pydantic-monty") as caught:
        template.evaluate({"x": "a"}, "", sandbox=Sandbox())
    assert caught.value.code == "unavailable"


TRIALS = "Trials NCT02005471 and NCT02005472; see NCT02005471 (p < 0.01)."


def evaluated(sandbox: Sandbox, regex: str, response: str = TRIALS, drug: str = "venetoclax") -> Evaluation:
    source = (
        "class Answer(BaseAnswer):\n    drug: str\n"
        "    def model_post_init(self, context):\n"
        "        self.correct = {'drug': 'venetoclax'}\n"
        f"        {regex}\n"
        "    def verify(self):\n        return self.drug == self.correct['drug']\n"
    )
    return read_template(source).evaluate({"drug": drug}, response, sandbox=sandbox)


def wanted(pattern: str, expected: Any, match_type: str) -> str:
    entry = {"pattern": pattern, "expected": expected, "match_type": match_type}
    return f"self.regex = {{'trial': {entry!r}}}"


@pytest.mark.parametrize(
    ("pattern", "expected", "match_type", "passes"),
    [
        (r"p < [\d.]+", "p < 0.01", "exact", True),
        (r"NCT\d{8}", "NCT02005471", "exact", False),
        (r"NCT\d{8}", "NCT02005472", "contains", True),
        (r"NCT\d{8}", "NCT00000000", "contains", False),
        (r"NCT(\d{8})", "02005472", "contains", True),
        (r"(NCT)(\d{8})", ("NCT", "02005472"), "contains", True),
        (r"NCT\d{8}", 3, "count", True),
        (r"NCT\d{8}", 2, "count", False),
        (r"NCT\d{8}", ["NCT02005472", "NCT02005471"], "all", True),
        (r"NCT\d{8}", ["NCT02005472", "NCT1"], "all", False),
        (r"absent", 0, "count", True),
    ],
)
def test_the_verdict_needs_field_and_pattern(
    sandbox: Sandbox, pattern: str, expected: Any, match_type: str, passes: bool
) -> None:
    rule = wanted(pattern, expected, match_type)
    outcome = evaluated(sandbox, rule)
    assert outcome.verdict is passes
    assert outcome.fields[-1].result is passes and outcome.fields[-1].is_trace
    found = [list(item) if isinstance(item, tuple) else item for item in re.findall(pattern, TRIALS)]
    assert outcome.fields[-1].extracted == found
    assert evaluated(sandbox, rule, drug="aspirin").verdict is False


def test_without_patterns_the_fields_decide(sandbox: Sandbox) -> None:
    assert evaluated(sandbox, "self.regex = {}").verdict is True
    assert [item.name for item in evaluated(sandbox, "pass").fields] == ["drug"]


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        ("self.regex = 3", "must be a dictionary"),
        ("self.regex = {'a': {'pattern': 'x'}}", "expected of a is missing"),
        (wanted("x", "x", "fuzzy"), "'exact', 'contains', 'count' or 'all'"),
        (wanted("(", "x", "exact"), "not valid"),
        (wanted("x", "1", "count"), "does not go with count"),
        (wanted("x", True, "count"), "does not go with count"),
        (wanted("x", "x", "all"), "does not go with all"),
        ("self.regex = {str(n): {'pattern': 'x', 'expected': 1, 'match_type': 'count'} for n in range(51)}", "50"),
        ("self.regex = {'a': 'x' * 60_000}", "name fewer"),
    ],
)
def test_a_pattern_nobody_can_apply_is_an_error_and_no_wrong_answer(sandbox: Sandbox, regex: str, why: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(why)) as caught:
        evaluated(sandbox, regex)
    assert caught.value.code == "bad_result"


def test_a_pattern_that_takes_too_long_is_an_error_and_no_wrong_answer(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError, match="took too long") as caught:
        evaluated(sandbox, wanted("(a|aa)+$", 1, "count"), "a" * 60 + "!")
    assert caught.value.code == "timeout"
