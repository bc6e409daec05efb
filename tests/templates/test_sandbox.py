"""The sandbox: its bounds, and methods the interpreter lacks, which agree with Python's."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.errors import TemplateError
from karenina_core.templates import Limits, Sandbox, SandboxShare, read_template


def test_a_program_gives_the_value_of_its_last_expression(sandbox: Sandbox) -> None:
    assert sandbox.run("x + 1", {"x": 41}, lines=[1]) == 42


def test_a_closed_sandbox_starts_again() -> None:
    own = Sandbox()
    assert own.run("1", {}, lines=[1]) == 1
    own.close()
    own.close()
    assert own.run("2", {}, lines=[1]) == 2
    own.close()


def test_several_threads_share_the_processes(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: sandbox.run("n * n", {"n": n}, lines=[1]), range(40)))
    assert found == [n * n for n in range(40)]


def test_a_run_that_takes_too_long_is_repeated_once_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = [TemplateError("slow", code="timeout"), 42]
    own = Sandbox()
    monkeypatch.setattr("os.getloadavg", lambda: (1_000.0, 0.0, 0.0))

    def once(*_: Any) -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(own, "_run_once", once)
    assert own.run("", {}, lines=()) == 42
    outcomes += [TemplateError("slow", code="timeout"), TemplateError("slow again", code="timeout")]
    with pytest.raises(TemplateError, match="slow again"):
        own.run("", {}, lines=())
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    outcomes += [TemplateError("slow on its own account", code="timeout")]
    with pytest.raises(TemplateError, match="on its own account"):
        own.run("", {}, lines=())


def test_a_benchmark_whose_templates_loop_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    own, under_way, released = Sandbox(processes=3), [], threading.Event()

    def run(code: str, *_: Any) -> Any:
        if code == "loop":
            under_way.append(code)
            released.wait(60)
        return code

    monkeypatch.setattr(own, "_run_once", run)
    looping, innocent = SandboxShare(own), SandboxShare(own)
    with ThreadPoolExecutor(8) as threads:
        loops = [threads.submit(looping.run, "loop", {}, []) for _ in range(8)]
        assert innocent.run("quick", {}, []) == "quick"
        assert len(under_way) <= 2 and not any(loop.done() for loop in loops)
        released.set()


def test_a_benchmark_whose_templates_time_out_three_times_is_stopped_with_the_reason(sandbox: Sandbox) -> None:
    looping, innocent = SandboxShare(sandbox), SandboxShare(sandbox)
    codes = []
    for _ in range(5):
        with pytest.raises(TemplateError) as caught:
            looping.run("while True:\n    pass", {}, lines=[1, 2])
        codes.append(caught.value.code)
    assert codes == ["timeout"] * 3 + ["stopped"] * 2
    assert "took too long 3 times" in str(caught.value)
    assert innocent.run("1", {}, lines=[1]) == 1


def test_an_endless_loop_ends(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        sandbox.run("while True:\n    pass", {}, lines=[1, 2])
    assert caught.value.code == "timeout"
    assert sandbox.run("1", {}, lines=[1]) == 1


def test_a_worker_that_is_stuck_outside_of_its_limits_is_a_timeout() -> None:
    own = Sandbox(Limits(seconds=0.2))
    crashed = type("Crash", (), {"timed_out": True})
    from karenina_core.templates.sandbox import _crashed

    assert _crashed(crashed()).code == "timeout"
    crashed.timed_out = False
    assert _crashed(crashed()).code == "crashed"
    own.close()


def test_a_pool_that_does_not_start_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nonexistent/monty")
    own = Sandbox()
    with pytest.raises(TemplateError) as caught:
        own.run("1", {}, lines=[1])
    assert caught.value.code == "unavailable"
    assert "does not start" in caught.value.why


def test_errors_of_the_tail_name_the_authors_line(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        sandbox.run("def f():\n    return 1 / 0\n\nf()\n", {}, lines=[1, 2])
    assert (caught.value.line, caught.value.what) == (2, "f() raised ZeroDivisionError")


def test_imports_that_are_provided_work(sandbox: Sandbox) -> None:
    code = (
        "import string, statistics\n"
        "from statistics import mean\n"
        "from dateutil import parser\n"
        "from dateutil.parser import parse\n"
        "[string.digits, statistics.median([3, 1, 2]), mean([1, 2]), parser.parse('11 April 2016').month, "
        "parse('2016-04-11T10:00:00+02:00').utcoffset().total_seconds()]"
    )
    assert sandbox.run(code, {}, lines=range(1, 5 + 1)) == ["0123456789", 2, 1.5, 4, 7200.0]


@pytest.mark.parametrize(
    "code",
    [
        "import statistics\nstatistics.mean(list(range(20_000)))",
        "import statistics\nstatistics.mean(['a'])",
        "from dateutil.parser import parse\nparse('x' * 1000)",
        "from dateutil.parser import parse\nparse('no date')",
        "from dateutil.parser import parse\nparse('9' * 99)",
        "from difflib import SequenceMatcher\nSequenceMatcher(None, 'a' * 201, 'a')",
        "from difflib import SequenceMatcher\nSequenceMatcher(None, ['a'], 'a')",
        "from difflib import get_close_matches\nget_close_matches('a', ['a' * 51])",
        "from difflib import get_close_matches\nget_close_matches('a', ['a'] * 51)",
        "import uuid\nuuid.UUID('5')",
    ],
)
def test_what_runs_outside_is_bounded(sandbox: Sandbox, code: str) -> None:
    with pytest.raises(TemplateError, match="ValueError"):
        sandbox.run(code, {}, lines=[1, 2])


TEXTS = st.text(st.sampled_from("abcAé ß-7\n😀"), max_size=12)
CODES = st.integers(90, 130) | st.integers(-1, 0x110001)
TABLES = st.dictionaries(CODES, CODES | st.none() | TEXTS | st.floats(0, 1), max_size=6)
KEYED = st.dictionaries(TEXTS | CODES | st.none(), CODES | st.none() | TEXTS, max_size=4)
# What goes wrong is an error on both sides; how it is called differs from one Python version to the next.
ERRORS = {"AttributeError", "TypeError", "ValueError"}
NO_PRELUDE = ["self.x.lower()", "re.sub(r'\\s+', ' ', self.x)", "re.compile('a').sub('b', self.x)"]


def template(expression: str, head: str = "import re\n") -> str:
    return (
        f"{head}class Answer(BaseAnswer):\n    x: str\n    y: Any = None\n"
        "    def verify(self):\n"
        f"        self.correct = {expression}\n        return True\n"
    )


def inside(sandbox: Sandbox, expression: str, head: str = "import re\n", **values: Any) -> Any:
    """Return what an expression of a template gives in the sandbox, or the name of its error."""
    try:
        return read_template(template(expression, head)).evaluate({"x": "", **values}, "", sandbox=sandbox).expected
    except TemplateError as error:
        assert error.code == "raised", error
        return error.what.rpartition(" ")[2]


def outside(call: Any) -> Any:
    """Return what Python gives, or the name of its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


