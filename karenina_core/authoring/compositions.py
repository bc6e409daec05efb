"""How the fields of a form make the verdict: read and changed as typed data that need not be valid yet."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from karenina_core.authoring.linter.finding import FormData
from karenina_core.authoring.linter.nesting import check_nesting, unusable
from karenina_core.errors import InputError


class Composition(NamedTuple):
    """How field results make the verdict, as far as a form asks for it.

    Attributes:
        kind: `all_of`, `any_of`, `at_least_n`, or `nested` for what only the source can say.
        fields: The fields it looks at.
        n: How many must be right, for `at_least_n`.
    """

    kind: str
    fields: tuple[str, ...]
    n: int = 1


_Node = dict[str, Any]
_KINDS = ("all_of", "any_of", "at_least_n")


def verified_names(data: FormData) -> list[str]:
    """Return the names of the fields with a rule."""
    return [str(item.get("name")) for item in data["fields"] if item.get("verify_with")]


def composition_of(data: FormData) -> Composition:
    """Return how a form composes its fields.

    Raises:
        InputError: What it holds is no composition.
    """
    check_composition(data)
    strategy = data.get("verify_strategy")
    if not strategy:
        return Composition("all_of", tuple(verified_names(data)))
    if strategy["type"] == "field_check":
        return Composition("all_of", (strategy["field_name"],))
    if any(part["type"] != "field_check" for part in strategy["conditions"]):
        return Composition("nested", tuple(_named(strategy)))
    return Composition(strategy["type"], tuple(_named(strategy)), strategy.get("n") or 1)


def set_composition(data: FormData, kind: str, fields: Sequence[str], n: int = 1) -> FormData:
    """Return the form with another composition; all fields of all is what goes without saying.

    Raises:
        InputError: There is no composition of that name.
    """
    if kind not in _KINDS:
        raise InputError(f"{kind!r} is no way to compose fields.", next=f"Use one of: {', '.join(_KINDS)}.")
    # The old one goes, whatever it is; so it must not stand in the way.
    new = copy.deepcopy({name: value for name, value in data.items() if name != "verify_strategy"})
    wanted = list(fields) or verified_names(data)
    if kind == "all_of" and set(wanted) == set(verified_names(data)):
        return {**new, "verify_strategy": None}
    strategy: _Node = {"type": kind, "conditions": [field_check(name) for name in wanted]}
    if kind == "at_least_n":
        strategy["n"] = max(1, min(n, len(wanted)))
    return {**new, "verify_strategy": strategy}


def field_check(name: str) -> _Node:
    """Return the condition that a field is right."""
    return {"type": "field_check", "field_name": name}


def check_composition(data: FormData) -> None:
    """Check that the composition of a form has the shape of one, so that it can be walked through.

    Raises:
        InputError: It has not, or is nested too deeply.
    """
    check_nesting(data)
    whole = data.get("verify_strategy")
    waiting = [] if whole is None else [whole]
    while waiting:
        node = waiting.pop()
        problem = _problem(node)
        if problem:
            raise unusable(problem)
        waiting += node.get("conditions") or ()


def without_field(condition: Any, name: str) -> Any:
    """Return a composition that does not look at a field; None where nothing is left of it."""
    if condition is None:
        return None
    if condition["type"] == "field_check":
        return None if condition["field_name"] == name else condition
    parts = [kept for part in condition["conditions"] if (kept := without_field(part, name)) is not None]
    if not parts:
        return None
    more = {"n": min(condition["n"], len(parts))} if condition.get("n") is not None else {}
    return {**condition, "conditions": parts, **more}


def _problem(node: Any) -> str:
    """Say what is wrong with one condition; blank where nothing is."""
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "field_check":
        return "" if isinstance(node.get("field_name"), str) else "One of its conditions names no field."
    if not isinstance(kind, str) or kind not in _KINDS:
        return f"It holds something that is none of: field_check, {', '.join(_KINDS)}."
    if not isinstance(node.get("conditions"), list):
        return f"The conditions of {kind} are no list."
    n = node.get("n")
    if n is not None and (isinstance(n, bool) or not isinstance(n, int)):
        return "How many of its conditions must hold is no whole number."
    return ""


def _named(condition: _Node) -> list[str]:
    if condition["type"] == "field_check":
        return [condition["field_name"]]
    return [name for part in condition["conditions"] for name in _named(part)]
