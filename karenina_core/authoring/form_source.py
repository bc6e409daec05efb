"""What was typed into a form, written into the source it belongs to as far as it makes a template."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from karenina_core.authoring.linter.finding import FormData
from karenina_core.authoring.linter.nesting import check_nesting
from karenina_core.authoring.source_edits import edit_source
from karenina_core.errors import InputError, KareninaError, validation_message
from karenina_core.templates import TemplateSpec


@dataclass(frozen=True)
class Written:
    """A form beside its source.

    Attributes:
        source: The source; unchanged where the form cannot be written into it.
        problem: Why it cannot, in words; None where it was written.
    """

    source: str
    problem: str | None = None


def write_form(source: str, data: FormData) -> Written:
    """Return a source that says what a form holds, or why there is none; the source is never made worse.

    Args:
        source: The template as it is; blank for a new one.
        data: What was typed, valid or not.
    """
    if not source.strip() and not data.get("fields"):
        return Written(source)
    try:
        check_nesting(data)
        spec = TemplateSpec.model_validate(data)
    except InputError as error:
        return Written(source, str(error))
    except ValidationError as error:
        return Written(source, validation_message(error, most=1))
    try:
        return Written(edit_source(source, spec))
    except KareninaError as error:
        return Written(source, " ".join(part for part in (error.what, error.why, error.next) if part))
