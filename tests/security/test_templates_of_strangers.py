"""Templates made to break out, to hang or to lie: all end as errors, none as right or wrong answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from karenina_core.benchmark import load_checkpoint
from karenina_core.errors import TemplateError
from karenina_core.templates import Sandbox, read_template
from tests.security.road import assert_not_scored, file_of, own_code, travel

MARK = "class Answer(BaseAnswer):\n"
VERIFY = "    def verify(self):\n        return True\n"


def field(text: str, before: str = "", after: str = "") -> str:
    return f"{before}{MARK}    x: {text}\n{after or VERIFY}"


def verified(kind: str, truth: str, rule: str) -> str:
    return field(f"{kind} = VerifiedField(description='d', ground_truth={truth}, verify_with={rule})")


# What must be refused while reading, with the code and the line of the refusal.
UNREADABLE: dict[str, tuple[str, str, int | None]] = {
    "a default that calls": (field("str = Field(default=__import__('os').system('id'))"), "unknown_call", 2),
    "a description that calls": (field("str = Field(description=open('/etc/passwd').read())"), "unknown_call", 2),
    "a call as annotation": (field("__import__('os').getenv('HOME') = Field(description='d')"), "type", 2),
    "a text annotation that calls": (field("\"__import__('os').system('id')\" = Field(description='d')"), "type", 2),
    "a class decorator": (f"@evil\n{field('str')}", "decorator", None),
    "a metaclass": (field("str").replace("(BaseAnswer)", "(BaseAnswer, metaclass=M)"), "bases", 1),
    "a second base": (field("str").replace("(BaseAnswer)", "(BaseAnswer, Evil)"), "bases", 1),
    "a computed base": (field("str").replace("(BaseAnswer)", "(type('B', (), {}))"), "bases", None),
    "a validator": (
        field("str", after="    @field_validator('x', mode='before')\n    def v(c, v):\n        return v\n"),
        "unsupported", 3),
    "a validating type": (field("Annotated[int, BeforeValidator(print)] = Field(description='d')"), "type", 2),
    "a factory": (field("list = Field(default_factory=lambda: print(1))"), "field_option", 2),
    "a configuration with code": (
        field("str", after=f"    model_config = {{'x': lambda: 1}}\n{VERIFY}"), "model_config", 3),
    "a field named model_validate": (field("str").replace("x:", "model_validate:"), "reserved", 2),
    "a field named __class__": (field("str").replace("x:", "__class__:"), "reserved", 2),
    "a field named correct": (field("str").replace("x:", "correct:"), "reserved", 2),
    "a truth that calls": (verified("str", "f()", "ExactMatch()"), "unknown_call", 2),
    "a rule of one's own": (verified("str", "'a'", "Mine()"), "unknown_call", 2),
    "options unpacked": (field("str = Field(**{'description': 'd'})"), "field_option", 2),
    "a bound that is no number": (field("int = Field(description='d', ge='a')"), "field_option", None),
    "a pattern of another engine": (field("str = Field(description='d', pattern='(?=a)b')"), "schema", None),
    "ten thousand choices": (
        field(f"Literal[{','.join(map(str, range(10_000)))}] = Field()"), "type", 2),
    "types sixty deep": (field(f"{'list[' * 60}int{']' * 60} = Field(description='d')"), "type", 2),
    "a pattern that does not compile": (verified("bool", "True", "TraceRegex(pattern='(')"), "bad_primitive", 2),
    "a pattern of 50 KB": (verified("bool", "True", f"TraceRegex(pattern='{'a' * 50_000}')"), "bad_primitive", 2),
    "a pattern that multiplies": (
        verified("bool", "True", "TraceRegex(pattern='(?:(?:a{1000}){1000}){1000}')"), "bad_primitive", 2),
    "a foreign flag": (verified("str", "'a'", "RegexMatch(pattern='a', flags=['__class__'])"), "bad_primitive", 2),
    "a class of another engine": (verified("bool", "True", r"TraceRegex(pattern='\\p{L}')"), "bad_primitive", 2),
    "nothing": ("", "no_answer", None),
    "only a comment": ("# class Answer", "no_answer", None),
    "no Python": ("class Answer(BaseAnswer:\n    pass", "syntax", 1),
    "two answers": (field("str") + "\n" + field("str"), "many_answers", None),
    "a megabyte": (f"{field('str')}#{'x' * 1_000_000}", "too_large", None),
    "a NUL": (f"{field('str')}#\0", "nul", None),
    "half a surrogate pair": (f"{field('str')}#\ud800", "bad_unicode", None),
    "sixty kilobytes of minus": (f"x = {'-' * 60_000}1", "too_deep", None),
    "sixty kilobytes of not": (f"x = {'not ' * 15_000}1", "too_deep", None),
    "nested lambdas": (f"x = {'lambda: ' * 8_000}1", "too_deep", None),
    "nested conditions": (f"x = {'1 if 1 else ' * 5_000}1", "too_deep", None),
    "twenty thousand attributes": (f"x = a{'.a' * 20_000}", "too_deep", None),
    "ten thousand parentheses": (f"x = {'(' * 10_000}1{')' * 10_000}", "syntax", None),
    "nested f-strings": ("x = " + "f'{" * 200 + "1" + "}'" * 200, "", None),
    "a number of five thousand digits": (f"x = {'9' * 5_000}", "syntax", None),
    "five thousand fields": (MARK + "".join(f"    f{n}: str\n" for n in range(5_000)), "", None),
    "an indented bomb": ("if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 120)) + " " * 120 + "x", "", None),
    "a star import": (f"from os import *\n{field('str')}", "", None),
    "a walrus in a default": (field("str = Field(description=(y := 'd'))"), "", None),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_template_that_may_not_be_read_is_refused_at_its_line(name: str) -> None:
    source, code, line = UNREADABLE[name]
    with pytest.raises(TemplateError) as caught:
        template = read_template(source)
        template.evaluate({"x": "a"}, "")
    assert caught.value.code == code or not code
    assert caught.value.code
    assert line is None or caught.value.line == line


STORABLE = [name for name, (text, *_) in UNREADABLE.items() if len(text) < 60_000 and "\ud800" not in text]


@pytest.mark.parametrize("name", STORABLE)
def test_its_question_is_not_scored_and_costs_no_call(name: str, tmp_path: Path) -> None:
    source = UNREADABLE[name][0]
    arrival = travel(file_of(source), tmp_path)
    failure = arrival.result.failure
    assert failure is not None
    assert_not_scored(arrival.result, failure.category)
    assert failure.category in ("template_validation", "template_execution", "no_template")
    if failure.category == "template_validation":
        assert arrival.result.usage.calls == 0


# Own code, as the body of `verify`: walks through objects, imports, files, network, lies, and exhaustion.
ESCAPES: dict[str, list[str]] = {
    "subclasses": ["return ().__class__.__base__.__subclasses__()"],
    "method resolution order": ["return type(self).__mro__[1].__subclasses__()"],
    "globals of a method": ["return self.verify.__globals__['__builtins__']"],
    "globals of a lambda": ["return (lambda: 0).__globals__"],
    "code object": ["return (lambda: 0).__code__.co_consts"],
    "closure": ["y = 1", "f = lambda: y", "return f.__closure__[0].cell_contents"],
    "builtins of print": ["return print.__self__"],
    "bound method of a list": ["return [].append.__self__.__class__.__base__"],
    "format string walk": ["return '{0.__class__.__init__.__globals__}'.format(self)"],
    "format map walk": ["return '{x.__class__}'.format_map({'x': self})"],
    "generator frame": ["g = (i for i in [1])", "return g.gi_frame.f_back.f_globals"],
    "traceback frame": ["try:", "    1 / 0", "except Exception as e:", "    return e.__traceback__.tb_frame.f_globals"],
    "attribute error object": ["try:", "    self.nothing", "except AttributeError as e:", "    return e.obj.__dict__"],
    "coroutine frame": ["async def c():", "    pass", "return c().cr_frame.f_back"],
    "getattr by name": ["return getattr(self, '__' + 'class__').__base__"],
    "vars": ["return vars(self)['__class__']"],
    "dir and getattr": ["return [getattr(self, n) for n in dir(self)]"],
    "import os": ["import os", "return os.system('id') == 0"],
    "import by name": ["return __import__('os').system('id') == 0"],
    "wide letters": ["return __ｉｍｐｏｒｔ__('os')"],
    "importlib": ["import importlib", "return importlib.import_module('os')"],
    "loader": ["return __loader__.load_module('os')"],
    "builtins module": ["import builtins", "return builtins.open('/etc/passwd')"],
    "eval of an import": ["return eval('__import__(\"os\")')"],
    "exec of an import": ["exec('import os; os.system(\"id\")')", "return True"],
    "compile": ["return compile('1', '', 'eval')"],
    "sys modules": ["import sys", "return sys.modules['os']"],
    "open a file": ["return open('/etc/passwd').read()"],
    "write a file": ["open('/tmp/escaped', 'w').write('x')", "return True"],
    "pathlib": ["from pathlib import Path", "return Path('/etc/passwd').read_text()"],
    "process file system": ["return open('/proc/self/environ').read()"],
    "environment": ["import os", "return os.environ['HOME']"],
    "getenv": ["import os", "return os.getenv('HOME') + 'x'"],
    "socket": ["import socket", "return socket.create_connection(('127.0.0.1', 1))"],
    "urllib": ["import urllib.request", "return urllib.request.urlopen('http://127.0.0.1')"],
    "subprocess": ["import subprocess", "return subprocess.run(['id'])"],
    "ctypes": ["import ctypes", "return ctypes.CDLL(None)"],
    "pickle": ["import pickle", "return pickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.')"],
    "signal": ["import signal", "return signal.alarm(1)"],
    "threading": ["import threading", "return threading.Thread()"],
    "multiprocessing": ["import multiprocessing", "return multiprocessing.Process()"],
    "fork": ["import os", "return os.fork()"],
    "input": ["return input()"],
    "breakpoint": ["return breakpoint()"],
    "exit": ["exit()"],
    "system exit": ["raise SystemExit(0)"],
    "keyboard interrupt": ["raise KeyboardInterrupt"],
    "assertion as control": ["assert False, 'no'"],
    "the driver's values": ["return _karenina_values['x'].__class__"],
    "the driver's verdict": ["global _karenina_verdict", "_karenina_verdict = True"],
    "forever": ["while True:", "    pass"],
    "forever, swallowing": ["try:", "    while True:", "        pass", "except BaseException:", "    return True"],
    "doubling": ["x = [1]", "while True:", "    x = x + x"],
    "a text of a terabyte": ["return 'a' * 10 ** 12"],
    "a tower of powers": ["return 9 ** 9 ** 9 ** 9"],
    "a shift": ["return 1 << (1 << 34)"],
    "a range as a list": ["return list(range(10 ** 10))"],
    "a wide format": ["return '{:>999999999999}'.format(1)"],
    "a joined product": ["import itertools", "return list(itertools.product(range(100), repeat=8))"],
    "a hostile regex": ["import re", "return re.search('(a|aa)+$', 'a' * 60 + 'b') is None and 1"],
    "recursion": ["return self.verify()"],
    "mutual recursion": ["def a():", "    return b()", "def b():", "    return a()", "return a()"],
    "deep json": ["import json", "return json.loads('[' * 100_000)"],
    "printing": ["for i in range(10 ** 6):", "    print('x' * 1000)", "return True"],
    "an endless sleep": ["import time", "time.sleep(10 ** 9)"],
    "an endless wait": ["import asyncio", "return asyncio.sleep(10 ** 9)"],
    "a million unknown names":
        ["for i in range(10 ** 6):", "    try:", "        missing", "    except NameError:", "        pass"],
    "an exception of 20 MB": ["raise ValueError('x' * 20_000_000)"],
    "an object with a mind": ["class Sly:", "    def __bool__(self):", "        return True", "return Sly()"],
    "a text": ["return 'True'"],
    "a number": ["return 1"],
    "nothing": ["pass"],
    "a cycle": ["x = []", "x.append(x)", "return x"],
    "a tuple": ["return True, True"],
    "hidden expectations": ["self.correct = 'x' * 100_000", "return True"],
    "deep expectations": ["x = []", "for i in range(500):", "    x = [x]", "self.correct = x", "return True"],
}  # fmt: skip


@pytest.mark.parametrize("name", ESCAPES)
def test_own_code_that_misbehaves_is_an_error_with_a_code(name: str, quick_sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(own_code(*ESCAPES[name])).evaluate({"x": "a"}, "trace", sandbox=quick_sandbox)
    assert caught.value.code in ("import", "raised", "unsupported", "timeout", "memory", "recursion", "bad_result")
    assert len(str(caught.value)) < 2_000
    assert not Path("/tmp/escaped").exists()


@pytest.mark.parametrize(
    "name",
    ["subclasses", "import os", "open a file", "forever, swallowing", "a tower of powers", "recursion", "a text",
     "an object with a mind", "system exit", "an exception of 20 MB", "deep expectations", "nothing"],
)  # fmt: skip
def test_its_error_is_stored_and_exported_as_an_error(name: str, tmp_path: Path) -> None:
    arrival = travel(file_of(own_code(*ESCAPES[name])), tmp_path)
    assert_not_scored(arrival.result, "template_validation" if name == "import os" else "template_execution")
    assert ",not_evaluated,," in arrival.csv
    if name in ("subclasses", "open a file", "recursion"):
        assert_not_scored(arrival.result, "template_execution", line=5)


@pytest.mark.parametrize("score", ["float('nan')", "float('inf')", "10 ** 4000", "1e308", "-1", "'1'", "[1]", "self"])
def test_a_score_that_is_none_is_an_error(score: str, tmp_path: Path) -> None:
    arrival = travel(file_of(own_code("return True", granular=score)), tmp_path)
    assert_not_scored(arrival.result, "template_execution")


def test_expectations_in_a_circle_are_cut(quick_sandbox: Sandbox) -> None:
    source = own_code("self.correct = {}", "self.correct['self'] = self.correct", "return True")
    assert read_template(source).evaluate({"x": "a"}, "", sandbox=quick_sandbox).expected == {"self": "{...}"}


def test_nothing_is_remembered_from_one_evaluation_to_the_next(quick_sandbox: Sandbox) -> None:
    template = read_template(own_code("SEEN.append(1)", "return len(SEEN) == 1", before="SEEN = []"))
    assert [template.evaluate({"x": "a"}, "", sandbox=quick_sandbox).verdict for _ in range(3)] == [True] * 3


def test_the_clock_stands_still(quick_sandbox: Sandbox) -> None:
    source = own_code(
        "import datetime", "self.correct = str(datetime.datetime.now())",
        "return True",
    )  # fmt: skip
    first, second = (read_template(source).evaluate({"x": "a"}, "", sandbox=quick_sandbox).expected for _ in range(2))
    assert first == second


def test_an_error_after_a_bad_neighbour_harms_nobody(quick_sandbox: Sandbox) -> None:
    good = read_template(own_code("return self.x == 'a'"))
    for lines in ESCAPES["doubling"], ESCAPES["forever"], ESCAPES["a tower of powers"]:
        with pytest.raises(TemplateError):
            read_template(own_code(*lines)).evaluate({"x": "a"}, "", sandbox=quick_sandbox)
        assert good.evaluate({"x": "a"}, "", sandbox=quick_sandbox).verdict is True


@pytest.mark.parametrize("name", ["import os", "forever", "a default that calls", "two answers"])
def test_opening_checking_and_writing_a_file_runs_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        pytest.fail("a sandbox was started")

    monkeypatch.setattr(Sandbox, "_start", started)
    monkeypatch.setattr(Sandbox, "run", started)
    source = own_code(*ESCAPES[name]) if name in ESCAPES else UNREADABLE[name][0]
    benchmark, _ = load_checkpoint(file_of(source))
    benchmark.check()
    benchmark.to_csv()
    benchmark.to_markdown()
    [question_id] = benchmark.get_question_ids()
    assert benchmark.get_template(question_id) == source
    assert load_checkpoint(benchmark.to_json().encode())[0].get_template(question_id) == source


def test_a_byte_order_mark_and_foreign_line_ends_are_read(tmp_path: Path) -> None:
    source = "\ufeff" + own_code("return self.x == 'a'").replace("\n", "\r\n")
    assert travel(file_of(source), tmp_path).result.verdict == "pass"


@pytest.mark.parametrize("kind", ["callable_code", "stateUpdateSource", "conditionSource", "evaluateSource"])
def test_code_kept_in_files_is_written_back_byte_for_byte_and_never_loaded(kind: str, tmp_path: Path) -> None:
    payload = "gASVHgAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg=="
    arrival = travel(file_of(**{kind: payload}), tmp_path)
    assert arrival.result.verdict == "pass"
    assert payload in arrival.benchmark.to_json()
