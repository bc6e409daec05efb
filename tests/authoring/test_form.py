"""What a form shows of a source, and when it may only show."""

from __future__ import annotations

import pytest

from karenina_core.authoring import form_of
from karenina_core.templates import TemplateSpec

PLAIN = """\
class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=ExactMatch())
"""
CLASSIC = """\
class Answer(BaseAnswer):
    gene: str = Field(description="The gene")

    def verify(self) -> bool:
        return self.gene == "BCL2"
"""
OWN_RULE = """\
class Near(VerificationPrimitive):
    def check(self, extracted, expected):
        return extracted == expected


class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=Near())
"""


def test_a_blank_source_is_an_empty_form() -> None:
    view = form_of(" \n")
    assert view.editable and view.spec == TemplateSpec()


def test_a_declarative_template_can_be_edited() -> None:
    view = form_of(PLAIN)
    assert view.editable and view.spec is not None and view.reason is None
    assert [item.name for item in view.spec.fields] == ["gene"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [(CLASSIC, "has methods of its own"), (OWN_RULE, "defines Near itself")],
)
def test_own_code_is_shown_and_not_edited(source: str, reason: str) -> None:
    view = form_of(source)
    assert not view.editable and view.spec is not None
    assert reason in str(view.reason) and "Edit the source" in str(view.reason)


def test_an_unreadable_source_is_left_alone_and_the_form_says_why() -> None:
    view = form_of("class Answer(BaseAnswer):\n    gene = 3\n")
    assert view.spec is None and not view.editable
    assert view.line == 2 and "Line 2: 'gene' has no type" in str(view.reason)


def test_a_type_the_form_does_not_list_is_locked() -> None:
    view = form_of(PLAIN + "    seen: str | None = None\n")
    assert view.editable and list(view.locked) == ["seen"]
    assert "str | None" in view.locked["seen"]
