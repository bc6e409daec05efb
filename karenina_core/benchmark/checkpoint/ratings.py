"""Ratings of a file as traits. What cannot be evaluated is kept as a `StoredTrait` with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.benchmark.checkpoint.properties import plain, values_by_name
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.vocabulary import GLOBAL, PREFIX, QUESTION
from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, RubricTrait, StoredTrait

KINDS = {
    "RubricTrait": "llm",
    "LLMRubricTrait": "llm",
    "RegexTrait": "regex",
    "RegexRubricTrait": "regex",
    "ManualRubricTrait": "regex",
    "ManualTrait": "regex",
    "MetricRubricTrait": "metric",
    "MetricTrait": "metric",
    "CallableTrait": "callable",
    "CallableRubricTrait": "callable",
    "AgenticRubricTrait": "agentic",
    "DynamicRubricTrait": "dynamic",
}
SUFFIXES = {
    "llm": "RubricTrait",
    "regex": "RegexTrait",
    "metric": "MetricRubricTrait",
    "callable": "CallableTrait",
    "agentic": "AgenticRubricTrait",
}
MAX_PATTERN_TEXT = 1_000_000
METRIC_LISTS = ("metrics", "tp_instructions", "fp_instructions", "tn_instructions", "fn_instructions")
_KEPT_ONLY = frozenset({"callable", "agentic", "dynamic"})
_AUTHORS = {"Global Rubric": GLOBAL, "Question-Specific Rubric": QUESTION}
_MODES = {"tp_only": "tp_only", "full_matrix": "full_matrix", "tp_and_tn": "full_matrix", None: None}

Note = Callable[[str, str], None]
"""Reports a repair of the rating at hand: what was found, how it was read."""


class RatingType(NamedTuple):
    """What `additionalType` says.

    Attributes:
        scope: `Global` or `QuestionSpecific`.
        kind: The kind of trait, or the type's own name where it is not known.
        text: The type as it is written today.
    """

    scope: str
    kind: str
    text: str


class _NotUsableError(ValueError):
    """The rating describes no trait that can be evaluated."""


def read_rating(rating: dict[str, Any], place: str, where: str, repairs: Repairs) -> tuple[str, AnyTrait]:
    """Return the scope of a rating and its trait.

    Args:
        rating: The node; it is not changed.
        place: The scope of the list it stands in: `Global` or `QuestionSpecific`.
        where: That list in words.
        repairs: Gets a note of every liberty taken.
    """
    name = _name(rating)
    where = f"{where}, trait {name}"

    def note(what: str, action: str) -> None:
        repairs.add(where, what, action)

    if name != rating.get("name"):
        note(f"the trait name {rating.get('name')!r} is not usable", "it got another one")
    scope, kind, type_text = read_type(rating, place, note)
    if rating.get("additionalType") != type_text:
        rating = {**rating, "additionalType": type_text}
    try:
        _check_patterns(rating, repairs)
        return scope, _trait(kind, name, rating, note)
    except (_NotUsableError, ValidationError, InputError) as error:
        problem = validation_message(error)
        note(f"the trait cannot be evaluated: {problem}", "kept as it is")
        return scope, _stored(kind, name, rating, problem)


def _check_patterns(rating: Mapping[str, Any], repairs: Repairs) -> None:
    """Refuse further patterns once the file had very many: each is compiled, which takes a while."""
    pattern = values_by_name(rating.get("additionalProperty")).get("pattern")
    repairs.pattern_text += len(pattern) if isinstance(pattern, str) else 0
    if pattern is not None and repairs.pattern_text > MAX_PATTERN_TEXT:
        raise _NotUsableError(f"the regular expressions of the file have more than {MAX_PATTERN_TEXT:,} characters")


def read_type(rating: Mapping[str, Any], place: str, note: Note) -> RatingType:
    """Return the type of a rating; what it does not say follows from its place and its properties."""
    text = rating.get("additionalType")
    if not isinstance(text, str):
        author = rating.get("author")
        scope = _AUTHORS.get(author, place) if isinstance(author, str) else place
        kind = _kind_by_shape(rating)
        note("the rating has no additionalType", f"read as {scope} {kind} trait")
        return RatingType(scope, kind, f"{PREFIX}{scope}{SUFFIXES[kind]}")
    bare = text.removeprefix(PREFIX)
    scope = next((scope for scope in (GLOBAL, QUESTION) if bare.startswith(scope)), "")
    suffix = bare.removeprefix(scope)
    if not scope or suffix not in KINDS:
        return RatingType(scope or place, bare, text)
    if bare == text:
        note(f"the type lacks the prefix {PREFIX!r}", "prefix added")
    if suffix.startswith("Manual"):
        note(f"the type {suffix!r} is an older name", "read as a regex trait")
        suffix = SUFFIXES["regex"]
    return RatingType(scope, KINDS[suffix], f"{PREFIX}{scope}{suffix}")


def _kind_by_shape(rating: Mapping[str, Any]) -> str:
    values = values_by_name(rating.get("additionalProperty"))
    for name, kind in (("callable_code", "callable"), ("pattern", "regex"), ("metrics", "metric")):
        if name in values:
            return kind
    return "llm"


def _trait(kind: str, name: str, rating: dict[str, Any], note: Note) -> AnyTrait:
    values = values_by_name(rating.get("additionalProperty"))
    shared = {"name": name, "description": _text(rating.get("description")), "summary": _text(values.get("summary"))}
    if kind == "llm" and _is_schema(values.get("kind")):
        return _stored("template", name, rating)
    if kind == "llm":
        return RubricTrait.model_validate({**shared, **_llm(rating, values, note)})
    if kind == "regex":
        return ManualRubricTrait.model_validate({**shared, **_regex(values, note)})
    if kind == "metric":
        return MetricRubricTrait.model_validate({**shared, **_metric(values, note)})
    if kind in _KEPT_ONLY:
        return _stored(kind, name, rating)
    raise _NotUsableError(f"the type {rating.get('additionalType')!r} is not known")


def _is_schema(kind: Any) -> bool:
    kind = plain(kind)
    return kind == "template" or isinstance(kind, dict)


def _llm(rating: Mapping[str, Any], values: Mapping[str, Any], note: Note) -> dict[str, Any]:
    kind = values.get("kind")
    best, worst = rating.get("bestRating"), rating.get("worstRating")
    if kind == "boolean":
        kind = "binary"
    if kind is None and "classes" in values:
        kind = "literal"
    if kind is None:
        kind = "binary" if best == 1 and worst == 0 else "score"
        if best is None and worst is None and not {"min_score", "max_score"} & values.keys():
            note("the trait has neither kind nor bounds", "read as a score from 1 to 5")
    data: dict[str, Any] = {"kind": kind, "higher_is_better": values.get("higher_is_better", True)}
    if kind == "literal":
        data["classes"] = plain(values.get("classes"))
    if kind != "score":
        best = worst = None  # there they are no bounds
    data["min_score"] = _whole(values.get("min_score"), worst, 1)
    data["max_score"] = _whole(values.get("max_score"), best, 5)
    return data


def _whole(*candidates: Any) -> int:
    """Return the first value that is given, as a whole number."""
    value = next(candidate for candidate in candidates if candidate is not None)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise _NotUsableError(f"the score bound {value!r} is not a whole number")
    return int(value)


def _regex(values: Mapping[str, Any], note: Note) -> dict[str, Any]:
    if "callable_name" in values and not values.get("pattern"):
        raise _NotUsableError("it names a Python function instead of a pattern")
    if not values.get("pattern"):
        raise _NotUsableError("it has no pattern")
    if "invert" in values and "invert_result" not in values:
        note("the property is named 'invert'", "read as 'invert_result'")
    return {
        "pattern": values["pattern"],
        "case_sensitive": _default(values.get("case_sensitive"), True),
        "invert": _default(values.get("invert_result"), _default(values.get("invert"), False)),
        "higher_is_better": values.get("higher_is_better", True),
    }


def _metric(values: Mapping[str, Any], note: Note) -> dict[str, Any]:
    mode = values.get("evaluation_mode")
    if not isinstance(mode, str | None) or mode not in _MODES:
        raise _NotUsableError(f"the evaluation mode {mode!r} is not supported")
    if mode != _MODES[mode]:
        note(f"the evaluation mode is {mode!r}", f"read as {_MODES[mode]!r}")
    lists = {name: plain(values.get(name)) or [] for name in METRIC_LISTS}
    return {
        **lists,
        "evaluation_mode": _MODES[mode],
        "repeated_extraction": _default(values.get("repeated_extraction"), True),
        "higher_is_better": values.get("higher_is_better"),
    }


def _default(value: Any, default: Any) -> Any:
    return default if value is None else value


def _stored(kind: str, name: str, rating: dict[str, Any], problem: str | None = None) -> StoredTrait:
    description = _text(rating.get("description"))
    return StoredTrait(name=name, description=description, kind=kind, rating=rating, problem=problem)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def _name(rating: Mapping[str, Any]) -> str:
    name = rating.get("name")
    if not isinstance(name, str) or not name.strip():
        return "Unnamed trait"
    if len(name) <= 255 and not any(character in name for character in "\n\r\0"):
        return name
    return " ".join(name.replace("\0", " ").split())[:255]
