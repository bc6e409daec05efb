"""Python values as source text."""

from __future__ import annotations

from typing import Any


def quote(value: Any) -> str:
    """Return plain data as Python source, texts in double quotes, patterns as raw strings."""
    match value:
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(quote(item) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{quote(key)}: {quote(item)}' for key, item in value.items())}}}"
        case _:
            return repr(value)


def _text(value: str) -> str:
    raw = "\\" in value and value.isprintable() and '"' not in value and not value.endswith("\\")
    if raw:
        return f'r"{value}"'
    plain = repr(value)
    if plain[0] == '"' or '"' in value:
        return plain
    return '"' + plain[1:-1].replace("\\'", "'") + '"'
