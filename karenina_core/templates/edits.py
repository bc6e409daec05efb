"""Changes to a source text that keep every line where it is."""

from __future__ import annotations

import ast
from typing import NamedTuple

from karenina_core.templates.limits import refuse


class _Edit(NamedTuple):
    start: int
    end: int
    text: bytes


class Edits:
    """Collects changes to a text, addressed by syntax nodes, and applies them together.

    Positions of nodes are UTF-8 bytes, so the text is edited as bytes. A change inside another one is dropped.

    Args:
        text: The text the nodes were parsed from.
    """

    def __init__(self, text: str) -> None:
        self.source = text.encode()
        self._starts = [0]
        for line in self.source.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._edits: list[_Edit] = []

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the first byte of a node."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the byte behind a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def covers(self, node: ast.expr | ast.stmt, text: str) -> bool:
        """Whether the node ends with `text` in the source; inside of f-strings positions may be wrong."""
        return self.source[: self.end(node)].endswith(text.encode())

    def holds(self, node: ast.expr) -> bool:
        """Whether the source really has the node at its place; inside of f-strings it may be elsewhere."""
        text = self.source[self.start(node) : self.end(node)].decode("utf-8", "replace")
        try:
            return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
        except SyntaxError:
            return False

    def replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        """Put one line of `text` in place of a node; line breaks of the node stay, behind the text."""
        self.replace_span(self.start(node), self.end(node), text)

    def replace_span(self, start: int, end: int, text: str) -> None:
        """Put one line of `text` in place of bytes; their line breaks stay, behind the text."""
        self._edits.append(_Edit(start, end, text.encode() + b"\n" * self.source.count(b"\n", start, end)))

    def insert(self, position: int, text: str) -> None:
        """Put `text` before a byte."""
        self._edits.append(_Edit(position, position, text.encode()))

    def apply(self) -> str:
        """Return the changed text."""
        result, reached = [], 0
        for edit in sorted(self._edits, key=lambda edit: (edit.start, edit.start != edit.end, edit.end)):
            if edit.start >= reached:
                result += [self.source[reached : edit.start], edit.text]
                reached = edit.end
        return b"".join([*result, self.source[reached:]]).decode()


def needs(condition: bool, node: ast.AST, what: str, next: str) -> None:
    """Refuse a construct the sandbox cannot run.

    Raises:
        TemplateError: The condition does not hold.
    """
    if not condition:
        raise refuse("unsupported", f"the sandbox does not support {what}", next=next, at=node)
