"""Applying the fix of a finding to a template's source."""

from __future__ import annotations

from karenina_core.authoring.linter.finding import Finding, SourceFix, SpecFix
from karenina_core.authoring.source_edits import edit_source
from karenina_core.errors import InputError
from karenina_core.templates import read_template


def repaired(source: str, finding: Finding) -> str:
    """Return the source with the fix of a finding applied; what the fix does not concern stays byte for byte.

    Args:
        source: The source the finding is about.
        finding: A finding of `lint`.

    Raises:
        InputError: The finding has no fix for a source, or the source cannot hold the change.
        TemplateError: The source cannot be read.
    """
    match finding.fix:
        case SourceFix(edit=edit):
            return edit(source)
        case SpecFix(edit=change):
            return edit_source(source, change(read_template(source).spec))
    raise InputError(f"There is no fix for {finding.code!r}.", next=finding.next)
