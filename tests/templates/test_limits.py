"""What a template text may cost, and that no text ends the process."""

from __future__ import annotations

import hashlib
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.errors import TemplateError
from karenina_core.templates import parse_module, read_template, readable, template_id, upstream_spelling
from karenina_core.templates.limits import MAX_BYTES


def code_of(source: str) -> str:
    with pytest.raises(TemplateError) as caught:
        read_template(source)
    return caught.value.code


def doubled(first: str, further: str, times: int = 40, *, used: bool = True) -> str:
    """Return a template whose constants hold each other; the last one is a type and a default."""
    lines = [f"A0 = {first}", *(f"A{number + 1} = {further.format(f'A{number}')}" for number in range(times))]
    kind = f"A{times}" if "[str, " in further else "str"
    default = f" = A{times}" if used and kind == "str" else ""
    return "\n".join([*lines, f"class Answer(BaseAnswer):\n    x: {kind}{default}\n"])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("#" * (MAX_BYTES + 1), "too_large"),
        ("é" * (MAX_BYTES // 2 + 1), "too_large"),
        ("x = 1\0", "nul"),
        ('x = "\ud800"', "bad_unicode"),
        ("x = 1\n" * 8_000, "too_complex"),
        (f"x = {'(' * 150}1{')' * 150}", "no_answer"),
        (f"x = {'(' * 10_000}1{')' * 10_000}", "syntax"),
        (f"x = {'-' * 50_000}1", "too_deep"),
        (f"x = {'not ' * 15_000}1", "too_deep"),
        (f"x = {'lambda: ' * 8_000}1", "too_deep"),
        (f"x = a{'.a' * 20_000}", "too_deep"),
        (f"x = {'[' * 120}{']' * 120}", "too_deep"),
        (f"x = {'9' * 5_000}", "syntax"),
        ("class Answer(BaseAnswer:\n    pass", "syntax"),
        (f"a{chr(0x301) * 31} = 1", "bad_unicode"),
        (doubled("'a' * 1", "{0} + {0}"), "literal"),
        (doubled("'aaaaaaaaaaaaaaaa'", "{0} + {0}"), "too_large"),
        (doubled("[1]", "[{0}, {0}]"), "too_large"),
        (doubled("[1]", "{{'a': {0}, 'b': {0}}}"), "too_large"),
        (doubled("Literal['a', 'b']", "dict[str, {0}] | list[{0}]"), "type"),
        (doubled("list[int]", "Union[dict[str, {0}], list[{0}]]", 3), "no_verify"),
        (doubled("[1]", "[{0}, {0}]", used=False), "no_verify"),
    ],
)
def test_texts_beyond_the_limits_are_refused(source: str, code: str) -> None:
    assert code_of(source) == code


def test_a_deep_text_is_refused_on_a_small_stack_too() -> None:
    codes: list[str] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: codes.append(code_of(f"x = {'-' * 60_000}1")))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert codes == ["too_deep"]


def test_a_syntax_error_names_line_and_column() -> None:
    with pytest.raises(TemplateError, match=r"line 2: this is not valid Python: .* at column \d+"):
        read_template("x = 1\ny = = 2\n")


def test_byte_order_mark_and_foreign_line_ends_are_read() -> None:
    assert readable("\ufeffa = 1\r\nb = 2\rc = 3\n") == "a = 1\nb = 2\nc = 3\n"


def test_an_indented_text_is_read_as_if_it_were_not() -> None:
    assert readable("\n    a = 1\n    b = 2\n") == "\na = 1\nb = 2\n"


def test_blank_lines_inside_of_long_strings_stay() -> None:
    assert readable('a = """\n   \n"""\n') == 'a = """\n   \n"""\n'


def test_the_id_ignores_indentation_line_ends_and_trailing_blanks() -> None:
    same = ["x = 1\ny = 2", "\ufeffx = 1\r\ny = 2\r\n", "\n    x = 1  \n    y = 2\n\n", "x = 1\ry = 2"]
    assert len({template_id(text) for text in same}) == 1
    assert template_id("x = 1\ny = 2") != template_id("x = 1\ny = 3")
    assert template_id("\n  x = 1\n") == hashlib.md5(b"x = 1").hexdigest()


@pytest.mark.parametrize(
    "code",
    ["from {0}.schemas import BaseAnswer", "from {0} import schemas", "import {0}.schemas as k, re",
     "import {0}\nx = {0}.schemas.BaseAnswer\n\u00e9 = '{0}' ; {0}.schemas"],
)  # fmt: skip
def test_both_roots_of_imports_are_one_template(code: str) -> None:
    ours, theirs = code.format("karenina_core"), code.format("karenina")
    assert template_id(ours) == template_id(theirs.replace("'karenina'", "'karenina_core'"))
    assert upstream_spelling(ours) == theirs.replace("'karenina'", "'karenina_core'")
    assert upstream_spelling(theirs) == theirs


@pytest.mark.parametrize("code", ["x = 'karenina_core", "# karenina_core\r\n", "karenina_core2 = 1"])
def test_what_is_no_name_or_no_python_stays(code: str) -> None:
    assert upstream_spelling(code) == code


@settings(deadline=None)
@given(st.text())
def test_arbitrary_text_is_read_or_refused_with_a_reason(source: str) -> None:
    try:
        read_template(source)
    except TemplateError as error:
        assert error.code
        assert error.what


_PIECES = st.sampled_from(
    ["class Answer(BaseAnswer):\n", "    x: str", " = Field(", "description='d'", ")", "\n", "    def verify(self):\n",
     "        return ", "True", "VerifiedField(", "ground_truth=1", ", ", "verify_with=ExactMatch()", "Literal[", "]",
     "import re\n", "'", '"""', "#", "\\", "lambda: ", "@property\n", "    class VerificationStrategy:\n", "\t", "é",
     "{", "}", "x", "self.x", "super().verify()", "AllOf([", "FieldCheck('x')", "None", "1e999", "if x:\n", "yield"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_scrambled_templates_are_read_or_refused_with_a_reason(source: str) -> None:
    try:
        read_template(source)
    except TemplateError as error:
        assert error.code


def test_many_threads_that_read_leave_the_filters_of_warnings_as_they_were() -> None:
    before = list(warnings.filters)
    source = "class Answer(BaseAnswer):\n    a: str = Field(description='\\d')\n" + "# filling\n" * 150
    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            list(threads.map(lambda _: parse_module(source), range(8)))
    assert list(warnings.filters) == before
