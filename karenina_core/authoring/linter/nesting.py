"""How deep the composition of a form may be, before anything walks through it."""

from __future__ import annotations

from karenina_core.authoring.linter.finding import FormData
from karenina_core.errors import InputError
from karenina_core.templates import MAX_DEPTH


def check_nesting(data: FormData) -> None:
    """Check that the composition of a form is a tree, no deeper than a source could hold it.

    Raises:
        InputError: It is not.
    """
    level = [data.get("verify_strategy")]
    for _ in range(MAX_DEPTH + 1):
        listed = [node["conditions"] for node in level if isinstance(node, dict) and "conditions" in node]
        if not all(isinstance(parts, list) for parts in listed):
            raise unusable("The conditions of a group are no list.")
        level = [part for parts in listed for part in parts]
        if not level:
            return
    raise unusable("It is nested too deeply.")


def unusable(why: str) -> InputError:
    """Return the error for a composition that is none."""
    return InputError(
        "The composition of the fields cannot be used.", why, "Choose another one, or correct the source."
    )
