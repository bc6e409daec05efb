"""The documented template examples, with only the import root renamed: as Python, and as template sources."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import Field

from karenina_core.schemas.entities import BaseAnswer
from karenina_core.templates import Evaluation, read_template, source_of


def evaluated(cls: type[BaseAnswer], **values: object) -> Evaluation:
    """Evaluate the source of a class the way a benchmark does: read, validate the judge's reply, apply the rules."""
    template = read_template(source_of(cls))
    return template.evaluate(template.validate_reply(values), raw_trace="")


def test_the_simple_template(capsys: pytest.CaptureFixture[str]) -> None:
    class Answer(BaseAnswer):
        target: str = Field(description="The protein target of the drug mentioned in the response")

        def model_post_init(self, __context):
            self.correct = {"target": "BCL2"}

        def verify(self) -> bool:
            return self.target.strip().upper() == self.correct["target"].upper()

    # Simulate what the Judge LLM produces after parsing a response
    parsed = Answer(target="Bcl-2")
    print(f"Extracted target: {parsed.target!r}")
    print(f"Ground truth:     {parsed.correct['target']!r}")
    print(f"Verified:         {parsed.verify()}")

    assert capsys.readouterr().out == ("Extracted target: 'Bcl-2'\nGround truth:     'BCL2'\nVerified:         False\n")
    assert Answer(target=" bcl2").verify()
    assert evaluated(Answer, target="Bcl-2").verdict is False
    assert evaluated(Answer, target=" bcl2").verdict is True
    assert evaluated(Answer, target="Bcl-2").expected == {"target": "BCL2"}


def test_the_class_is_named_answer(capsys: pytest.CaptureFixture[str]) -> None:
    # Correct
    class Answer(BaseAnswer):
        value: str = Field(description="The answer value")

        def model_post_init(self, __context):
            self.correct = {"value": "42"}

        def verify(self) -> bool:
            return self.value.strip() == self.correct["value"]

    # This works:
    a = Answer(value="42")
    print(f"verify(): {a.verify()}")

    assert capsys.readouterr().out == "verify(): True\n"
    assert evaluated(Answer, value="42").verdict is True


def test_several_fields(capsys: pytest.CaptureFixture[str]) -> None:
    class Answer(BaseAnswer):
        element: str = Field(description="The chemical element name mentioned in the response")
        atomic_number: int = Field(description="The atomic number stated in the response")

        def model_post_init(self, __context):
            self.correct = {"element": "oxygen", "atomic_number": 8}

        def verify(self) -> bool:
            name_ok = self.element.strip().lower() == self.correct["element"]
            number_ok = self.atomic_number == self.correct["atomic_number"]
            return name_ok and number_ok

    # Both fields must match for verification to pass
    parsed = Answer(element="Oxygen", atomic_number=8)
    print(f"Element correct:  {parsed.element.strip().lower() == parsed.correct['element']}")
    print(f"Number correct:   {parsed.atomic_number == parsed.correct['atomic_number']}")
    print(f"Overall verify(): {parsed.verify()}")

    assert capsys.readouterr().out == ("Element correct:  True\nNumber correct:   True\nOverall verify(): True\n")
    assert evaluated(Answer, element="Oxygen", atomic_number=8).verdict is True
    assert evaluated(Answer, element="Oxygen", atomic_number=9).verdict is False


def test_partial_credit(capsys: pytest.CaptureFixture[str]) -> None:
    class Answer(BaseAnswer):
        capital: str = Field(description="The capital city mentioned")
        population: int = Field(description="The population figure stated")
        continent: str = Field(description="The continent mentioned")

        def model_post_init(self, __context):
            self.correct = {
                "capital": "paris",
                "population": 2161000,
                "continent": "europe",
            }

        def verify(self) -> bool:
            return (
                self.capital.strip().lower() == self.correct["capital"]
                and self.population == self.correct["population"]
                and self.continent.strip().lower() == self.correct["continent"]
            )

        def verify_granular(self) -> float:
            correct_count = 0
            if self.capital.strip().lower() == self.correct["capital"]:
                correct_count += 1
            if self.population == self.correct["population"]:
                correct_count += 1
            if self.continent.strip().lower() == self.correct["continent"]:
                correct_count += 1
            return correct_count / 3

    # 2 out of 3 fields correct
    parsed = Answer(capital="Paris", population=999, continent="Europe")
    print(f"verify():         {parsed.verify()}")
    print(f"verify_granular(): {parsed.verify_granular():.2f}")

    assert capsys.readouterr().out == "verify():         False\nverify_granular(): 0.67\n"
    outcome = evaluated(Answer, capital="Paris", population=999, continent="Europe")
    assert (outcome.verdict, outcome.granular) == (False, pytest.approx(2 / 3))
    outcome = evaluated(Answer, capital="Paris", population=2161000, continent="Europe")
    assert (outcome.verdict, outcome.granular) == (True, 1.0)


@pytest.mark.parametrize(
    ("field_type", "stated", "extracted"),
    [
        ("str", "BCL2", "BCL2"),
        ("int", 46, 46),
        ("float", 36.6, 36.6),
        ("bool", True, True),
        ("list[str]", ["BCL2", "BAX"], ["BCL2", "BAX"]),
        ("tuple[str, int]", ["BCL2", 1], ("BCL2", 1)),
        ("Decimal", "0.05", Decimal("0.05")),
        ("Annotated[int, Field(ge=0, le=50)]", 46, 46),
        ("PositiveInt", 46, 46),
        ("bytes", "BCL2", b"BCL2"),
        ("HttpUrl", "https://go.drugbank.com/drugs", "https://go.drugbank.com/drugs"),
        ("UUID", "00000000-0000-0000-0000-00000000002E", "00000000-0000-0000-0000-00000000002e"),
        ("timedelta", "P3D", timedelta(days=3)),
        ("dict[int, list[NonNegativeFloat]]", {"46": [36.6]}, {46: [36.6]}),
    ],
)
def test_the_field_types_of_the_table(field_type: str, stated: object, extracted: object) -> None:
    template = read_template(
        f"from datetime import timedelta\nfrom decimal import Decimal\nclass Answer(BaseAnswer):\n"
        f'    value: {field_type} = Field(description="The value stated in the response")\n\n'
        f"    def verify(self) -> bool:\n"
        f"        return self.value == {repr(extracted).removeprefix('datetime.')}\n"
    )
    evaluation = template.evaluate(template.validate_reply({"value": stated}), "")
    assert evaluation.verdict is True
    assert template.evaluate({"value": evaluation.fields[0].extracted}, "").verdict is True


def test_descriptions_are_what_the_judge_reads() -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        '    target: str = Field(description="The protein target of the drug mentioned in the response")\n'
        '    count: int = Field(description="The total count of items listed in the response, as an integer")\n\n'
        "    def verify(self) -> bool:\n"
        "        return True\n"
    )
    properties = template.judge_schema()["properties"]
    assert properties["target"]["description"] == "The protein target of the drug mentioned in the response"
    assert properties["count"]["description"] == ("The total count of items listed in the response, as an integer")
