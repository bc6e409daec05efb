"""`lint`: what can be said of a template without running it."""

from __future__ import annotations

from collections.abc import Iterator

from karenina_core.authoring.linter.finding import Context, FieldFix, FieldRule, Finding, Said, Severity, SpecFix
from karenina_core.authoring.linter.own_code import lint_own_code
from karenina_core.authoring.linter.table import FIELD_RULES, TEMPLATE_RULES
from karenina_core.authoring.linter.unreadable import unreadable
from karenina_core.errors import TemplateError
from karenina_core.schemas import VerificationConfig
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template

_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "hint": 2}


def lint(
    template: str | Template | TemplateSpec,
    *,
    question: str | None = None,
    reference_answer: str | None = None,
    config: VerificationConfig | None = None,
) -> list[Finding]:
    """Return what is to be mended in a template, the gravest first. Nothing of it is run.

    Every fix that is offered makes its finding go away, and leaves a template that can be read.

    Args:
        template: Its source, the template that was read from it, or what a form holds.
        question: The text of the question, where known.
        reference_answer: What people know to be true; the truth is compared with it.
        config: How the benchmark will be run; without it, nothing is said about settings of runs.
    """
    context = Context(question, reference_answer, config)
    if isinstance(template, TemplateSpec):
        return in_order(_of_spec(template, context, None))
    try:
        read = read_template(template) if isinstance(template, str) else template
    except TemplateError as error:
        return [unreadable(str(template), error)]
    own = lint_own_code(read.source, read.spec) if read.spec.own_code else []
    return in_order([*_of_spec(read.spec, context, read), *own])


def in_order(findings: Iterator[Finding] | list[Finding]) -> list[Finding]:
    """Return findings with the gravest first, otherwise as they come."""
    return sorted(findings, key=lambda finding: _ORDER[finding.severity])


def _of_spec(spec: TemplateSpec, context: Context, template: Template | None) -> Iterator[Finding]:
    for item in spec.fields:
        line = template.line_of(item.name) if template else None
        for rule in FIELD_RULES:
            said = rule.check(item, context)
            if said is not None:
                fix = _field_fix(spec, item, rule, said, context)
                yield _finding(rule.code, rule.severity, item.name, said, fix, line)
    for whole in TEMPLATE_RULES:
        for said in whole.check(spec, context):
            line = template.line_of(said.field) if template and said.field else None
            fix = said.fix if isinstance(said.fix, SpecFix) else None
            yield _finding(whole.code, whole.severity, said.field, said, fix, line)


def _finding(
    code: str, severity: Severity, field: str | None, said: Said, fix: SpecFix | None, line: int | None
) -> Finding:
    return Finding(code, severity, field, said.what, said.why, said.next, fix, line)


def _field_fix(spec: TemplateSpec, item: FieldSpec, rule: FieldRule, said: Said, context: Context) -> SpecFix | None:
    """Return the fix of a rule if it does make the finding go away, none otherwise."""
    if not isinstance(said.fix, FieldFix):
        return None
    fix = said.fix.on(item.name)
    try:
        mended = next(field for field in fix.edit(spec).fields if field.name == item.name)
    except ValueError:
        return None
    return fix if rule.check(mended, context) is None else None
