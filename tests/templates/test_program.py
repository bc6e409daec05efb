"""What authors write that the sandbox does not know by itself, and that still works on the author's lines."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.errors import TemplateError
from karenina_core.templates import Evaluation, Sandbox, read_template
from karenina_core.templates.reader import read_source


@pytest.fixture
def run(sandbox: Sandbox) -> Any:
    def evaluate(source: str, **values: Any) -> Evaluation:
        template = read_template(source)
        return template.evaluate(template.validate_reply(values), "", sandbox=sandbox)

    return evaluate


def verdict_of(run: Any, *lines: str, head: str = "", **values: Any) -> bool | None:
    """Return the verdict of a template whose `verify` has the given lines."""
    body = "\n".join(f"        {line}" for line in lines)
    source = f"{head}\nclass Answer(BaseAnswer):\n    x: str = Field(description='d')\n    def verify(self):\n{body}\n"
    outcome: Evaluation = run(source, **{"x": "a", **values})
    return outcome.verdict


FULL = '''
"""Template for a question."""
from __future__ import annotations

import re, typing
from enum import Enum
from karenina.schemas.entities import BaseAnswer
from pydantic import (
    BaseModel,
    Field,
)
from typing import Any, ClassVar, Literal, Optional

SYNONYMS = {"bcl-2": "BCL2"}
Phase = Literal["I", "II"]


def normal(name: str) -> str:
    """Normalise."""
    return SYNONYMS.get(name.strip().lower(), name)


class Route(str, Enum):
    ORAL = "oral"
    OTHER = "other"


class Drug(
    BaseModel,
):
    """A drug."""

    name: str = Field(
        description="Its name",
    )
    dose: float = Field(400.0, description="Dose"); unit: str = "mg"

    @staticmethod
    def clean(name):
        return name.lower()

    def label(self):
        return self.clean(self.name) + " " + str(self.dose)


class Answer(BaseAnswer):
    """The answer."""

    model_config = ConfigDict(extra="forbid")
    LIMIT: ClassVar[int] = 3
    _cache = {}
    target: str = Field(description="Target")
    phase: Optional[Phase] = Field(None, description="Phase")
    route: Route = Field(description="Route")
    drugs: list[Drug] = Field(description="Drugs")

    def model_post_init(self, __context: Any) -> None:
        super().model_post_init(__context)
        self.threshold = 0.5

    def ground_truth(self):
        self.correct = {"target": "BCL2", "drug": Drug(name="Venetoclax"), "route": Route.ORAL}

    @classmethod
    def limit(cls) -> int:
        return cls.LIMIT

    @staticmethod
    def same(a, b):
        return a == b

    @property
    def first(self) -> Drug:
        return self.drugs[0]

    def verify(self) -> bool:
        import typing
        found = next((drug for drug in self.drugs if drug.name), None)
        return (
            self.same(normal(self.target), self.correct["target"])
            and self.limit() == 3
            and self.first == self.correct["drug"]
            and found.label() == "venetoclax 400.0"
            and self.route.value == "oral" and self.route == Route.ORAL
            and len(self.model_dump()) == 4
            and re.search(r"""v  # the letter
                e""", self.first.clean(self.first.name), re.VERBOSE | re.IGNORECASE) is not None
        )


if __name__ == "__main__":
    print(Answer.__mro__)
parsed = Answer(target="BCL2")
print(parsed.verify())
'''
REPLY = {"target": "Bcl-2 ", "phase": None, "route": "oral", "drugs": [{"name": "Venetoclax", "dose": 400}]}


def test_a_full_blown_template_works(run: Any) -> None:
    outcome = run(FULL, **{**REPLY, "drugs": [{"name": "Venetoclax", "dose": 400, "unit": "mg"}]})
    assert outcome.verdict is True
    assert outcome.expected == {
        "target": "BCL2",
        "drug": {"name": "Venetoclax", "dose": 400.0, "unit": "mg"},
        "route": "oral",
    }
    assert run(FULL, **{**REPLY, "drugs": [{"name": "Venetoclax", "dose": 100}]}).verdict is False


def test_every_line_of_the_program_knows_its_line_in_the_source() -> None:
    program = read_source(FULL).program
    assert program is not None
    source, code = FULL.split("\n"), program.code.split("\n")
    methods = [number for number, line in enumerate(code) if "def " in line and "__init__" not in line]
    assert len(methods) > 8
    names = [(code[number].split("(")[0].split()[-1], source[program.lines[number] - 1]) for number in methods]
    assert all(f"def {name}(" in line for name, line in names)


def test_errors_behind_blanked_parts_name_the_right_line(run: Any) -> None:
    broken = FULL.replace("self.threshold = 0.5", "self.threshold = 1 / 0")
    with pytest.raises(TemplateError) as caught:
        run(broken, **REPLY)
    assert caught.value.line == broken.split("\n").index("        self.threshold = 1 / 0") + 1


def test_non_ascii_text_does_not_shift_anything(run: Any) -> None:
    lines = ['é = "naïve – ❤"; return self.x == "é"  # ❤']
    assert verdict_of(run, *lines, x="é") is True


@pytest.mark.parametrize(
    "expression",
    [
        "next(x for x in self.x) == 'a'",
        "next((x for x in self.x)) == 'a'",
        "next((x for x in self.x if x == 'z'), None) is None",
        "re.search('A  # letter', self.x, re.X | re.I) is not None",
        "re.compile('a b', flags=re.VERBOSE).search('ab') is not None",
        "re.fullmatch('A', self.x, re.IGNORECASE) is not None",
        "NumericTolerance(tolerance=0.05, mode='absolute').check(0.77, 0.72)",
        "ExactMatch(normalize=['lowercase', SynonymMap(mapping={'a': 'b'})]).check(self.x, 'B')",
        "SynonymMap(mapping={'a': 'b'}).apply(self.x) == 'b'",
        "TraceContains(substring='a').check_trace(self.x)",
        "DateMatch().check('April 11, 2016', '2016-04-11')",
        "string.ascii_lowercase[0] == self.x",
        "self.x in string.ascii_letters and mean([1, 3]) == 2",
    ],
)
def test_expressions_that_are_rewritten_or_handed_in(run: Any, expression: str) -> None:
    head = "import re, string\nfrom statistics import mean"
    assert verdict_of(run, f"return {expression}", head=head) is True


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("RegexMatch(pattern='a').check('a', None)", "NameError"),
        ("ExactMatch().to_dict() == {}", "AttributeError"),
        ("ExactMatch(normalize=['unknown']).check('a', 'a')", "cannot be built"),
        ("ExactMatch().check('a' * 300_000, 'a')", "too large"),
        ("ExactMatch().check([['a'] * 1000] * 1000, 'a')", "too large"),
        ("NumericExact().check(10 ** 9000, 1)", "too large"),
    ],
)
def test_primitives_handed_in_are_bounded(run: Any, expression: str, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason):
        verdict_of(run, f"return {expression}")


def test_a_renamed_primitive_is_handed_in_under_its_new_name(run: Any) -> None:
    head = "from karenina.schemas.primitives import ExactMatch as EM"
    assert verdict_of(run, "return EM().check(self.x, 'A')", head=head) is True


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("return f'{self.first}' == 'a' or self.first == 'a'", None),
        ("self.first = 1", "this use of the property 'first'"),
        ("return self.first.first", "this use of the property 'first'"),
    ],
)
def test_properties_are_called_where_that_is_clear(run: Any, line: str, what: str | None) -> None:
    clash = "    first: str = 'a'\n" if what and "first.first" in line else "    other: str = 'a'\n"
    source = (
        f"class Inner(BaseModel):\n{clash}\n"
        "class Answer(BaseAnswer):\n    x: str = Field(description='d')\n"
        "    @property\n    def first(self):\n        return self.x[0]\n"
        f"    def verify(self):\n        {line}\n"
    )
    if what is None:
        assert run(source, x="a").verdict is True
        return
    with pytest.raises(TemplateError) as caught:
        run(source, x="a")
    assert (caught.value.code, caught.value.line) == ("unsupported", 10)
    assert what in caught.value.what


ENUM = """
class Phase(Enum):
    I = "one"
    II = "two"

