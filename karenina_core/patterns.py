"""Regular expressions from anywhere: validity by `re`, execution within a time budget.

Patterns come from files, forms and models, so none of them may hang the process. `re.compile` decides whether a
pattern is valid; the `regex` engine, which agrees with `re` and can be stopped, runs it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from karenina_core.errors import InputError

BUDGET_SECONDS = 1.0
MAX_PATTERN = 2_000
MAX_TEXT = 200_000
MAX_EXPANDED = 50_000  # single parts once counted repetitions such as {1000} are written out, as the engine does
FLAGS = ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "UNICODE", "VERBOSE")
# The parts of a pattern to look at: named characters, escapes, comments, sets, repetitions, and other braces.
# What is not closed reaches to the end, so that it is looked at once.
_COUNTED = re.compile(
    r"\(\?#[^)]*(?:\)|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\Z)|\{(?P<times>\d*),?\d*\}|.", re.DOTALL
)
_PLAIN = r"\\N\{[^}]*\}|\\.|\(\?#[^)]*\)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|\{\d*,?\d*\}|\{"


class PatternTimeoutError(InputError):
    """A search took longer than its budget; its outcome is unknown, which is not the same as "not found"."""


def flag_names(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the canonical names of regex flags, given long or short names in any case.

    Raises:
        InputError: A name is not a regex flag.
    """
    names = []
    for flag in flags:
        known = re.RegexFlag.__members__.get(str(flag).upper().removeprefix("RE."))
        if known is None or known.name not in FLAGS:
            raise InputError(f"{flag!r} is not a regex flag.", next=f"Use one of: {', '.join(FLAGS)}.")
        names.append(known.name)
    return tuple(names)


def validate(pattern: str, flags: Iterable[str] = ()) -> None:
    """Check that a pattern can be used.

    Raises:
        InputError: It is too long or does not compile; says at which position.
    """
    names = flag_names(flags)
    if len(pattern) > MAX_PATTERN:
        raise InputError(
            f"The regular expression is {len(pattern)} characters long.", next=f"Use at most {MAX_PATTERN} characters."
        )
    try:
        _compiled_by_re(pattern, names)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        place = getattr(error, "pos", None)
        raise InputError(
            f"The regular expression {pattern!r} is not valid.",
            why=str(error) if place is None else f"{getattr(error, 'msg', error)} at position {place}",
        ) from error
    _compiled(pattern, names)


def found(pattern: str, text: str, flags: Iterable[str] = ()) -> bool:
    """Say whether `pattern` matches anywhere in `text`.

    Raises:
        PatternTimeoutError: The search exceeded its budget.
    """
    compiled = _compiled(pattern, flag_names(flags))
    try:
        return compiled.search(text[:MAX_TEXT], timeout=BUDGET_SECONDS, concurrent=True) is not None
    except TimeoutError:
        raise _too_slow(pattern) from None


def count(pattern: str, text: str, flags: Iterable[str] = ()) -> int:
    """Return the number of non-overlapping matches, empty ones included.

    Raises:
        PatternTimeoutError: The search exceeded its budget.
    """
    return sum(1 for _ in _every(pattern, text, flags))


def matches(pattern: str, text: str, flags: Iterable[str] = ()) -> list[str | list[str]]:
    """Return what every non-overlapping match holds, as `re.findall` does: the match, its group, or all its groups.

    Raises:
        PatternTimeoutError: The search exceeded its budget.
    """
    compiled = _compiled(pattern, flag_names(flags))
    try:
        found = compiled.findall(text[:MAX_TEXT], timeout=BUDGET_SECONDS, concurrent=True)
    except TimeoutError:
        raise _too_slow(pattern) from None
    return [list(item) if isinstance(item, tuple) else item for item in found]


def spans(pattern: str, text: str, flags: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Return the start and end of every non-overlapping match, for highlighting.

    Raises:
        PatternTimeoutError: The search exceeded its budget.
    """
    return [match.span() for match in _every(pattern, text, flags)]


def _every(pattern: str, text: str, flags: Iterable[str]) -> Iterator[Any]:
    compiled = _compiled(pattern, flag_names(flags))
    try:
        yield from compiled.finditer(text[:MAX_TEXT], timeout=BUDGET_SECONDS, concurrent=True)
    except TimeoutError:
        raise _too_slow(pattern) from None


def expanded_size(pattern: str) -> int:
    """Return an upper bound for the size of a valid pattern once its repetitions are written out.

    The engine does write out what has to be there: `a{2,5}` as `aa` and a loop, `a+` as `a` and a loop. Thirty
    nested `(?:…)+` or three nested `(?:…){1000}` would take all memory.
    """
    sizes, last = [0], [0]  # by open group: of all its parts, and of the part a repetition would apply to
    for token in _COUNTED.finditer(pattern):
        text = token[0]
        if text == "(":
            sizes.append(1)
            last.append(0)
        elif text == ")" and len(sizes) > 1:
            last.pop()
            last[-1] = sizes.pop()
            sizes[-1] += last[-1]
        elif token["times"] or text == "+":
            copies = last[-1] * int(token["times"] or 1)
            sizes[-1] += copies
            last[-1] += copies
        else:
            sizes[-1] += 1
            # A repetition applies to what is before comments, and where re.VERBOSE is on also before blanks.
            last[-1] = last[-1] if text.isspace() or text.startswith("(?#") else 1
    return sum(sizes)


def _flag_bits(module: Any, names: Iterable[str]) -> int:
    # The two modules number their flags differently: always by name.
    return sum(int(getattr(module, name)) for name in set(names))


@lru_cache(maxsize=1024)
def _compiled(pattern: str, names: tuple[str, ...]) -> Any:
    import regex

    try:
        verbose = _compiled_by_re(pattern, names).flags & re.VERBOSE
        adapted = _as_re_means(pattern, bool(verbose))
        if expanded_size(adapted) > MAX_EXPANDED:
            raise InputError(
                f"The regular expression {pattern!r} is too large.",
                why="Its repetitions multiply to more than the engine can hold.",
                next="Use smaller counts in braces.",
            )
        return regex.compile(adapted, _flag_bits(regex, names) | int(regex.VERSION0))
    except (re.error, regex.error) as error:
        raise InputError(f"The regular expression {pattern!r} is not supported.", why=str(error)) from error
    except RecursionError:
        raise InputError(f"The regular expression {pattern[:80]!r} is nested too deeply.") from None


def _compiled_by_re(pattern: str, names: Iterable[str]) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about nested sets, which have no meaning here
        return re.compile(pattern, _flag_bits(re, names))


def _as_re_means(pattern: str, verbose: bool) -> str:
    """Escape what only the `regex` engine gives a meaning: `{e}` (fuzzy matching) and `[[:alpha:]]`."""
    comment = r"#(?:\\.|[^\n\\])*|" if verbose else ""
    return re.sub(comment + _PLAIN, _escaped, pattern, flags=re.DOTALL)


def _escaped(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] == "#":
        return ""  # the two engines end such a comment differently
    if text == "{":
        return r"\{"
    if token["set"]:
        return text[0] + re.sub(r"(\\.)|\[", lambda part: part[1] or r"\[", text[1:], flags=re.DOTALL)
    return text


def _too_slow(pattern: str) -> PatternTimeoutError:
    return PatternTimeoutError(
        f"The search for {pattern!r} took too long.",
        why=f"It was stopped after {BUDGET_SECONDS:g} s.",
        next="Rewrite the pattern without nested repetition such as (a+)+.",
    )
