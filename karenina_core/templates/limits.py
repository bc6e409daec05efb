"""What a template source may cost: bounds on its text and its syntax tree, and a safe place to parse it."""

from __future__ import annotations

import ast
import hashlib
import io
import re
import textwrap
import threading
import tokenize
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from karenina_core.errors import TemplateError
from karenina_core.text import stream_safe

MAX_BYTES = 64 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 100
MAX_FIELDS = 200
MAX_CHOICES = 500
MAX_TYPE_DEPTH = 10
_STACK_BYTES = 16 * 1024 * 1024
_SHALLOW_CHARACTERS = 2_000
"""No text of this length overflows a stack of 512 KiB, whatever it nests."""

T = TypeVar("T")
_OWN_ROOT = __name__.partition(".")[0]
_SURROGATE = re.compile("[\ud800-\udfff]")
_one_at_a_time = threading.Lock()
_one_starts = threading.Lock()
_deep = threading.local()


def refuse(
    code: str, what: str, why: str = "", next: str = "", *, at: ast.AST | None = None, line: int | None = None
) -> TemplateError:
    """Return the error that refuses a template, to be raised.

    Args:
        code: Stable short name of the reason.
        what: What was found.
        why: The reason, if `what` does not say it.
        next: What the author can do.
        at: The syntax node in question; gives the line.
        line: The line, where there is no node.
    """
    return TemplateError(what, why, next, code=code, line=line or getattr(at, "lineno", None))


def readable(source: str) -> str:
    """Return the text that is parsed: without byte order mark, with plain line ends, not indented.

    Lines keep their numbers.

    Raises:
        TemplateError: The text is too large or holds characters no program text may hold.
    """
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "replace")) > MAX_BYTES:
        why = f"it may have {MAX_BYTES // 1024} KiB"
        raise refuse("too_large", "the template is too large", why, "shorten or split it")
    if "\0" in source:
        raise refuse("nul", "the template holds a NUL character", next="remove it")
    if _SURROGATE.search(source):
        raise refuse("bad_unicode", "the template holds half a surrogate pair", next="save it as UTF-8")
    if stream_safe(source) != source:
        raise refuse("bad_unicode", "the template holds a long run of combining marks", next="remove them")
    return _plain_lines(source)


def upstream_spelling(source: str) -> str:
    """Return a template text that imports from `karenina`, as other programs and files know this package."""
    lines = source.split("\n")
    if _OWN_ROOT in source:
        with suppress(tokenize.TokenError, SyntaxError):
            tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
            for token in [] if any(token.type == tokenize.ERRORTOKEN for token in tokens) else reversed(tokens):
                if token.string == _OWN_ROOT and token.type == tokenize.NAME:
                    (row, start), end = token.start, token.end[1]
                    lines[row - 1] = f"{lines[row - 1][:start]}karenina{lines[row - 1][end:]}"
    return "\n".join(lines)


def template_id(source: str) -> str:
    """Return the identity of a template text: an MD5 that ignores indentation and blanks at line ends.

    It is the same whether the text imports from `karenina` or from this package. MD5 is a label here, never a
    security boundary.
    """
    normal = "\n".join(map(str.rstrip, upstream_spelling(_plain_lines(source)).split("\n"))).strip()
    return hashlib.md5(normal.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _plain_lines(source: str) -> str:
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # Only a text that starts indented is shifted: dedenting also touches blank lines inside of long strings.
    return textwrap.dedent(text) if text.lstrip("\n")[:1].isspace() else text


def on_deep_stack(work: Callable[[], T], text: str | None = None) -> T:
    """Run `work` in a thread with a 16 MiB stack and return its result.

    The parser recurses natively and would end the process on a small stack, and so would freeing the tree. What
    `work` returns must therefore hold no syntax nodes. A short text cannot be nested so deeply: it is read at once,
    because to wait for another thread takes longer than the reading.

    Args:
        work: Parses, and does something with the tree.
        text: All that it parses.
    """
    if getattr(_deep, "here", False):
        return work()
    if text is not None and len(text) <= _SHALLOW_CHARACTERS:
        with suppress(RecursionError):
            return work()
    outcome, failure = _deep_thread().submit(_contained, work).result()
    if failure is not None:
        raise failure
    return outcome[0]


def _contained(work: Callable[[], T]) -> tuple[list[T], Exception | None]:
    """Do the work; an error comes back without the frames that would carry the tree out of this thread."""
    try:
        return [work()], None
    except TemplateError as error:
        return [], TemplateError(error.what, error.why, error.next, code=error.code, line=error.line)
    except RecursionError:
        return [], refuse("too_deep", "the template is nested too deeply", next="simplify it")
    except Exception as error:
        traceback.clear_frames(error.__traceback__)
        return [], error.with_traceback(None)


@lru_cache(maxsize=1)
def _deep_thread() -> ThreadPoolExecutor:
    """Return the one thread that reads templates; starting one for each would take longer than the reading."""
    with _one_starts:
        before = threading.stack_size(_STACK_BYTES)
        try:
            executor = ThreadPoolExecutor(1, "template-reader", initializer=setattr, initargs=(_deep, "here", True))
            executor.submit(int).result()  # starts the thread, with this stack
        finally:
            threading.stack_size(before)
    return executor


def parse_module(text: str) -> ast.Module:
    """Parse a template text. Call it on a deep stack only.

    Raises:
        TemplateError: It is not Python, or too large or too deep as a tree.
    """
    tree = _parse(text)
    nodes = 0
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        nodes += len(level)
        depth += 1
        if nodes > MAX_NODES:
            raise refuse("too_complex", "the template is too complex", f"more than {MAX_NODES} parts", "shorten it")
        if depth > MAX_DEPTH:
            raise refuse("too_deep", "the template is nested too deeply", f"more than {MAX_DEPTH} levels", at=level[0])
        level = [part for node in level for part in ast.iter_child_nodes(node)]
    return tree


def _parse(text: str) -> ast.Module:
    try:
        # What is caught is set aside for the whole process, so by one thread at a time.
        with _one_at_a_time, warnings.catch_warnings():
            # An odd escape in a pattern is the author's business, and no reason to warn whoever runs it.
            warnings.simplefilter("ignore")
            return ast.parse(text, filename="<template>")
    except SyntaxError as error:
        reason = re.sub(r" \(.*?, line \d+\)$", "", error.msg or "invalid syntax")
        place = f" at column {error.offset}" if error.offset else ""
        raise refuse("syntax", "this is not valid Python", f"{reason}{place}", line=error.lineno) from None
    except (RecursionError, MemoryError):
        raise refuse("too_deep", "the template is nested too deeply", next="simplify it") from None
    except ValueError as error:
        raise refuse("syntax", "this is not valid Python", str(error)) from None
