"""Template sources on their way into a benchmark."""

from __future__ import annotations

from karenina_core.schemas import BaseAnswer


def checked_source(template: str | type[BaseAnswer] | None) -> str | None:
    """Return the source of a template given as text or class, None when there is none.

    Raises:
        TemplateError: It cannot be read; says why and in which line.
    """
    if template is None or (isinstance(template, str) and not template.strip()):
        return None
    # Here rather than above, because most of what a benchmark does needs no template reader.
    from karenina_core.templates import read_template, source_of

    source = template if isinstance(template, str) else source_of(template)
    read_template(source)
    return source
