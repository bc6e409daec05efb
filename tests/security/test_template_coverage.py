"""How many of the templates at hand can be run, and how. Run with `-s` to see the figures."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from karenina_core.demo import demo_benchmark
from karenina_core.errors import TemplateError
from karenina_core.templates import Sandbox, read_template
from tests.security.demanding import REFUSED, RUN, VALUES

TESTS = Path(__file__).parents[1]
STYLES = ("declarative", "mixed", "own_code")
# Primitives written in Python, fragments of sources, and lines that are wrong on purpose.
UNREADABLE = {"refused: unknown_call", "refused: bad_primitive", "refused: syntax"}
# Written to be refused, or put together from parts; everything else has to be read.
MEANT_TO_FAIL = (
    "test_reader.py",
    "test_limits.py",
    "test_annotation.py",
    "test_custom_primitives.py",
    "test_source.py",
    "test_prelude.py",
    "test_trace_patterns.py",
)


def texts(path: Path) -> list[str]:
    """Return every template in a Python file: texts that hold an `Answer` class, and such classes themselves."""
    source = path.read_text(encoding="utf-8")
    found = []
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "class Answer(BaseAnswer):\n" in node.value
        ):
            found.append(node.value)
        elif isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "BaseAnswer" for base in node.bases):
            lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
            found.append(textwrap.dedent("\n".join(lines)))
    return found


def corpus() -> dict[str, list[str]]:
    """Return templates by where they are from."""
    demo = demo_benchmark()
    return {
        "demo": [text for question_id in demo.get_question_ids() if (text := demo.get_template(question_id))],
        "documented examples": [text for path in sorted((TESTS / "seeds").glob("test_*.py")) for text in texts(path)],
        "tests of templates": [
            text
            for path in sorted((TESTS / "templates").glob("test_*.py"))
            if path.name not in MEANT_TO_FAIL
            for text in texts(path)
        ],
        "demanding ones": [*RUN.values(), *REFUSED.values()],
    }


def outcome(source: str) -> str:
    try:
        template = read_template(source)
    except TemplateError as error:
        return f"refused: {error.code}"
    assert template.needs_judge == bool(template.judge_schema().get("properties"))
    return template.style


def test_the_share_of_templates_that_run_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    counted = {name: Counter(map(outcome, found)) for name, found in corpus().items()}
    with capsys.disabled():
        for name, outcomes in counted.items():
            run = sum(outcomes[style] for style in STYLES)
            print(f"\n{name}: {run} of {outcomes.total()} run; {dict(outcomes)}", end="")
    assert set(counted["demo"]) <= {*STYLES}
    assert set(counted["documented examples"]) <= {*STYLES, *UNREADABLE}
    for outcomes in counted.values():
        assert outcomes.total() >= 10
        assert sum(outcomes[style] for style in STYLES) >= 0.7 * outcomes.total()


@pytest.mark.parametrize("name", RUN)
def test_a_demanding_template_decides_as_it_should(name: str, quick_sandbox: Sandbox) -> None:
    template = read_template(RUN[name])
    assert template.evaluate(VALUES, "BCL is named once.", sandbox=quick_sandbox).verdict is True


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_sandbox_cannot_do_is_refused_with_line_and_advice(name: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(REFUSED[name])
    assert caught.value.line and caught.value.line > 10
    assert caught.value.next
