from __future__ import annotations

from typing import get_args

import pytest

from karenina_core.schemas import Failure, FailureCategory


@pytest.mark.parametrize(
    ("category", "group"),
    [
        ("recursion_limit", "autofail"),
        ("abstention", "abstained"),
        ("no_template", "template"),
        ("parsing", "judge"),
        ("timeout", "provider"),
        ("unexpected", "provider"),
    ],
)
def test_a_failure_belongs_to_a_class(category: FailureCategory, group: str) -> None:
    assert Failure(category=category, stage="stage", reason="Because.").group == group


def test_every_category_has_a_class_of_its_own_or_is_the_providers() -> None:
    groups = {Failure(category=name, stage="s", reason="r").group for name in get_args(FailureCategory)}
    assert groups == {"autofail", "abstained", "template", "judge", "provider"}
