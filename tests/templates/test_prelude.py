"""Methods the sandbox lacks agree with Python's, because the same expressions are run in both."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.errors import TemplateError
from karenina_core.templates import Sandbox, read_template

TEXTS = st.text(st.sampled_from("abcAé ß-7\n😀"), max_size=12)
CODES = st.integers(90, 130) | st.integers(-1, 0x110001)
TABLES = st.dictionaries(CODES, CODES | st.none() | TEXTS | st.floats(0, 1), max_size=6)
KEYED = st.dictionaries(TEXTS | CODES | st.none(), CODES | st.none() | TEXTS, max_size=4)
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
    # What a range is called when it is left differs from one Python version to the next.
    errors = {"TypeError", "ValueError"}
    seen = inside(sandbox, f"self.x.translate({table!r})", x=text)
    assert seen == expected or {seen, expected} <= errors


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), mapping=KEYED)
def test_maketrans_is_pythons(sandbox: Sandbox, texts: list[str], mapping: Any) -> None:
    for arguments in (texts, [mapping], [texts[0][::-1], texts[0]]):
        call = f"str.maketrans({', '.join(map(repr, arguments))})"
        expected = outside(lambda arguments=arguments: sorted(map(repr, str.maketrans(*arguments).items())))
        assert inside(sandbox, f"sorted([repr(item) for item in {call}.items()])") == expected


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


@pytest.mark.parametrize("call", ["str.lower(None)", "str.translate(1, {})", "list(map(str.strip, [1]))"])
def test_what_python_refuses_is_refused(sandbox: Sandbox, call: str) -> None:
    assert inside(sandbox, call) == "TypeError"


def test_an_error_in_a_lent_method_names_the_authors_line(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(template("self.x.translate(3)")).evaluate({"x": "a"}, "", sandbox=sandbox)
    assert caught.value.line == 6


@pytest.mark.parametrize("expression", NO_PRELUDE)
def test_nothing_is_lent_that_is_not_needed(expression: str) -> None:
    program = read_template(template(expression))._reading.program
    assert program is not None
    assert program.prelude == "" and "_karenina_sub" not in program.code
