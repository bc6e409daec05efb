"""Applying the fixes of findings to a template's source, or to what was typed into a form."""

from __future__ import annotations

from typing import Any, NamedTuple

from karenina_core.authoring.form_edits import form_data
from karenina_core.authoring.linter.finding import Finding, FormData, FormFix, SourceFix, SpecFix
from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.linter.typed import lint_form
from karenina_core.authoring.source_edits import edit_source
from karenina_core.errors import InputError, KareninaError
from karenina_core.templates import TemplateSpec, read_template

_MOST = 200  # fixes at once; a template has at most that many fields


class Repaired(NamedTuple):
    """A source, or a form, after its fixes.

    Attributes:
        result: The source or the form.
        applied: The findings that were mended, in their order.
    """

    result: Any
    applied: tuple[Finding, ...]


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
    raise _no_fix(finding)


def repaired_form(data: FormData, finding: Finding) -> FormData:
    """Return what was typed with the fix of a finding applied.

    Args:
        data: What was typed, valid or not; it is left as it is.
        finding: A finding of `lint_form`.

    Raises:
        InputError: The finding has no fix for a form.
        ValidationError: The fix needs a form that makes a template, and this one does not.
    """
    match finding.fix:
        case FormFix(edit=edit):
            return edit(data)
        case SpecFix(edit=change):
            return form_data(change(TemplateSpec.model_validate(data)))
    raise _no_fix(finding)


def repair_all(source: str, **known: Any) -> Repaired:
    """Return the source with every fix applied that can be, one after the other.

    Args:
        source: The template, readable or not.
        **known: What `lint` takes beside it, such as `reference_answer`.
    """
    return _all(source, lambda text: lint(text, **known), repaired)


def repair_whole_form(data: FormData, **known: Any) -> Repaired:
    """Return what was typed with every fix applied that can be, one after the other.

    Args:
        data: What was typed, valid or not; it is left as it is.
        **known: What `lint_form` takes beside it.
    """
    return _all(data, lambda form: lint_form(form, **known), repaired_form)


def _all(subject: Any, look: Any, mend: Any) -> Repaired:
    applied: list[Finding] = []
    failed: set[tuple[str, str | None]] = set()
    for _ in range(_MOST):
        finding = next(
            (item for item in look(subject) if item.fix is not None and (item.code, item.field) not in failed), None
        )
        if finding is None:
            break
        try:
            changed = mend(subject, finding)
        except (KareninaError, ValueError):
            changed = subject
        if changed == subject:
            failed.add((finding.code, finding.field))
            continue
        # A fix that does not settle its finding is not tried again.
        if any((item.code, item.field) == (finding.code, finding.field) for item in look(changed)):
            failed.add((finding.code, finding.field))
        subject = changed
        applied.append(finding)
    return Repaired(subject, tuple(applied))


def _no_fix(finding: Finding) -> InputError:
    return InputError(f"There is no fix for {finding.code!r}.", next=finding.next)
