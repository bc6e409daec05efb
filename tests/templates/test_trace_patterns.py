"""`self.regex`: the verdict is that of the fields and of the patterns in the response."""

from __future__ import annotations

import re
from typing import Any

import pytest

from karenina_core.errors import TemplateError
from karenina_core.templates import Evaluation, Sandbox, read_template

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
