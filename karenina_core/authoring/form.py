"""Whether a form can edit a template, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karenina_core.errors import TemplateError
from karenina_core.templates import FieldSpec, TemplateSpec, read_template


@dataclass(frozen=True)
class FormView:
    """A template as a form shows it.

    Attributes:
        spec: Its fields and rules; None where the source cannot be read.
        reason: Why the form only shows them, in words; None where it may edit them.
        line: The line the reason is about, counted from 1.
        locked: Why the type of a field cannot be chosen from the form's list, by field; the rest of it can be edited.
    """

    spec: TemplateSpec | None
    reason: str | None = None
    line: int | None = None
    locked: Mapping[str, str] = field(default_factory=dict)

    @property
    def editable(self) -> bool:
        """Whether the form may change the template."""
        return self.spec is not None and self.reason is None


def form_of(source: str) -> FormView:
    """Return how a form shows a template; a blank source is an empty form that can be edited."""
    if not source.strip():
        return FormView(TemplateSpec())
    try:
        spec = read_template(source).spec
    except TemplateError as error:
        place = f"Line {error.line}: " if error.line else ""
        said = " ".join(part for part in (f"{error.what}{': ' + error.why if error.why else ''}.", error.next) if part)
        return FormView(None, f"The source cannot be read. {place}{said}", error.line)
    locked = {item.name: _lock(item) for item in spec.fields if item.type == "other"}
    return FormView(spec, _read_only(spec), None, locked)


def _read_only(spec: TemplateSpec) -> str | None:
    if not spec.own_code:
        return None
    own = sorted({str((item.verify_with or {})["type"]) for item in spec.fields if item.own_rule})
    if own:
        return f"The source defines {', '.join(own)} itself, and a form does not hold code. Edit the source."
    return "The template has methods of its own, and a form does not hold code. Edit the source."


def _lock(item: FieldSpec) -> str:
    return f"The type {item.annotation} is not in the form's list. Change it in the source."
