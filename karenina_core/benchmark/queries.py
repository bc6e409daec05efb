"""Finding questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from karenina_core import patterns
from karenina_core.benchmark.base import BenchmarkBase
from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.errors import InputError

SEARCHED = ("question", "raw_answer", "keywords")
MatchMode = Literal["exact", "contains", "in", "regex"]


class QueryMethods(BenchmarkBase):
    """Filters, searches and counts over questions."""

    def filter_questions(
        self,
        finished: bool | None = None,
        has_template: bool | None = None,
        has_rubric: bool | None = None,
        author: str | None = None,
        custom_filter: Callable[[BenchmarkQuestion], bool] | None = None,
    ) -> list[BenchmarkQuestion]:
        """Return the questions that meet every condition given.

        Args:
            finished: Whether they are marked finished.
            has_template: Whether they have a template.
            has_rubric: Whether they have traits of their own.
            author: The author's name.
            custom_filter: Any further condition.
        """

        def meets(entry: Entry) -> bool:
            question = entry.question
            return (
                finished in (None, question.finished)
                and has_template in (None, question.answer_template is not None)
                and has_rubric in (None, bool(entry.rubric))
                and author in (None, author_name(question))
                and (custom_filter is None or custom_filter(question))
            )

        return [entry.question for entry in self._contents.entries.values() if meets(entry)]

    def get_questions_by_author(self, author: str) -> list[BenchmarkQuestion]:
        """Return the questions of an author, by name."""
        return self.filter_questions(author=author)

    def get_questions_with_rubric(self) -> list[BenchmarkQuestion]:
        """Return the questions that have traits of their own."""
        return self.filter_questions(has_rubric=True)

    def filter_by_metadata(
        self, field_path: str, value: Any, match_mode: MatchMode = "exact"
    ) -> list[BenchmarkQuestion]:
        """Return the questions whose field matches.

        Args:
            field_path: Such as `keywords`, `author.name` or `custom_metadata.difficulty`.
            value: What to compare with; for `in`, a collection.
            match_mode: `exact`; `contains` (part of a text, item of a list); `in`; `regex`.
        """
        if match_mode not in _MATCHES:
            raise InputError(f"{match_mode!r} is no match mode.", next=f"Use one of: {', '.join(_MATCHES)}.")
        matches = _MATCHES[match_mode]
        return [question for question in self._questions() if matches(field_of(question, field_path), value)]

    def filter_by_custom_metadata(self, match_all: bool = True, **criteria: Any) -> list[BenchmarkQuestion]:
        """Return the questions whose custom metadata equals all, or any, of the given values."""
        quantifier = all if match_all else any

        def meets(question: BenchmarkQuestion) -> bool:
            metadata = question.custom_metadata or {}
            return quantifier(name in metadata and metadata[name] == value for name, value in criteria.items())

        return [question for question in self._questions() if meets(question)]

    def search_questions(
        self,
        query: str | Sequence[str],
        match_all: bool = True,
        fields: Sequence[str] = SEARCHED,
        case_sensitive: bool = False,
        regex: bool = False,
    ) -> list[BenchmarkQuestion]:
        """Return the questions that hold the query in any of the fields.

        Args:
            query: One text, or several.
            match_all: Whether all texts must be found, or one.
            fields: Where to look, such as `question` or `custom_metadata.topic`.
            case_sensitive: Whether letters must match in case.
            regex: Whether the texts are regular expressions.
        """
        queries = [query] if isinstance(query, str) else list(query)
        finds = _regex_finder(case_sensitive) if regex else _text_finder(case_sensitive)
        quantifier = all if match_all else any
        return [
            question
            for question in self._questions()
            if quantifier(any(finds(wanted, text) for text in _texts(question, fields)) for wanted in queries)
        ]

    def count_by_field(self, field_path: str) -> dict[str, int]:
        """Return how many questions have each value of a field; items of lists are counted one by one."""
        counts: Counter[str] = Counter()
        for question in self._questions():
            value = field_of(question, field_path)
            counts.update(str(item) for item in (value if isinstance(value, list) else [value]) if item is not None)
        return dict(counts.most_common())


def author_name(question: BenchmarkQuestion) -> str:
    """Return the name of a question's author, empty when there is none."""
    return str((question.author or {}).get("name", ""))


def field_of(question: BenchmarkQuestion, path: str) -> Any:
    """Return a field by its dotted path, None when there is none."""
    value: Any = question
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return value


def _texts(question: BenchmarkQuestion, fields: Sequence[str]) -> list[str]:
    values = [field_of(question, field) for field in fields]
    return [
        str(item) for value in values for item in (value if isinstance(value, list) else [value]) if item is not None
    ]


def _text_finder(case_sensitive: bool) -> Callable[[str, str], bool]:
    if case_sensitive:
        return lambda wanted, text: wanted in text
    return lambda wanted, text: wanted.casefold() in text.casefold()


def _regex_finder(case_sensitive: bool) -> Callable[[str, str], bool]:
    flags = () if case_sensitive else ("IGNORECASE",)
    return lambda wanted, text: patterns.found(wanted, text, flags)


def _contains(stored: Any, value: Any) -> bool:
    if isinstance(stored, str):
        return str(value) in stored
    return isinstance(stored, list | dict) and value in stored


_MATCHES: dict[str, Callable[[Any, Any], bool]] = {
    "exact": lambda stored, value: bool(stored == value),
    "contains": _contains,
    "in": lambda stored, value: stored in value,
    "regex": lambda stored, value: isinstance(stored, str) and patterns.found(value, stored),
}
