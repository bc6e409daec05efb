"""A benchmark file of any dialect as contents, with a list of what had to be repaired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.dialects import to_current
from karenina_core.benchmark.checkpoint.entries import Dates, read_entry
from karenina_core.benchmark.checkpoint.legacy_traits import ratings_of_carriers
from karenina_core.benchmark.checkpoint.properties import UNREADABLE, values_by_name
from karenina_core.benchmark.checkpoint.repairs import Repair, Repairs
from karenina_core.benchmark.checkpoint.root_properties import decode, is_custom
from karenina_core.benchmark.checkpoint.rubrics import make_rubric, read_traits
from karenina_core.benchmark.checkpoint.vocabulary import (
    GLOBAL,
    GLOBAL_CARRIERS,
    GLOBAL_RUBRIC_DESCRIPTION,
    GLOBAL_RUBRIC_NAME,
)
from karenina_core.benchmark.contents import DEFAULT_CREATOR, Contents
from karenina_core.errors import CheckpointError
from karenina_core.files import MAX_BYTES, garbage_collection_paused, read_json, scaled
from karenina_core.schemas import AnyTrait, Rubric
from karenina_core.schemas.entities.question import now

MAX_QUESTIONS = 20_000
_ROOT = "the file"
_RUBRIC = "global rubric"


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
    repairs = Repairs()
    if not isinstance(document, dict):
        raise _not_a_benchmark(f"Its outermost value is no object but {type(document).__name__}.")
    current, converted = to_current(document, repairs)
    elements = current.get("dataFeedElement")
    if not isinstance(elements, list):
        raise _not_a_benchmark("It has no list of questions ('dataFeedElement').")
    if len(elements) > most:
        raise CheckpointError(
            f"The file has {len(elements):,} questions.",
            f"At most {most:,} are read.",
            "Split it into several benchmarks.",
            code="too_many_questions",
        )
    contents = _header(current, repairs)
    strays = _read_entries(elements, contents, converted, repairs)
    contents.rubric = _rubric(current, strays, repairs)
    return contents, repairs.to_list()


def _not_a_benchmark(why: str) -> CheckpointError:
    return CheckpointError(
        "The file is not a benchmark.", why, "Open a benchmark file (.jsonld or .json).", code="not_a_benchmark"
    )


def _header(root: dict[str, Any], repairs: Repairs) -> Contents:
    if root.get("@type", "DataFeed") != "DataFeed":
        repairs.add(_ROOT, f"its type is {root['@type']!r}", "read as DataFeed")
    if not isinstance(root.get("@context"), dict):
        repairs.add(_ROOT, "the @context is no object", "replaced by the current one when saved")
    values = values_by_name(root.get("additionalProperty"), _ROOT, repairs)
    dates = _dates(root, repairs)
    creator = root.get("creator", DEFAULT_CREATOR)
    if not isinstance(creator, str | dict):
        repairs.add(_ROOT, f"the creator is {creator!r}", "read as not given")
        creator = DEFAULT_CREATOR
    return Contents(
        name=_text(root, "name", "Unnamed benchmark", repairs),
        description=_text(root, "description", "", repairs) if root.get("description") is not None else None,
        version=_text(root, "version", "0.1.0", repairs) if "version" in root else "0.1.0",
        creator=creator,
        created_at=dates.created,
        modified_at=dates.modified,
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
    created, modified = root.get("dateCreated"), root.get("dateModified")
    known = next((date for date in (created, modified) if isinstance(date, str) and date), None)
    if not (isinstance(created, str) and isinstance(modified, str) and created and modified):
        what = "the other date is used" if known else "the present time is used"
        repairs.add(_ROOT, "dateCreated or dateModified is missing", what)
    fallback = known or now()
    return Dates(
        created if isinstance(created, str) and created else fallback,
        modified if isinstance(modified, str) and modified else fallback,
    )


def _read_entries(elements: list[Any], contents: Contents, converted: bool, repairs: Repairs) -> list[AnyTrait]:
    strays: list[AnyTrait] = []
    dates = Dates(contents.created_at, contents.modified_at)
    for element in elements:
        if not isinstance(element, dict) or not isinstance(element.get("item"), dict):
            repairs.add(_ROOT, "an element holds no question", "left out")
            continue
        entry, of_question = read_entry(element, contents.entries, dates, repairs, converted=converted)
        contents.entries[entry.question.stored_id] = entry
        strays += of_question
    return strays


def _rubric(root: Mapping[str, Any], strays: list[AnyTrait], repairs: Repairs) -> Rubric | None:
    own, misplaced = read_traits(root.get("rating"), GLOBAL, _RUBRIC, repairs)
    if misplaced:
        repairs.add(_RUBRIC, "it holds traits of type QuestionSpecific", "read as global")
    nodes = root.get("additionalProperty")
    carried, _ = read_traits(
        ratings_of_carriers(nodes, GLOBAL_CARRIERS, GLOBAL, _RUBRIC, repairs), GLOBAL, _RUBRIC, repairs
    )
    traits = [*own, *misplaced]
    traits += _missing(carried, {trait.name for trait in traits}, "an older property", repairs)
    lifted = _missing(strays, {trait.name for trait in traits}, "a question", repairs)
    for trait in lifted:
        repairs.add(f"trait {trait.name}", "the global trait stands in a question", "moved to the global rubric")
    traits += lifted
    values = {name: decode(name, value) for name, value in values_by_name(nodes).items()}
    name, description = (_optional(values.get(key)) for key in (GLOBAL_RUBRIC_NAME, GLOBAL_RUBRIC_DESCRIPTION))
    return make_rubric(traits, _RUBRIC, repairs, name, description)


def _optional(value: Any) -> str | None:
    return None if value is UNREADABLE else value


def _missing(others: list[AnyTrait], names: set[str], place: str, repairs: Repairs) -> list[AnyTrait]:
    """Return the traits of another place that the global rubric lacks; most just repeat what it has."""
    missing: dict[str, AnyTrait] = {}
    for trait in others:
        if trait.name in names or trait.name in missing:
            repairs.add(f"trait {trait.name}", f"{place} repeats the global trait", "read once")
        else:
            missing[trait.name] = trait
    return list(missing.values())
