"""Which regular expressions can take practically forever, told by their shape."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\(\?#[^)]*\)|\(\?P?[<'][A-Za-z_]\w*[>']|\(\?[aiLmsux-]*:|\(\?<?[=!]|\(\?[aiLmsux-]+\)|\(\?>|"
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}[?+]?|[*+?][?+]?|[(|)]|.",
    re.DOTALL,
)
_GROUP = re.compile(r"\(\?<?[=!]|\(.*", re.DOTALL)


class _Group:
    """What was seen of an open group.

    Attributes:
        repeats: Whether a part of it repeats without bound.
        needs: Whether some part of the branch must occur exactly as it is, which keeps repetitions apart.
        loose: Whether a branch repeats and has nothing that keeps it apart.
        starts: How its branches begin.
        last: The part that a repetition would apply to; blank where it is settled already.
    """

    def __init__(self) -> None:
        self.repeats = False
        self.needs = False
        self.loose = False
        self.starts: list[str] = []
        self.last = ""

    def end_branch(self) -> None:
        self._settle()
        self.loose = self.loose or (self.repeats and not self.needs)
        self.repeats, self.needs, self.last = False, False, ""

    def add(self, token: str) -> None:
        self._settle()
        if not self.repeats and not self.needs:
            self.starts.append(token)
        self.last = token

    def hold(self, inner: _Group) -> None:
        self.add("()")
        if inner.loose:
            self.repeats, self.last = True, ""

    def quantify(self, unbounded: bool, optional: bool) -> None:
        if unbounded:
            self.repeats = self.repeats or bool(self.last)
        if unbounded or optional:
            self.last = ""

    def _settle(self) -> None:
        self.needs = self.needs or bool(self.last)
        self.last = ""

    @property
    def overlaps(self) -> bool:
        """Whether two branches begin alike, or one with any character."""
        return len(set(self.starts)) < len(self.starts) or (len(self.starts) > 1 and "." in self.starts)


def can_hang(pattern: str) -> bool:
    r"""Say whether a pattern repeats what already repeats, as `(a+)+`, or repeats a choice of alike, as `(a|a)*`.

    It looks at the shape only: `(\d+,)*` is fine, because a comma must stand between the repetitions.
    """
    groups = [_Group()]
    closed: _Group | None = None
    for match in _TOKEN.finditer(pattern):
        token = match[0]
        if token.startswith("(?#") or re.fullmatch(r"\(\?[aiLmsux-]+\)", token):
            continue
        if token[0] == "(" and _GROUP.match(token):
            groups.append(_Group())
            closed = None
        elif token == "|":
            groups[-1].end_branch()
            closed = None
        elif token == ")" and len(groups) > 1:
            closed = groups.pop()
            closed.end_branch()
            groups[-1].hold(closed)
        elif token[0] in "*+?" or (token[0] == "{" and len(token) > 1):
            unbounded = token[0] in "*+" or token.rstrip("?+").endswith(",}")
            if unbounded and closed is not None and (closed.loose or (len(closed.starts) > 1 and closed.overlaps)):
                return True
            groups[-1].quantify(unbounded, optional=token[0] in "*?" or token.startswith(("{0", "{,")))
            closed = None
        else:
            groups[-1].add(token)
            closed = None
    return False
