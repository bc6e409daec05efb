"""What is refused while reading, with its code and its line, and what is understood."""

from __future__ import annotations

import textwrap

import pytest

from karenina_core.errors import TemplateError
from karenina_core.schemas import FieldCheck
from karenina_core.templates import Template, read_template

HEAD = "class Answer(BaseAnswer):\n    x: str\n"
VERIFY = "\n    def verify(self):\n        return True\n"


def answer(*lines: str) -> str:
    """Return a template class with the given body lines and a verify method."""
    return "\n".join(["class Answer(BaseAnswer):", *(f"    {line}" for line in lines)]) + VERIFY


def refused(source: str) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        read_template(source)
    return caught.value


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x: str = Field(default=__import__('os').system('id'))", "unknown_call"),
        ("x: str = Field(default=open('/etc/passwd').read())", "unknown_call"),
        ("x: str = open('/etc/passwd')", "unknown_call"),
        ("x: __import__('os').system('id') = 'a'", "type"),
        ("x: \"__import__('os').system('id')\" = 'a'", "type"),
        ("x: \"list[open('f')]\" = 'a'", "type"),
        ("x: Annotated[int, BeforeValidator(print)] = 1", "type"),
        ("x: Literal[open('f')] = 1", "unknown_call"),
        ("x: Callable = None", "type"),
        ("x: dict[float, str] = {}", "type"),
        ("x: Annotated[int, Field(alias='y')] = 1", "type"),
        ("x: Annotated[int, Field(gt='a')] = 1", "field_option"),
        ("x: Decimal = Decimal('a')", "literal"),
        ("x: date = date(2016, 13, 1)", "literal"),
        ("x: date = date.today()", "unknown_call"),
        ("x: 1 = 1", "type"),
        ("x: list[str] = Field(default_factory=lambda: [])", "field_option"),
        ("x: str = Field(**{'description': 'd'})", "field_option"),
        ("x: str = Field(*['d'])", "field_option"),
        ("x: str = Field('a', 'b')", "field_option"),
        ("x: str = Field(alias='y')", "field_option"),
        ("x: str = Field(json_schema_extra={'a': 1})", "field_option"),
        ("x: str = Field(description=1)", "field_option"),
        ("x: int = Field(ge='a')", "field_option"),
        ("x: str = Field(min_length=-1)", "field_option"),
        ("x: int = Field(ge=1e999)", "literal"),
        ("x: int = Field(ge=1 / 0)", "literal"),
        ("x: int = 10 ** 9", "literal"),
        ("x: str = f'{1}'", "literal"),
        ("x: bool = true", "literal"),
        ("x: str = unknown", "literal"),
        ("x: int = {1: 2}", "literal"),
        ("model_config = ConfigDict(json_encoders=lambda: 1)", "model_config"),
        ("model_config = dict(a=1)", "model_config"),
        ("model_config: dict = make()", "model_config"),
        ("model_validate: str = 'a'", "reserved"),
        ("__class__: str = 'a'", "reserved"),
        ("correct: str = 'a'", "reserved"),
        ("verify: bool = True", "reserved"),
        ("id: str = 'a'", "reserved"),
        ("x = Field(description='d')", "untyped"),
        ("_x: str = PrivateAttr(default='a')", "unsupported"),
        ("print('hello')", "unsupported"),
        ("x: str = VerifiedField('d', 'a', ExactMatch())", "field_option"),
        ("x: str = VerifiedField(description='d', ground_truth='a')", "field_option"),
        ("x: str = VerifiedField(description=' ', ground_truth='a', verify_with=ExactMatch())", "field_option"),
        ("x: str = VerifiedField(description='d', ground_truth=a(), verify_with=ExactMatch())", "unknown_call"),
        ("x: str = VerifiedField(description='d', ground_truth=1, verify_with=TraceLength(min=1))", "type"),
    ],
)  # fmt: skip
def test_a_bad_definition_is_refused_with_its_line(line: str, code: str) -> None:
    error = refused(answer("first: str = Field(description='d')", line))
    assert (error.code, error.line) == (code, 3)


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("ExactMatch", "bad_primitive"),
        ("None", "bad_primitive"),
        ("Mine()", "unknown_call"),
        ("re.compile('a')", "unknown_call"),
        ("ExactMatch(['strip'])", "bad_primitive"),
        ("ExactMatch(type='a')", "bad_primitive"),
        ("ExactMatch(case=1)", "bad_primitive"),
        ("RegexMatch(pattern='(')", "bad_primitive"),
        (r"RegexMatch(pattern=r'\p{L}')", "bad_primitive"),
        ("RegexMatch(pattern='a', flags=['__class__'])", "bad_primitive"),
        ("ExactMatch(normalize=[SynonymMap({})])", "bad_primitive"),
        ("ExactMatch(), weight=-1", "field_option"),
        ("ExactMatch(), alias='y'", "field_option"),
    ],
)
def test_a_bad_rule_is_refused_with_its_line(rule: str, code: str) -> None:
    line = f"x: str = VerifiedField(description='d', ground_truth='a', verify_with={rule})"
    error = refused(answer("first: str = Field(description='d')", line))
    assert (error.code, error.line) == (code, 3)


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("", "no_answer", None),
        ("x = 1", "no_answer", 1),
        ("class Answer:\n    x: str", "bases", 1),
        ("import re\n@print\nclass Answer(BaseAnswer):\n    x: str", "decorator", 2),
        ("class Answer(BaseAnswer, metaclass=M):\n    x: str", "bases", 1),
        ("class Answer(BaseAnswer, Mixin):\n    x: str", "bases", 1),
        ("class Base(BaseAnswer):\n    x: str\nclass Answer(Base):\n    y: str", "bases", 3),
        ("class A(BaseAnswer):\n    x: str\nclass B(BaseAnswer):\n    y: str", "class_name", 1),
        ("class Answer(BaseAnswer):\n    x: str\nclass Answer(BaseAnswer):\n    y: str", "many_answers", 3),
        ("class Answer(BaseAnswer):\n    x: str = Field(description='d')", "no_verify", 1),
        ("import os\nclass Answer(BaseAnswer):\n    x: str", "import", 1),
        ("from subprocess import run\nclass Answer(BaseAnswer):\n    x: str", "import", 1),
        ("from . import other\nclass Answer(BaseAnswer):\n    x: str", "import", 1),
        ("class BaseAnswer:\n    pass\nclass Answer(BaseAnswer):\n    x: str", "bases", 3),
        ("import re\nclass Drug(BaseAnswer):\n    x: str", "class_name", 2),
        (answer("x: str", "x: int"), "duplicate", 3),
        (answer("x: str", "@field_validator('x', mode='plain')", "def f(cls, v):", "    return v"), "unsupported", 3),
        (answer("x: str", "@property", "@cache", "def y(self):", "    return 1"), "unsupported", 3),
        (answer("x: str", "def field_results(self):", "    return {}"), "reserved", 3),
        (answer("x: str", "def __init__(self):", "    pass"), "reserved", 3),
        (answer("x: str", "class Config:", "    pass"), "model_config", 3),
        (answer("x: str", "class Site(BaseModel):", "    name: str"), "unsupported", 3),
        (f"{HEAD}    async def verify(self):\n        return True", "unsupported", 3),
        (f"{HEAD}    @staticmethod\n    def verify():\n        return True", "unsupported", 1),
        (answer("x: str", "def words(self):", "    yield 1"), "unsupported", 4),
        (answer("x: str", "def words(self):", "    del self.x"), "unsupported", 4),
        (answer("x: str", "def words(self):", "    super().words()"), "unsupported", 4),
        (answer("x: str", "def f(self):", "    import os"), "import", 4),
        ("class Odd(Exception):\n    pass\n" + answer("x: str"), "unsupported", 1),
        ("class Node(BaseModel):\n    next: 'Node | None' = None\n" + answer("x: Node"), "type", 1),
        ("class Site(BaseModel):\n    pass\n" + answer("x: Site"), "type", 1),
        ("class S(BaseModel):\n    y: str\n    def model_post_init(self, c):\n        pass\n" + HEAD, "unsupported", 1),
        ("class Phase(Enum):\n    A = auto()\n" + answer("x: Phase"), "unknown_call", 2),
        ("class Phase(Enum):\n    A = 1.5\n" + answer("x: Phase"), "type", 2),
        ("class Phase(Enum):\n    pass\n" + answer("x: Phase"), "type", 1),
        ("class Phase(Enum):\n    def f(self):\n        return 1\n" + answer("x: Phase"), "type", 2),
    ],
)  # fmt: skip
def test_a_bad_structure_is_refused_with_its_line(source: str, code: str, line: int | None) -> None:
    error = refused(source)
    assert (error.code, error.line) == (code, line)


