"""`lint_form`: what is wrong with a form while it is typed, before it makes a template."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from karenina_core.authoring.forms import FormData, strategy_of
from karenina_core.authoring.linter.findings import Finding, Fix
from karenina_core.authoring.linter.templates import lint
from karenina_core.errors import InputError, validation_message
from karenina_core.templates import FieldSpec, TemplateSpec, is_reserved

_Field = dict[str, Any]
_WHY = "The form makes no template yet."


def lint_form(data: FormData, **known: Any) -> list[Finding]:
    """Return what could be better in what was typed so far, the gravest first.

    Data that make a template are looked at by `lint`; data that do not get a finding for everything in the way.

    Args:
        data: The JSON data of a `TemplateSpec`, valid or not; it is left as it is.
        **known: What `lint` takes beside the template: question, reference answer, configuration of the run.
    """
    try:
        strategy_of(data)
        return lint(TemplateSpec.model_validate(data), **known)
    except InputError as error:
        return [Finding("form_incomplete", "error", None, error.what, error.why, error.next)]
    except ValidationError:
        return list(_obstacles(data))


def _obstacles(data: FormData) -> Iterator[Finding]:
    """Yield the first thing in the way of every field; when there is none, what is in the way of the whole."""
    items: Any = data.get("fields")
    items = items if isinstance(items, list) and all(isinstance(item, dict) for item in items) else []
    bad = [(item, problem) for item in items if (problem := _complaint(FieldSpec, item)) is not None]
    for item, problem in bad:
        name = re.sub(r"\W+", "_", str(item.get("name") or "").strip(), flags=re.ASCII).strip("_").lower()
        name = f"field_{name}".rstrip("_") if not name[:1].isalpha() or is_reserved(name) else name
        changed = {**item, "name": name}
        fits = changed != item and _complaint(FieldSpec, changed) != problem
        fix = Fix(f"Name it {name}", _replacing(item, changed), "form") if fits else None
        code, about = "field_name" if fix else "form_incomplete", str(item.get("name") or "") or None
        yield Finding(code, "error", about, problem, _WHY, "Correct or complete the field.", fix)
    if not bad:
        yield Finding("form_incomplete", "error", None, _complaint(TemplateSpec, data) or "", _WHY, "Correct it.")


def _complaint(model: type[FieldSpec] | type[TemplateSpec], data: Any) -> str | None:
    """Return the first thing in the way of data that shall make a model, as a sentence."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        message = validation_message(error, most=1).removeprefix("verify_with: ")
        return f"{message[:1].upper()}{message[1:].rstrip('.')}."
    return None


def _replacing(item: _Field, changed: _Field) -> Callable[[FormData], FormData]:
    def edit(data: FormData) -> FormData:
        fields = [copy.deepcopy(changed if other == item else other) for other in data["fields"]]
        return {**copy.deepcopy(data), "fields": fields}

    return edit
