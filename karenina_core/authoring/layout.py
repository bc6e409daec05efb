"""Where the parts of a template stand in its text, byte for byte."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from karenina_core.errors import InputError
from karenina_core.templates import Scope, on_deep_stack, parse_module, read_scope, readable, sort_classes

_LINE_END = re.compile(rb"\r\n|\r|\n")


class Span(NamedTuple):
    """A stretch of the text: its first byte and the byte behind it."""

    start: int
    end: int


class FieldPlace(NamedTuple):
    """Where a field is defined.

    Attributes:
        name: The field.
        statement: The whole definition.
        target: Its name.
        annotation: Its type.
        function: `Field` or `VerifiedField`; None where something else defines it.
        arguments: The values of its keyword arguments by name.
        positional: Whether it has arguments without names.
        argument_end: The byte behind the last argument, None where there is none.
        argument_indent: The blanks before the last argument, None where it shares the line with what opens the call.
        alone: Whether nothing else stands on its lines, comments aside.
        indent: The blanks before it.
    """

    name: str
    statement: Span
    target: Span
    annotation: Span
    function: str | None
    arguments: Mapping[str, Span]
    positional: bool
    argument_end: int | None
    argument_indent: bytes | None
    alone: bool
    indent: bytes


class Layout(NamedTuple):
    """Where the parts of the answer class stand.

    Attributes:
        data: The text.
        newline: How its lines end.
        fields: The fields in their order.
        strategy_class: The inner class with the composition, None where there is none.
        strategy_value: The composition.
        name: The name of the class.
    """

    data: bytes
    newline: bytes
    fields: tuple[FieldPlace, ...]
    strategy_class: Span | None
    strategy_value: Span | None
    name: Span


def layout_of(source: str, class_name: str) -> Layout:
    """Find the parts of an answer class.

    Args:
        source: A template that can be read.
        class_name: The name of its answer class.

    Raises:
        TemplateError: It is not Python.
        InputError: It has no such class.
    """
    text = readable(source)
    return on_deep_stack(lambda: _Finder(source, text).find(class_name))


def line_span(data: bytes, span: Span) -> Span:
    """Return the whole lines a stretch stands on, with the end of the last line."""
    start = max(data.rfind(b"\n", 0, span.start), data.rfind(b"\r", 0, span.start)) + 1
    ending = _LINE_END.search(data, span.end)
    return Span(start, ending.end() if ending else len(data))


class Positions:
    """Translates positions of syntax nodes to bytes of the original text.

    The parser sees the text without byte order mark, with plain line ends and not indented.

    Args:
        source: The original text.
        text: What `readable` makes of it, and what was parsed.
    """

    def __init__(self, source: str, text: str) -> None:
        self.data = source.encode()
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        lines = [len(line) for line in _LINE_END.split(self.data)]
        parsed = [len(line.encode()) for line in text.split("\n")]
        self._shift = [max(0, long - short) for long, short in zip(lines, parsed, strict=False)]

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """Return the first byte of a node."""
        return self._byte(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """Return the byte behind a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._byte(node.end_lineno, node.end_col_offset)

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> Span:
        """Return the bytes of a node."""
        return Span(self.start(node), self.end(node))

    def class_name(self, node: ast.ClassDef) -> Span:
        """Return the bytes of the name of a class."""
        name = node.name.encode()
        start = self.data.index(name, self.start(node) + len("class"))
        return Span(start, start + len(name))

    def _byte(self, line: int, column: int) -> int:
        return self._starts[line - 1] + self._shift[line - 1] + column


class _Finder:
    def __init__(self, source: str, text: str) -> None:
        self._text = text
        self._at = Positions(source, text)
        self._data = self._at.data
        newline = _LINE_END.search(self._data)
        self._newline = newline[0] if newline else b"\n"

    def find(self, class_name: str) -> Layout:
        tree = parse_module(self._text)
        scope = read_scope(tree)
        answers = [node for node in sort_classes(tree, scope).answers if node.name == class_name]
        if not answers:
            raise InputError(f"The source has no answer class named {class_name}.")
        answer = answers[0]
        strategy = next((node for node in answer.body if isinstance(node, ast.ClassDef)), None)
        return Layout(
            data=self._data,
            newline=self._newline,
            fields=tuple(self._fields(answer, scope)),
            strategy_class=self._at.span(strategy) if strategy else None,
            strategy_value=self._strategy_value(strategy) if strategy else None,
            name=self._at.class_name(answer),
        )

    def _fields(self, answer: ast.ClassDef, scope: Scope) -> Iterator[FieldPlace]:
        for statement in answer.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            name, annotation = statement.target.id, statement.annotation
            outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
            if name != "model_config" and not name.startswith("_") and scope.resolve(outer) != "ClassVar":
                yield self._field(statement, statement.target, scope)

    def _field(self, statement: ast.AnnAssign, target: ast.Name, scope: Scope) -> FieldPlace:
        call = statement.value if isinstance(statement.value, ast.Call) else None
        keywords = [] if call is None else [item for item in call.keywords if item.arg is not None]
        last = max((item.value for item in keywords), key=self._at.end, default=None)
        span = self._at.span(statement)
        whole = line_span(self._data, span)
        before = self._data[whole.start : span.start]
        after = self._data[span.end : whole.end].strip()
        own_line = last is not None and call is not None and last.lineno != call.lineno
        return FieldPlace(
            name=target.id,
            statement=span,
            target=self._at.span(target),
            annotation=self._at.span(statement.annotation),
            function=scope.resolve(call.func) if call else None,
            arguments={str(item.arg): self._at.span(item.value) for item in keywords},
            positional=bool(call and call.args),
            argument_end=None if last is None else self._argument_end(last, span),
            argument_indent=self._indent(self._at.start(keywords[-1])) if own_line else None,
            alone=not before.strip() and (not after or after.startswith(b"#")),
            indent=before if not before.strip() else b"    ",
        )

    def _argument_end(self, value: ast.expr, statement: Span) -> int:
        """Return the byte behind an argument, brackets around it included."""
        end = self._at.end(value)
        closing = re.compile(rb"(?:\s|#[^\r\n]*)*\)").match(self._data, end)
        # The last bracket is the call's own.
        while closing and closing.end() < statement.end:
            end = closing.end()
            closing = re.compile(rb"(?:\s|#[^\r\n]*)*\)").match(self._data, end)
        return end

    def _strategy_value(self, node: ast.ClassDef) -> Span | None:
        for statement in node.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                return self._at.span(statement.value)
        return None

    def _indent(self, position: int) -> bytes:
        start = line_span(self._data, Span(position, position)).start
        line = self._data[start:position]
        return line[: len(line) - len(line.lstrip())]