FIELD = "    x: str = VerifiedField(description='d', ground_truth='a', verify_with=ExactMatch())\n"


@pytest.mark.parametrize(
    ("strategy", "code"),
    [
        ("FieldCheck('y')", "strategy"),
        ("FieldCheck(1)", "strategy"),
        ("FieldCheck(field='x', field_name='x')", "strategy"),
        ("AllOf('x')", "strategy"),
        ("AllOf()", "strategy"),
        ("AllOf([FieldCheck('x')], 2)", "strategy"),
        ("AtLeastN(2, [FieldCheck('x')])", "strategy"),
        ("AtLeastN(n=0, conditions=[FieldCheck('x')])", "strategy"),
        ("all([FieldCheck('x')])", "strategy"),
        ("'x'", "strategy"),
        ("AllOf(*[[FieldCheck('x')]])", "strategy"),
    ],
)
def test_a_bad_composition_is_refused(strategy: str, code: str) -> None:
    source = (
        f"class Answer(BaseAnswer):\n{FIELD}    class VerificationStrategy:\n        verify_strategy = {strategy}\n"
    )
    assert refused(source).code == code


def test_a_literal_may_not_have_thousands_of_values() -> None:
    values = ", ".join(str(number) for number in range(1000))
    assert refused(answer(f"x: Literal[{values}]")).code == "type"