@settings(deadline=None, max_examples=60)
@given(text=TEXTS, table=TABLES | st.lists(CODES | st.none(), max_size=100) | TEXTS)
def test_translate_is_pythons(sandbox: Sandbox, text: str, table: Any) -> None:
    expected = outside(lambda: text.translate(table))
    seen = inside(sandbox, f"self.x.translate({table!r})", x=text)
    assert seen == expected or {seen, expected} <= ERRORS


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), mapping=KEYED)
def test_maketrans_is_pythons(sandbox: Sandbox, texts: list[str], mapping: Any) -> None:
    for arguments in (texts, [mapping], [texts[0][::-1], texts[0]]):
        call = f"str.maketrans({', '.join(map(repr, arguments))})"
        expected = outside(lambda arguments=arguments: sorted(map(repr, str.maketrans(*arguments).items())))
        seen = inside(sandbox, f"sorted([repr(item) for item in {call}.items()])")
        assert seen == expected or (isinstance(seen, str) and isinstance(expected, str) and {seen, expected} <= ERRORS)


@settings(deadline=None, max_examples=40)
@given(number=st.floats() | st.integers(-(10**6), 10**6).map(float))
def test_is_integer_is_pythons(sandbox: Sandbox, number: float) -> None:
    assert inside(sandbox, f"float('{number!r}').is_integer()") is number.is_integer()


@settings(deadline=None, max_examples=40)
@given(text=TEXTS, pattern=st.sampled_from(["[ab]", "a+", "(?i)(a)|b", "é|ß"]), count=st.integers(0, 3))
def test_substituting_by_a_function_is_pythons(sandbox: Sandbox, text: str, pattern: str, count: int) -> None:
    expected = re.sub(pattern, lambda found: f"<{found.group().upper()}>", text, count=count)
    function = "lambda found: '<' + found.group().upper() + '>'"
    for call in (
        f"re.sub({pattern!r}, {function}, self.x, count={count})",
        f"re.compile({pattern!r}).sub({function}, self.x, {count})",
    ):
        assert inside(sandbox, call, x=text) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("self.x.translate(PUNCTUATION).translate({97: 98})", "bnn"),
        ("(self.x + 'c').translate(str.maketrans('', '', 'n')).upper()", "A!C"),
        ("''.maketrans('a', 'b')[97]", 98),
        ("str.translate(self.x, {97: None})", "nn!"),
        ("f'{self.x.translate(PUNCTUATION)}.'", "ann."),
        ("sorted(map(str.upper, ['b', self.x]), key=str.lower)", ["ANN!", "B"]),
        ("list(filter(str.isdigit, ['1', 'a']))", ["1"]),
        ("sorted(set.union(*[{1}, {2}]) & set.intersection({1, 2}, {1}))", [1]),
        ("str.join('-', [self.x, 'b'])", "ann!-b"),
        ("dict.fromkeys(['a'])", {"a": None}),
        ("re.sub('(?i)A  # a', WRAP, self.x, flags=re.X)", "[a]nn!"),
        ("re.sub('n', repl=WRAP, string=self.x, count=1)", "a[n]n!"),
        ("Own().translate(3)", 4),
        ("shadowed([1, 1])", 2),
    ],
)
def test_methods_the_sandbox_lacks_are_lent_to_it(sandbox: Sandbox, expression: str, expected: Any) -> None:
    head = (
        "import re, string\nPUNCTUATION = str.maketrans('', '', string.punctuation)\n"
        "WRAP = lambda found: '[' + found.group(0) + ']'\n"
        "class Own:\n    def translate(self, number):\n        return number + 1\n"
        "def shadowed(tuple):\n    return tuple.count(1)\n"
    )
    assert inside(sandbox, expression, head, x="ann!") == expected
