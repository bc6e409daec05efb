"""Classes written in Python become sources."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, Field, HttpUrl, PositiveInt, create_model

from karenina_core.errors import InputError
from karenina_core.schemas.entities import AnyOf, BaseAnswer, FieldCheck, VerifiedField
from karenina_core.schemas.primitives import (
    DateMatch,
    ExactMatch,
    LiteralMatch,
    NumericExact,
    NumericRange,
    OrderedMatch,
    SetContainment,
    TraceContains,
)
from karenina_core.templates import Sandbox, build_parsing_schema, read_template, source_of, write_template
from karenina_core.templates.live import spec_of

LIMIT = 3
NAMES = ("bcl2", "bax")
PATTERN = re.compile(r"[a-z]+\d", re.IGNORECASE)


class Route(str, Enum):  # noqa: UP042 - the common spelling
    ORAL = "oral"
    OTHER = "other"


class Site(BaseModel):
    """A place."""

    city: str = Field(description="Its name")


def clean(text: str) -> str:
    return text.strip().lower()


def known(text: str) -> bool:
    return clean(text) in NAMES


def test_a_class_with_methods_brings_what_it_uses(sandbox: Sandbox) -> None:
    class Answer(BaseAnswer):
        gene: str = Field(description="Gene")
        route: Route = Field(description="Route")
        sites: list[Site] = Field(description="Sites")

        def ground_truth(self) -> None:
            self.correct = {"since": date(2020, 1, 1), "root": math.sqrt(4)}

        def verify(self) -> bool:
            return (
                known(self.gene)
                and PATTERN.search(self.gene) is not None
                and len(self.sites) < LIMIT
                and self.route.value == "oral"
                and self.sites[0] == Site(city="Basel")
                and Counter(self.gene)["b"] == 0
            )

    source = source_of(Answer)
    template = read_template(source)
    values = template.validate_reply({"gene": " BCL2", "route": "oral", "sites": [{"city": "Basel"}]})
    assert template.evaluate(values, "", sandbox=sandbox).verdict is True
    assert Answer(gene=" BCL2", route=Route.ORAL, sites=[Site(city="Basel")]).verify() is True
    assert source.index("def clean") < source.index("def known") < source.index("class Answer")
    assert "import os" not in source


def test_the_right_one_of_several_classes_of_a_name_is_found() -> None:
    def make(truth: str) -> type[BaseAnswer]:
        class Answer(BaseAnswer):
            first: str

            def verify(self) -> bool:
                return self.first == "a"

        del truth
        return Answer

    class Answer(BaseAnswer):
        second: str

        def verify(self) -> bool:
            return self.second == "b"

    assert "first" in source_of(make(""))
    assert "second" in source_of(Answer)


def test_a_class_of_fields_is_written_from_them() -> None:
    class Answer(BaseAnswer):
        gene: str = VerifiedField(description="Gene", ground_truth="BCL2", verify_with=ExactMatch(), weight=2)
        phase: Literal["I", "II"] | None = VerifiedField(
            description="Phase", ground_truth="I", verify_with=ExactMatch(), extraction_hint="Roman."
        )
        share: float = VerifiedField(description="Share", ground_truth=0, verify_with=NumericRange(max=1), ge=0)
        names: list[str] = VerifiedField(description="Names", ground_truth=["a"], verify_with=SetContainment())
        route: Route = Field(Route.ORAL, description="Route", examples=["oral"])
        sites: dict[str, Site] = Field(default_factory=dict)
        when: tuple[date, ...] | None = None

        class VerificationStrategy:
            verify_strategy = AnyOf([FieldCheck("gene"), FieldCheck("phase")])

    spec = read_template(source_of(Answer)).spec
    assert [item.type for item in spec.fields] == ["str", "other", "float", "list_str", "literal", "other", "other"]
    assert spec.composition == "any_of"
    assert spec.models[0].description == "A place."
    assert spec.fields[2].options == {"ge": 0}
    assert spec.fields[4].options == {"default": "oral", "examples": ["oral"]}
    assert (
        read_template(source_of(Answer)).answer_class(gene="bcl2", phase=None, share=0, names=[]).verify()
        == Answer(gene="bcl2", phase=None, share=0, names=[]).verify()
    )


class Answer(BaseAnswer):
    gene: str = VerifiedField(description="Gene", ground_truth="BCL2", verify_with=ExactMatch())  # HGNC symbol


def test_the_text_of_a_class_is_kept_where_it_says_the_same() -> None:
    assert "# HGNC symbol" in source_of(Answer)


def test_a_class_without_a_text_is_written_from_its_fields() -> None:
    made: Any = create_model(
        "Answer",
        __base__=BaseAnswer,
        x=(int, VerifiedField(description="x", ground_truth=1, verify_with=NumericRange(min=0))),
    )
    assert read_template(source_of(made)).answer_class(x=1).verify()


def test_what_cannot_be_written_is_said() -> None:
    class Complex(BaseAnswer):
        x: complex = VerifiedField(description="x", ground_truth=1, verify_with=ExactMatch())

    class Empty(BaseAnswer):
        x: str

    Complex.__name__ = Empty.__name__ = "Answer"
    for cls, reason in (
        (Complex, "complex"),
        (Empty, "verifies nothing"),
        (create_model("Drug", __base__=BaseAnswer), "must be named Answer"),
    ):
        with pytest.raises(InputError, match=reason):
            source_of(cls)


def test_further_types_mean_the_same_in_classes_and_sources() -> None:
    class Answer(BaseAnswer):
        pair: tuple[str, int] = VerifiedField(description="p", ground_truth=("a", 1), verify_with=OrderedMatch())
        p_value: Decimal = VerifiedField(description="d", ground_truth=Decimal("0.05"), verify_with=NumericExact())
        key: UUID = VerifiedField(description="k", ground_truth=UUID(int=5), verify_with=ExactMatch())
        keys: set[UUID] = VerifiedField(description="k", ground_truth=[str(UUID(int=5))], verify_with=SetContainment())
        site: HttpUrl = VerifiedField(description="u", ground_truth="https://a.org/b", verify_with=ExactMatch())
        span: timedelta = VerifiedField(description="t", ground_truth=timedelta(days=3), verify_with=ExactMatch())
        raw: bytes = VerifiedField(description="b", ground_truth=b"abc", verify_with=ExactMatch())
        day: date = VerifiedField(description="d", ground_truth=date(2016, 4, 11), verify_with=DateMatch())
        count: PositiveInt = VerifiedField(description="c", ground_truth=3, verify_with=NumericExact())
        names: list[Annotated[str, Field(min_length=2)]] = VerifiedField(
            description="n", ground_truth=["ab"], verify_with=SetContainment()
        )

    reply = {
        "pair": ["a", 1], "p_value": 0.05, "key": str(UUID(int=5)), "keys": [str(UUID(int=5))],
        "site": "https://a.org/b", "span": "P3D", "raw": "abc", "day": "2016-04-11", "count": 3, "names": ["ab"],
    }  # fmt: skip
    assert Answer.model_validate(reply).verify()
    for source in (source_of(Answer), write_template(spec_of(Answer))):
        template = read_template(source)
        evaluation = template.evaluate(template.validate_reply(reply), "")
        assert evaluation.verdict, {item.name: item.reason for item in evaluation.fields}
        stored = {item.name: item.extracted for item in evaluation.fields}
        assert json.loads(json.dumps(stored)) == stored
        assert template.verdict(stored, "")
        assert build_parsing_schema(Answer) == template.judge_schema()
        with pytest.raises(InputError, match="greater than 0"):
            template.validate_reply({**reply, "count": 0})


def test_an_answer_may_hold_another_and_validators_in_types_are_said() -> None:
    dose: Any = create_model("Dose", __base__=BaseAnswer, amount=(Decimal, Field(description="Amount")))
    rule = VerifiedField(description="x", ground_truth=["a"], verify_with=SetContainment())
    made: Any = create_model("Answer", __base__=BaseAnswer, x=(list[str], rule), dose=(dose, Field(description="d")))
    template = read_template(source_of(made))
    assert str(template.validate_reply({"x": ["a"], "dose": {"amount": "1.50"}})["dose"].amount) == "1.50"
    stripped: Any = create_model(
        "Answer", __base__=BaseAnswer, x=(list[Annotated[str, AfterValidator(str.strip)]], rule)
    )
    with pytest.raises(InputError, match="validator"):
        source_of(stripped)


def test_the_schema_of_a_class_is_that_of_its_source() -> None:
    class Answer(BaseAnswer):
        x: Literal["I", "II"] = VerifiedField(description="phase", ground_truth="II", verify_with=LiteralMatch())
        cites: bool = VerifiedField(description="c", ground_truth=True, verify_with=TraceContains(substring="NCT"))

    schema = build_parsing_schema(Answer)
    assert schema == read_template(source_of(Answer)).judge_schema()
    assert list(schema["properties"]) == ["x"]


def test_methods_without_a_text_are_said() -> None:
    names: dict[str, Any] = {"BaseAnswer": BaseAnswer}
    exec("class Answer(BaseAnswer):\n    x: str\n    def verify(self):\n        return True\n", names)
    with pytest.raises(InputError, match="cannot be found"):
        source_of(names["Answer"])
