"""What happens to texts before they are compared."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator
from pydantic_core import to_jsonable_python

from karenina_core.errors import InputError
from karenina_core.schemas.primitives.base import Step
from karenina_core.schemas.primitives.wording import quoted
from karenina_core.text import normal_form

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def remove_punctuation(text: str) -> str:
    """Delete the ASCII punctuation characters; typographic quotes and dashes stay."""
    return text.translate(_PUNCTUATION)


def collapse_whitespace(text: str) -> str:
    """Replace runs of whitespace by one blank and trim the ends."""
    return " ".join(text.split())


NORMALIZERS: dict[str, Callable[[str], str]] = {
    "lowercase": str.lower,
    "strip": str.strip,
    "remove_punctuation": remove_punctuation,
    "collapse_whitespace": collapse_whitespace,
    "casefold": str.casefold,
}
"""The normalisers by name. `casefold` goes further than `lowercase`: "ß" equals "SS"."""


class SynonymMap(BaseModel):
    """Replaces a text that equals a key by the value of that key; other texts stay as they are.

    The whole text is looked up, once, and case counts: put `lowercase` before it when the keys are lower-case.

    Attributes:
        mapping: Known spelling to canonical form.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mapping: dict[str, str]

    @field_validator("mapping")
    @classmethod
    def _composed(cls, mapping: dict[str, str]) -> dict[str, str]:
        return {nfc(key): nfc(value) for key, value in mapping.items()}

    def apply(self, text: str) -> str:
        """Return the canonical form of `text`."""
        return self.mapping.get(text, text)


Normalizer = str | SynonymMap


def nfc(text: str) -> str:
    """Return `text` in Unicode form NFC, so that "é" is one character however it was typed."""
    return normal_form("NFC", text)


def normalize(text: str, normalizers: Iterable[Normalizer]) -> str:
    """Apply NFC and then the normalisers, in their order.

    Raises:
        InputError: A normaliser is not known.
    """
    text = nfc(text)
    for normalizer in normalizers:
        text = nfc(_function(normalizer)(text))  # lowering or deleting characters can leave parts to compose
    return text


def apply_normalizer(normalizer: Normalizer, text: str) -> str:
    """Apply NFC and one normaliser, as `normalize` does several."""
    return normalize(text, [normalizer])


def apply_normalizers(normalizers: Iterable[Normalizer], text: str) -> str:
    """Apply NFC and then the normalisers, in their order: `normalize` by its other name."""
    return normalize(text, normalizers)


def explain_normalization(text: str, normalizers: Iterable[Normalizer]) -> tuple[Step, ...]:
    """Return one step per normaliser, also for those that change nothing.

    Unicode composition comes first, as a step of its own, where it changes the text.

    Raises:
        InputError: A normaliser is not known.
    """
    return followed(text, normalizers).steps


class Followed(NamedTuple):
    """A text that was normalised.

    Attributes:
        text: What became of it.
        shown: The same as explanations show it.
        steps: How, as `explain_normalization` returns them.
    """

    text: str
    shown: str
    steps: tuple[Step, ...]


def followed(text: str, normalizers: Iterable[Normalizer], prefix: str = "") -> Followed:
    """Return what `normalize` makes of a text together with its steps, their labels after `prefix`.

    Raises:
        InputError: A normaliser is not known.
    """
    steps = []
    composed = nfc(text)
    shown = quoted(composed)
    if composed != text:
        steps.append(Step(f"{prefix}Unicode NFC", quoted(text), shown))
    for normalizer in normalizers:
        before, shown_before = composed, shown
        composed = nfc(_function(normalizer)(before))
        if composed is not before:
            shown = quoted(composed)
        label = normalizer if isinstance(normalizer, str) else "synonym"
        steps.append(Step(prefix + label, shown_before, shown))
    return Followed(composed, shown, tuple(steps))


def as_text(value: Any) -> str | None:
    """Return a text, a number or boolean as Python writes it, or a date, URL or the like as JSON does; else None."""
    if isinstance(value, str):
        return value
    try:
        plain = to_jsonable_python(value, fallback=lambda _: None)
        return str(plain) if isinstance(plain, str | int | float) else None
    except ValueError:  # an int of more digits than Python prints, or bytes that are no text
        return None


def normalized(value: Any, normalizers: Iterable[Normalizer]) -> str | None:
    """Return the text of `value`, normalised, or None when it has none."""
    text = as_text(value)
    return None if text is None else normalize(text, normalizers)


def check_normalizers(normalizers: list[Normalizer]) -> list[Normalizer]:
    """Return the list if all its names are known.

    Raises:
        InputError: A normaliser is not known.
    """
    for normalizer in normalizers:
        _function(normalizer)
    return normalizers


def case_and_blanks() -> list[Normalizer]:
    """Return what is done to texts unless something else is asked for: case and outer blanks do not count."""
    return ["lowercase", "strip"]


def _function(normalizer: Normalizer) -> Callable[[str], str]:
    if not isinstance(normalizer, str):
        return normalizer.apply
    try:
        return NORMALIZERS[normalizer]
    except KeyError:
        allowed = f"{', '.join(NORMALIZERS)}, or a SynonymMap"
        raise InputError(f"{normalizer!r} is not a normaliser.", next=f"Use {allowed}.") from None


Normalizers = Annotated[list[Normalizer], AfterValidator(check_normalizers)]
"""The type of a `normalize` parameter: refuses unknown names when the primitive is built."""
