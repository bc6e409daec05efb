"""A whole benchmark file as `Contents`, with a list of what had to be repaired; and `Contents` as a file.

What a file holds beyond this program's knowledge is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.dialects import to_current
from karenina_core.benchmark.checkpoint.nodes import (
    ABSENT,
    CONTEXT,
    FORMAT_VERSION,
    FORMAT_VERSION_NAME,
    GLOBAL,
    PLAIN,
    Codec,
    Repair,
    Repairs,
    laid_over,
    values_by_name,
    write_properties,
)
from karenina_core.benchmark.checkpoint.questions import (
    Dates,
    read_entry,
    rubric_codecs,
    text_or_unreadable,
    write_entry,
)
from karenina_core.benchmark.checkpoint.traits import (
    RUBRIC_PROPERTIES,
    make_rubric,
    ratings_of_carriers,
    read_traits,
    rubric_texts,
    write_ratings,
)
from karenina_core.benchmark.question import DEFAULT_CREATOR, Contents
from karenina_core.errors import CheckpointError
from karenina_core.files import MAX_BYTES, garbage_collection_paused, json_bytes, read_json, scaled
from karenina_core.schemas import AnyTrait, Rubric
from karenina_core.schemas.entities.question import now

MAX_QUESTIONS = 20_000
_TRAITS_EACH = 5  # of their own, on average
ELEMENTS = "dataFeedElement"
"""Where a file holds its questions."""

_ROOT = "the file"
_SETTING = "deep_judgment_"
_RUBRIC = "global rubric"
_NAME, _DESCRIPTION = RUBRIC_PROPERTIES[GLOBAL].values()
_MANAGED = {FORMAT_VERSION_NAME: Codec(text_or_unreadable), **rubric_codecs(GLOBAL)}


def _codec_of(name: str) -> Codec:
    return _MANAGED.get(name, PLAIN)


def is_custom(name: str) -> bool:
    """Whether a property of the file belongs to the user rather than to the format."""
    return name not in _MANAGED


def read_checkpoint(data: bytes | str, *, limit: int = MAX_BYTES) -> tuple[Contents, list[Repair]]:
    """Read a benchmark file.

    Args:
        data: Its content.
        limit: Largest size in bytes; the number of questions allowed grows with it.

    Raises:
        CheckpointError: It is no JSON within the limits, or no benchmark.
    """
    with garbage_collection_paused():
        return read_document(read_json(data, limit=limit), most=scaled(MAX_QUESTIONS, limit))


def read_document(document: Any, *, most: int = MAX_QUESTIONS) -> tuple[Contents, list[Repair]]:
    """Read a benchmark from the JSON of its file, which is not changed.

    Raises:
        CheckpointError: It is no benchmark, or one with too many questions.
    """
    repairs = Repairs(traits=_TRAITS_EACH * most)
    if not isinstance(document, dict):
        raise _not_a_benchmark(f"Its outermost value is no object but {type(document).__name__}.")
    root, converted = to_current(document, repairs)
    elements = root.get(ELEMENTS)
    if not isinstance(elements, list):
        raise _not_a_benchmark(f"It has no list of questions ({ELEMENTS!r}).")
    if len(elements) > most:
        what, why = f"The file has {len(elements):,} questions.", f"At most {most:,} are read."
        raise CheckpointError(what, why, "Split it into several benchmarks.", code="too_many_questions")
    values = values_by_name(root.get("additionalProperty"), _ROOT, repairs)
    # The graphical editor's default, until a program that states what it means has saved the file.
    repairs.counts_repeats = "checkpoint_format_version" in values and FORMAT_VERSION_NAME not in values
    contents = _header(root, values, repairs)
    dates = Dates(contents.created_at, contents.modified_at)
    strays: list[AnyTrait] = []
    for element in elements:
        if not isinstance(element, dict) or not isinstance(element.get("item"), dict):
            repairs.add(_ROOT, "an element holds no question", "left out")
            continue
        entry, misplaced = read_entry(element, contents.entries, dates, repairs, converted=converted)
        contents.entries[entry.question.stored_id] = entry
        strays += misplaced
    contents.rubric = _rubric(root, values, strays, repairs)
    return contents, repairs.to_list()


def _not_a_benchmark(why: str) -> CheckpointError:
    next_step = "Open a benchmark file (.jsonld or .json)."
    return CheckpointError("The file is not a benchmark.", why, next_step, code="not_a_benchmark")


def _header(root: dict[str, Any], values: Mapping[str, Any], repairs: Repairs) -> Contents:
    if root.get("@type", "DataFeed") != "DataFeed":
        repairs.add(_ROOT, f"its type is {root['@type']!r}", "read as DataFeed")
    if not isinstance(root.get("@context"), dict):
        repairs.add(_ROOT, "the @context is no object", "replaced by the current one when saved")
    creator = root.get("creator", DEFAULT_CREATOR)
    if not isinstance(creator, str | dict):
        repairs.add(_ROOT, f"the creator is {creator!r}", "read as not given")
        creator = DEFAULT_CREATOR
    created, modified = _dates(root, repairs)
    return Contents(
        name=_text(root, "name", "Unnamed benchmark", repairs),
        description="" if root.get("description") is None else _text(root, "description", "", repairs),
        version=_text(root, "version", "", repairs) if "version" in root else "0.1.0",
        creator=creator,
        created_at=created,
        modified_at=modified,
        properties={name: value for name, value in values.items() if is_custom(name)},
        node=root,
    )


def _text(root: Mapping[str, Any], key: str, default: str, repairs: Repairs) -> str:
    value = root.get(key)
    if isinstance(value, str):
        return value
    text = default if value is None else str(value)
    repairs.add(_ROOT, f"the {key} is {value!r}" if key in root else f"there is no {key}", f"read as {text!r}")
    return text


def _dates(root: Mapping[str, Any], repairs: Repairs) -> Dates:
    given = [root.get(key) for key in ("dateCreated", "dateModified")]
    dates = [date for date in given if isinstance(date, str) and date]
    if len(dates) < 2:
        what = "the other date is used" if dates else "the present time is used"
        repairs.add(_ROOT, "dateCreated or dateModified is missing", what)
        dates = [dates[0] if dates else now()] * 2
    return Dates(*dates)


def _rubric(
    root: Mapping[str, Any], values: Mapping[str, Any], strays: list[AnyTrait], repairs: Repairs
) -> Rubric | None:
    own, misplaced = read_traits(root.get("rating"), GLOBAL, _RUBRIC, repairs)
    if misplaced:
        repairs.add(_RUBRIC, "it holds traits of type QuestionSpecific", "read as global")
    ratings = ratings_of_carriers(values, GLOBAL, _RUBRIC, repairs)
    carried, _ = read_traits(ratings, GLOBAL, _RUBRIC, repairs)
    traits = [*own, *misplaced]
    traits += _missing(carried, traits, "an older property", repairs)
    lifted = _missing(strays, traits, "a question", repairs)
    for trait in lifted:
        repairs.add(f"trait {trait.name}", "the global trait stands in a question", "moved to the global rubric")
    name, description = (text if isinstance(text := values.get(key), str) else None for key in (_NAME, _DESCRIPTION))
    return make_rubric([*traits, *lifted], _RUBRIC, repairs, name, description)


def _missing(others: list[AnyTrait], traits: list[AnyTrait], place: str, repairs: Repairs) -> list[AnyTrait]:
    """Return the traits of another place that the global rubric lacks; most just repeat what it has."""
    names = {trait.name for trait in traits}
    missing: dict[str, AnyTrait] = {}
    for trait in others:
        if trait.name in names or trait.name in missing:
            repairs.add(f"trait {trait.name}", f"{place} repeats the global trait", "read once")
        else:
            missing[trait.name] = trait
    return list(missing.values())


def write_frame(contents: Contents) -> dict[str, Any]:
    """Return the JSON of a file without its questions. It shares parts with the contents, so it is for reading only."""
    node, rubric = contents.node, contents.rubric
    properties = {**contents.properties, FORMAT_VERSION_NAME: FORMAT_VERSION}
    if rubric is not None:
        properties |= rubric_texts(rubric, GLOBAL)
    values = {
        "@context": CONTEXT,
        "@type": "DataFeed",
        "name": contents.name,
        "description": contents.description or ("" if isinstance(node.get("description"), str) else ABSENT),
        "version": contents.version,
        "creator": contents.creator,
        "dateCreated": contents.created_at,
        "dateModified": contents.modified_at,
        "rating": write_ratings(rubric, GLOBAL, node),
        ELEMENTS: [],
        "additionalProperty": write_properties(node.get("additionalProperty"), properties, _codec_of),
    }
    return laid_over(node, values)


def document_bytes(contents: Contents, *, limit: int, deep_judgment: bool = True) -> bytes:
    """Return the content of a file.

    Args:
        contents: What to write.
        limit: As for `read_json`, which accepts what is written.
        deep_judgment: Whether to keep the `deep_judgment_*` settings that traits of a file may carry.

    Raises:
        CheckpointError: It cannot be written, or could not be read back.
    """
    document = {**write_frame(contents), ELEMENTS: list(map(write_entry, list(contents.entries.values())))}
    with garbage_collection_paused():
        return json_bytes(document if deep_judgment else _without_deep_judgment(document), limit=limit)


def _without_deep_judgment(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_deep_judgment(item) for key, item in value.items() if not key.startswith(_SETTING)}
    if isinstance(value, list):
        kept = (item for item in value if not (isinstance(item, dict) and str(item.get("name")).startswith(_SETTING)))
        return list(map(_without_deep_judgment, kept))
    return value
