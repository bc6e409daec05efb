"""A question as a form of texts and rows, and back. What the form has no place for is shown as JSON and kept.

Only what was edited is read back, so that a form never rewrites what nobody touched.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.errors import CheckpointError, InputError
from karenina_core.files import read_json

Row = dict[str, str]

AUTHOR = ("name", "email", "affiliation")
SOURCE = ("name", "url")
MORE = "more"
_PLAIN = ("question", "raw_answer", "finished")
_OPTIONAL = ("answer_notes", "answer_template", "workspace_path")
_AUTHOR_FIELDS = frozenset(f"author_{name}" for name in (*AUTHOR, MORE))


def form_of(question: BenchmarkQuestion) -> dict[str, Any]:
    """Return the values of the form: texts, `keywords`, `finished`, and rows of texts."""
    author = _split(question.author or {}, AUTHOR)
    return {
        **{name: getattr(question, name) for name in _PLAIN},
        **{name: getattr(question, name) or "" for name in _OPTIONAL},
        "keywords": list(question.keywords),
        **{f"author_{name}": value for name, value in author.items()},
        "sources": [_split(source, SOURCE) for source in question.sources or ()],
        "few_shot_examples": [
            {"question": example.question, "answer": example.answer} for example in question.few_shot_examples or ()
        ],
        "custom_metadata": [
            {"name": name, "value": text_of_value(value)} for name, value in (question.custom_metadata or {}).items()
        ],
    }


def fields_of(form: Mapping[str, Any], edited: Collection[str]) -> dict[str, Any]:
    """Return the fields of the question that the edited values of the form stand for.

    Args:
        form: All values, as of `form_of`; cells of rows may be None.
        edited: Names of the values to read.

    Raises:
        InputError: A value makes no sense; says which and what to do.
    """
    fields: dict[str, Any] = {name: form[name] for name in _PLAIN if name in edited}
    fields |= {name: form[name] if form[name].strip() else None for name in _OPTIONAL if name in edited}
    if fields.get("workspace_path"):
        fields["workspace_path"] = fields["workspace_path"].strip()
    if "keywords" in edited:
        fields["keywords"] = keywords_of(form["keywords"])
    if not _AUTHOR_FIELDS.isdisjoint(edited):
        fields["author"] = _author(form)
    for name, read in (("sources", _sources), ("few_shot_examples", _examples), ("custom_metadata", _metadata)):
        if name in edited:
            fields[name] = read(form[name]) or None
    return fields


def keywords_of(words: Sequence[str]) -> list[str]:
    """Return keywords without blanks around them, each once."""
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))


def text_of_value(value: Any) -> str:
    """Return a JSON value as a person reads it: a text as it is, unless it could be taken for something else."""
    if isinstance(value, str) and not _looks_like_json(value):
        return value
    return _json(value)


def value_of_text(text: str) -> Any:
    """Return the JSON value that a text stands for; whatever is no JSON is the text itself.

    Raises:
        InputError: It begins like JSON and is none.
    """
    try:
        value = read_json(text)
    except CheckpointError as error:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise InputError(
                f"The value {_shortened(text)} begins like JSON and cannot be read as such.",
                error.why or error.what,
                'Correct it, or put the whole of it in double quotes to keep it as a text, such as "[draft]".',
            ) from error
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return to_json(value).decode()


def _looks_like_json(text: str) -> bool:
    if text.lstrip()[:1] in ("{", "[", '"'):
        return True
    return bool(value_of_text(text) != text)


def _split(given: Mapping[str, Any], shown: Sequence[str]) -> Row:
    """Return the entries that the form has a place for, and all others as JSON."""
    fitting = {name: given[name] for name in shown if isinstance(given.get(name), str) and given[name].strip()}
    rest = {name: value for name, value in given.items() if name not in fitting}
    return {
        **{name: fitting.get(name, "") for name in shown},
        MORE: _json(rest) if rest else "",
    }


def _joined(row: Mapping[str, Any], shown: Sequence[str], where: str) -> dict[str, Any]:
    given = {name: text.strip() for name in shown if (text := row.get(name) or "").strip()}
    more = (row.get(MORE) or "").strip()
    if not more:
        return given
    advice = 'Write them such as {"orcid": "0000-0001-2345-6789"}, or leave them empty.'
    try:
        rest = read_json(more)
    except CheckpointError as error:
        raise InputError(f"The other details of {where} are no JSON.", error.why or error.what, advice) from error
    if not isinstance(rest, dict):
        raise InputError(f"The other details of {where} are no JSON object.", f"They read {_shortened(more)}.", advice)
    return {**rest, **given}


def _author(form: Mapping[str, Any]) -> dict[str, Any] | None:
    row = {name: form[f"author_{name}"] for name in (*AUTHOR, MORE)}
    author = _joined(row, AUTHOR, "the author")
    if author and not (row[MORE] or "").strip():
        return {"@type": "Person", **author}
    return author or None


def _sources(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = [_joined(row, SOURCE, f"source {number}") for number, row in enumerate(rows, 1)]
    return [source for source in found if source]


def _examples(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    found = []
    for number, row in enumerate(rows, 1):
        question, answer = row.get("question") or "", row.get("answer") or ""
        if not question.strip() and not answer.strip():
            continue
        if not question.strip() or not answer.strip():
            lacking = "answer" if question.strip() else "question"
            raise InputError(f"Few-shot example {number} has no {lacking}.", next="Fill it in, or delete the row.")
        found.append({"question": question, "answer": answer})
    return found


def _metadata(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, row in enumerate(rows, 1):
        name, value = (row.get("name") or "").strip(), row.get("value") or ""
        if not name and not value.strip():
            continue
        if not name:
            raise InputError(
                f"Entry {number} of the custom metadata has a value and no name.",
                next="Name it, or delete the row.",
            )
        if name in found:
            raise InputError(f"The name {name!r} is there twice in the custom metadata.", next="Rename one of them.")
        found[name] = value_of_text(value)
    return found


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