def test_types_may_not_be_nested_without_end() -> None:
    assert refused(answer(f"x: {'list[' * 30}str{']' * 30}")).code == "type"


def test_a_template_has_at_most_two_hundred_fields() -> None:
    assert refused(answer(*(f"x{number}: str" for number in range(201)))).code == "too_complex"


@pytest.mark.parametrize("line", ["x: str = Field(pattern='(?=a)b')", "x: list[Annotated[int, Field(gt='a')]] = []"])
def test_an_option_pydantic_cannot_use_is_refused(line: str) -> None:
    assert refused(answer(line)).code == "schema"


def read(source: str) -> Template:
    return read_template(textwrap.dedent(source))


def test_every_name_is_there_without_an_import() -> None:
    template = read("""
        class Answer(BaseAnswer):
            phase: Optional[Literal["I", "II"]] = VerifiedField(
                description="Phase", ground_truth="II", verify_with=LiteralMatch()
            )
        """)
    assert template.spec.fields[0].annotation == 'Literal["I", "II"] | None'


def test_imports_may_be_renamed_or_qualified() -> None:
    template = read("""
        import karenina.schemas.entities as k
        from karenina.schemas import primitives
        from karenina_core.schemas.primitives import ExactMatch as EM
        from pydantic import Field as F
        import typing as t

        class Answer(k.BaseAnswer):
            x: t.List[str] = F(description="x")
            y: str = k.VerifiedField(description="y", ground_truth="a", verify_with=EM())
            z: str = k.VerifiedField(description="z", ground_truth="a", verify_with=primitives.ExactMatch())
        """)
    assert [item.type for item in template.spec.fields] == ["list_str", "str", "str"]


def test_a_name_the_template_defines_hides_the_built_in_one() -> None:
    source = "def ExactMatch():\n    pass\n" + "class Answer(BaseAnswer):\n" + FIELD
    assert refused(source).code == "unknown_call"


def test_constants_type_names_and_plain_arithmetic_may_be_used_in_definitions() -> None:
    template = read("""
        SYNONYMS = {"bcl-2": "bcl2"}
        Phase = Literal["I", "II"]
        HALF: float = 1 / 2

        class Answer(BaseAnswer):
            phase: Phase = VerifiedField(description="a " "b" + " c", ground_truth="I", verify_with=LiteralMatch())
            gene: str = VerifiedField(
                description="gene",
                ground_truth=("BCL2"),
                verify_with=ExactMatch(normalize=["lowercase", SynonymMap(mapping=SYNONYMS)]),
                weight=HALF,
            )
        """)
    phase, gene = template.spec.fields
    assert (phase.type, phase.literal_values, phase.description) == ("literal", ["I", "II"], "a b c")
    assert gene.verify_with == {"type": "ExactMatch", "normalize": ["lowercase", {"mapping": {"bcl-2": "bcl2"}}]}
    assert gene.weight == 0.5


def test_a_constant_that_is_bound_twice_is_none() -> None:
    source = "TRUTH = 'a'\nTRUTH = 'b'\nclass Answer(BaseAnswer):\n" + FIELD.replace(
        "ground_truth='a'", "ground_truth=TRUTH"
    )
    assert refused(source).code == "literal"


@pytest.mark.parametrize("check", ["'x'", "field='x'", "field_name='x'"])
def test_a_composition_names_its_fields_in_any_spelling(check: str) -> None:
    strategy = f"    class VerificationStrategy:\n        verify_strategy = FieldCheck({check})\n"
    template = read(f"class Answer(BaseAnswer):\n{FIELD}{strategy}")
    assert template.spec.verify_strategy == FieldCheck(field="x") == FieldCheck("x") == FieldCheck(field_name="x")


def test_a_validator_of_a_field_with_a_rule_is_refused() -> None:
    source = f"class Answer(BaseAnswer):\n{FIELD}    @field_validator('x')\n    def lower(cls, v):\n        return v\n"
    assert (refused(source).code, refused(source.replace("('x')", "('*')")).code) == ("unsupported", "unsupported")


def test_what_has_no_effect_is_said() -> None:
    template = read("""
        class Other(BaseAnswer):
            x: str

        class Answer(BaseAnswer):
            model_config = ConfigDict(extra="forbid")
            x: str = VerifiedField(description="d", ground_truth="a", verify_with=ExactMatch())
            y: int

            def helper(self):
                return 1

        print(Answer(x="a", y=1).verify())
        """)
    assert template.warnings == (
        "Answer classes beside Answer are ignored.",
        "model_config has no effect.",
        "The field y has no description for the judge.",
        "The field y is extracted, but nothing verifies it.",
        "The method helper is never used.",
        "Examples of use are ignored (line 13).",
    )
    assert template.style == "declarative"
