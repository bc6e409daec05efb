"""The template that authoring help is asked about, in whatever form it is at hand."""

from __future__ import annotations

from karenina_core.templates import Template, TemplateSpec, read_template, write_template

Subject = str | Template | TemplateSpec
"""A template source, a template that was read, or what a form holds."""


def template_of(subject: Subject) -> Template:
    """Return the template.

    Raises:
        TemplateError: A source cannot be read.
        InputError: What a form holds verifies nothing yet, or belongs to a source with code of its own.
    """
    if isinstance(subject, TemplateSpec):
        subject = write_template(subject)
    return read_template(subject) if isinstance(subject, str) else subject