class Answer(BaseAnswer):
    x: Phase = Field(description="d")

    def verify(self):
        return {}
"""


@pytest.mark.parametrize(
    "expression",
    [
        "self.x is Phase.I",
        "self.x is not Phase.II",
        "self.x == Phase.I and Phase.I.value == 'one'",
        "self.x in (Phase.I, Phase.II)",
        "{{Phase.I: True}}[self.x]",
    ],
)
def test_members_of_enumerations_compare_as_in_python(run: Any, expression: str) -> None:
    assert run(ENUM.format(expression.replace("{{", "{").replace("}}", "}")), x="one").verdict is True


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("isinstance(self.x, Phase)", "unsupported"),
        ("self.x is  # why\\\n Phase.I", "syntax"),
        ("Phase('one') == self.x", "raised"),
        ("self.x.name == 'I'", "raised"),
    ],
)
def test_what_members_cannot_do_is_an_error_and_no_verdict(run: Any, expression: str, code: str) -> None:
    with pytest.raises(TemplateError) as caught:
        run(ENUM.format(expression), x="one")
    assert caught.value.code == code


def test_stored_values_are_as_good_as_fresh_ones(sandbox: Sandbox) -> None:
    template = read_template(FULL)
    outcome = template.evaluate(REPLY, "", sandbox=sandbox)
    stored = {item.name: item.extracted for item in outcome.fields}
    assert outcome.verdict is template.evaluate(stored, "", sandbox=sandbox).verdict is True


def test_moments_arrive_as_such(run: Any) -> None:
    source = (
        "from datetime import datetime, time\n"
        "class Answer(BaseAnswer):\n    at: datetime\n    t: time\n    many: list[datetime]\n"
        "    def verify(self):\n"
        "        return self.at.hour == 10 and self.t.minute == 30 and len(self.model_dump()) == 3\n"
    )
    assert run(source, at="2016-04-11T10:00:00Z", t="10:30", many=["2016-04-11T10:00:00+02:00"]).verdict is True


def test_tuples_and_sets_arrive_as_such(run: Any) -> None:
    source = (
        "class Answer(BaseAnswer):\n    t: tuple[str, ...]\n    s: set[int]\n    d: dict[str, list[int]]\n"
        "    def verify(self):\n        return self.t == ('a', 'b') and self.s == {1, 2} and self.d == {'k': [1]}\n"
    )
    assert run(source, t=["a", "b"], s=[2, 1, 2], d={"k": [1]}).verdict is True


def test_static_methods_work_through_the_class_and_the_instance(run: Any) -> None:
    source = (
        "class Answer(BaseAnswer):\n    x: str\n    @staticmethod\n    def up(text):\n        return text.upper()\n"
        "    def verify(self):\n        return Answer.up(self.x) == self.up(self.x) == 'A'\n"
    )
    assert run(source, x="a").verdict is True


def test_constants_behind_the_examples_are_kept(run: Any) -> None:
    source = (
        "class Answer(BaseAnswer):\n    x: str\n    def verify(self):\n        return len(LIST) == N\n"
        "parsed = Answer(x='a')\nseen = parsed.x\nLIST = ['a']\nN = len(LIST)\nprint(seen)\n"
    )
    assert run(source, x="a").verdict is True
