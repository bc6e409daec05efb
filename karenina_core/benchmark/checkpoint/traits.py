"""Traits in benchmark files: one rating for each. What cannot be evaluated is kept as a `StoredTrait` with the reason.

`KINDS` says for every kind of trait which fields stand in which properties; reading and writing follow it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.benchmark.checkpoint.nodes import (
    ABSENT,
    GLOBAL,
    PLAIN,
    PREFIX,
    QUESTION,
    Repairs,
    laid_over,
    listed,
    objects,
    plain,
    property_node,
    values_by_name,
    write_properties,
)
from karenina_core.errors import CheckpointError, InputError, validation_message
from karenina_core.patterns import MAX_PATTERN, expanded_size
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait, StoredTrait
from karenina_core.text import first_free

MAX_TRAITS = 1_000  # of one rubric
MAX_PATTERN_SIZE = 250_000  # parts of all patterns of a file, written out: compiling so many takes up to 5 s

Note = Callable[[str, str], None]
"""Reports a repair of the rating at hand: what stood there, how it was read."""


# Where a rubric's own name and description stand; the format has no other place for them.
_PLACES = {GLOBAL: "global", QUESTION: "question"}
RUBRIC_PROPERTIES = {
    scope: {part: f"{place}_rubric_{part}" for part in ("name", "description")} for scope, place in _PLACES.items()
}


class _UnusableError(ValueError):
    """The rating describes no trait that can be evaluated."""


class Field(NamedTuple):
    """A field of a trait.

    Attributes:
        name: In the trait.
        default: What a rating without its property means.
        decode: Turns what the file holds into the value.
        other: The names of its property, where they differ; the first is written.
    """

    name: str
    default: Any = None
    decode: Callable[[Any], Any] = lambda stored: stored
    other: tuple[str, ...] = ()

    @property
    def properties(self) -> tuple[str, ...]:
        """Its properties in the file: the one that is written, and older names of it."""
        return self.other or (self.name,)


class Kind(NamedTuple):
    """A kind of trait.

    Attributes:
        types: What its `additionalType` ends in; the first is written, the others are read too.
        model: The class of its traits, None when they are kept and never evaluated.
        fields: All beside name, description, summary and `higher_is_better`.
        higher_is_better: What a rating that does not say means.
        complete: Settles what depends on more than one field: given the fields, the rating and its properties.
    """

    types: tuple[str, ...]
    model: type[RubricTrait] | type[ManualRubricTrait] | type[MetricRubricTrait] | None = None
    fields: tuple[Field, ...] = ()
    higher_is_better: bool | None = True
    complete: Callable[[dict[str, Any], Mapping[str, Any], Mapping[str, Any], Note], None] = lambda *_: None


def _llm_kind(kind: Any) -> Any:
    return "binary" if kind == "boolean" else kind


def _complete_llm(data: dict[str, Any], rating: Mapping[str, Any], values: Mapping[str, Any], note: Note) -> None:
    best, worst = rating.get("bestRating"), rating.get("worstRating")
    if data["kind"] is None and "classes" in values:
        data["kind"] = "literal"
    elif data["kind"] is None:
        data["kind"] = "binary" if (best, worst) == (1, 0) else "score"
        if best is None and worst is None and not {"min_score", "max_score"} & values.keys():
            note("the trait has neither kind nor bounds", "read as a score from 1 to 5")
    if data["kind"] != "literal":
        data["classes"] = None
    if data["kind"] != "score":
        best = worst = None  # there they are no bounds
    for name, other, usual in (("min_score", worst, 1), ("max_score", best, 5)):
        value = next(given for given in (data[name], other, usual) if given is not None)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise _UnusableError(f"the score bound {value!r} is not a whole number")
        data[name] = int(value)


def _complete_regex(data: dict[str, Any], *_: Any) -> None:
    if not data["pattern"]:
        raise _UnusableError("it has no pattern")


_MODES = {None: None, "tp_only": "tp_only", "full_matrix": "full_matrix", "tp_and_tn": "full_matrix"}


def _complete_metric(data: dict[str, Any], _: Mapping[str, Any], values: Mapping[str, Any], note: Note) -> None:
    mode = data["evaluation_mode"]
    if not isinstance(mode, str | None) or mode not in _MODES:
        raise _UnusableError(f"the evaluation mode {mode!r} is not supported")
    if mode != _MODES[mode]:
        note(f"the evaluation mode is {mode!r}", f"read as {_MODES[mode]!r}")
    data["evaluation_mode"] = _MODES[mode]


_METRIC_LISTS = ("metrics", "tp_instructions", "fp_instructions", "tn_instructions", "fn_instructions")
KINDS = {
    "llm": Kind(
        ("RubricTrait", "LLMRubricTrait"),
        RubricTrait,
        (Field("kind", decode=_llm_kind), Field("classes", decode=plain), Field("min_score"), Field("max_score")),
        complete=_complete_llm,
    ),
    "regex": Kind(
        ("RegexTrait", "RegexRubricTrait", "ManualRubricTrait", "ManualTrait"),
        ManualRubricTrait,
        (Field("pattern"), Field("case_sensitive", True), Field("invert", False, other=("invert_result", "invert"))),
        complete=_complete_regex,
    ),
    "metric": Kind(
        ("MetricRubricTrait", "MetricTrait"),
        MetricRubricTrait,
        (
            *(Field(name, [], plain) for name in _METRIC_LISTS),
            Field("evaluation_mode"),
            Field("repeated_extraction", True),
        ),
        higher_is_better=None,
        complete=_complete_metric,
    ),
    "callable": Kind(("CallableTrait", "CallableRubricTrait")),
    "agentic": Kind(("AgenticRubricTrait",)),
    "dynamic": Kind(("DynamicRubricTrait",)),
}
# Property names under which older programs stored traits, with the kind of trait each holds.
_CARRIED = {**{f"{kind}_rubric": kind for kind in KINDS}, "rubric": "llm", "manual_rubric": "regex"}
CARRIERS = {
    scope: {f"{place}_{name}_traits": kind for name, kind in _CARRIED.items()} for scope, place in _PLACES.items()
}
_KIND_OF_TYPE = {type_: name for name, kind in KINDS.items() for type_ in kind.types}
_ALWAYS_MANAGED = frozenset({"summary", "higher_is_better", "invert", "callable_name"})


def read_rating(rating: dict[str, Any], place: str, where: str, repairs: Repairs) -> tuple[str, AnyTrait]:
    """Return the scope of a rating and its trait.

    Args:
        rating: The node; it is not changed.
        place: The scope of the list it stands in: `Global` or `QuestionSpecific`.
        where: That list in words.
        repairs: Gets a note of everything that was not read as it stands.
    """
    name = _usable_name(rating.get("name"))
    note: Note = partial(repairs.add, f"{where}, trait {name}")
    if name != rating.get("name"):
        note(f"the trait name {rating.get('name')!r} is not usable", "it got another one")
    values = values_by_name(rating.get("additionalProperty"))
    scope, kind, written_type = _type_of(rating, place, values, note)
    if str(rating.get("additionalType")).removeprefix(PREFIX) != written_type.removeprefix(PREFIX):
        rating = {**rating, "additionalType": written_type}
    description, summary = (_text(given) for given in (rating.get("description"), values.get("summary")))
    stored = StoredTrait(name=name, description=description, kind=kind, rating=rating)
    try:
        _count_pattern(values.get("pattern"), repairs)
        if kind not in KINDS:
            raise _UnusableError(f"the type {rating.get('additionalType')!r} is not known")
        schema = plain(values.get("kind"))
        if kind == "llm" and (schema == "template" or isinstance(schema, dict)):
            return scope, stored.model_copy(update={"kind": "template"})
        model = KINDS[kind].model
        if model is None:
            return scope, stored
        if kind == "metric" and repairs.counts_repeats and "repeated_extraction" not in values:
            note("repeated mentions are not said to count once", "every mention counts")
            values["repeated_extraction"] = False
        data = {**_data_of(KINDS[kind], rating, values, note), "description": description, "summary": summary}
        trait = model.model_validate({**data, "name": name})
        if not str(rating["additionalType"]).startswith(PREFIX):
            note(f"the type lacks the prefix {PREFIX!r}", "prefix added")
        return scope, trait
    except (_UnusableError, InputError, ValidationError) as error:
        problem = validation_message(error)
        note(f"the trait cannot be evaluated: {problem}", "kept as it is")
        return scope, stored.model_copy(update={"problem": problem})


def _data_of(kind: Kind, rating: Mapping[str, Any], values: Mapping[str, Any], note: Note) -> dict[str, Any]:
    given = {}
    for field in kind.fields:
        used = next((name for name in field.properties if name in values), field.properties[0])
        if used != field.properties[0]:
            note(f"the property is named {used!r}", f"read as {field.properties[0]!r}")
        given[field.name] = values.get(used)
    data = {f.name: f.default if given[f.name] is None else f.decode(given[f.name]) for f in kind.fields}
    kind.complete(data, rating, values, note)
    return {**data, "higher_is_better": values.get("higher_is_better", kind.higher_is_better)}


def _count_pattern(pattern: Any, repairs: Repairs) -> None:
    if isinstance(pattern, str) and len(pattern) <= MAX_PATTERN:  # others are refused without a look
        repairs.pattern_size += max(len(pattern), expanded_size(pattern))
    if pattern is not None and repairs.pattern_size > MAX_PATTERN_SIZE:
        raise _UnusableError(
            f"the regular expressions of the file have more than {MAX_PATTERN_SIZE:,} parts, repetitions written out"
        )


def _type_of(rating: Mapping[str, Any], place: str, values: Mapping[str, Any], note: Note) -> tuple[str, str, str]:
    """Return the scope and kind of a rating, and its type as it is written today.

    What `additionalType` does not say follows from the place and the properties of the rating.
    """
    text = rating.get("additionalType")
    if not isinstance(text, str):
        author = str(rating.get("author"))
        scope = {"Global Rubric": GLOBAL, "Question-Specific Rubric": QUESTION}.get(author, place)
        kind = kind_by_shape(values)
        note("the rating has no additionalType", f"read as {scope} {kind} trait")
        return scope, kind, f"{PREFIX}{scope}{KINDS[kind].types[0]}"
    bare = text.removeprefix(PREFIX)
    scope = next((scope for scope in (GLOBAL, QUESTION) if bare.startswith(scope)), "")
    type_ = bare.removeprefix(scope)
    if not scope or type_ not in _KIND_OF_TYPE:
        return scope or place, bare, text
    if type_.startswith("Manual"):
        kind = "callable" if "callable_name" in values and not values.get("pattern") else "regex"
        note(f"the type {type_!r} is an older name", f"read as a {kind} trait")
        type_ = KINDS[kind].types[0]
    return scope, _KIND_OF_TYPE[type_], f"{PREFIX}{scope}{type_}"


def kind_by_shape(values: Mapping[str, Any]) -> str:
    """Return the kind of a trait of which only the properties are known."""
    shapes = (("callable_code", "callable"), ("pattern", "regex"), ("metrics", "metric"))
    return next((kind for name, kind in shapes if name in values), "llm")


def _usable_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        return "Unnamed trait"
    if len(name) <= 255 and not any(character in name for character in "\n\r\0"):
        return name
    return " ".join(name.replace("\0", " ").split())[:255]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def write_rating(trait: AnyTrait, scope: str, read: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the rating of a trait.

    Args:
        trait: The trait.
        scope: `Global` or `QuestionSpecific`.
        read: The rating it was read from, if any; what it holds beyond the trait is kept.
    """
    if isinstance(trait, StoredTrait):
        return _stored_rating(trait, scope)
    repairs = Repairs()
    base = read or {}
    is_whole = {"bestRating", "worstRating"} <= base.keys()  # plain objects of other dialects may lack them
    if is_whole and read_rating(base, scope, "", repairs) == (scope, trait) and not repairs:
        return base
    bare = str(base.get("additionalType", "")).removeprefix(PREFIX).removeprefix(GLOBAL).removeprefix(QUESTION)
    if bare and _KIND_OF_TYPE.get(bare, trait.type) != trait.type:
        base = {}
    type_, worst, best = _type_and_bounds(trait)
    fields = KINDS[trait.type].fields
    values = {field.properties[0]: getattr(trait, field.name) for field in fields} | {"summary": trait.summary}
    values = {name: value for name, value in values.items() if value not in (None, [])}
    if values.get("kind") == "binary":
        values["kind"] = "boolean"
    values["higher_is_better"] = trait.higher_is_better
    managed = _ALWAYS_MANAGED | {field.properties[0] for field in fields}
    nodes = write_properties(base.get("additionalProperty"), values, lambda name: PLAIN if name in managed else None)
    written = {
        "@type": "Rating",
        "name": trait.name,
        "description": ABSENT if trait.description is None else trait.description,
        "bestRating": best,
        "worstRating": worst,
        "additionalType": f"{PREFIX}{scope}{type_}",
        "additionalProperty": nodes,
    }
    return laid_over(base, written)


def _type_and_bounds(trait: AnyTrait) -> tuple[str, int, int]:
    usual = KINDS[trait.type].types[0]
    if not isinstance(trait, RubricTrait) or trait.is_binary:
        return usual, 0, 1
    if trait.kind == "literal":
        return "LLMRubricTrait", 0, len(trait.classes or {}) - 1
    return usual, trait.min_score, trait.max_score


def _stored_rating(trait: StoredTrait, scope: str) -> dict[str, Any]:
    """Return the rating as it was read, unless the trait now has another name or place."""
    rating = trait.rating
    if rating.get("name") != trait.name:
        rating = {**rating, "name": trait.name}
    type_ = rating.get("additionalType")
    bare = type_.removeprefix(PREFIX) if isinstance(type_, str) else ""
    other = QUESTION if scope == GLOBAL else GLOBAL
    return {**rating, "additionalType": f"{PREFIX}{scope}{bare[len(other) :]}"} if bare.startswith(other) else rating


def read_traits(ratings: Any, place: str, where: str, repairs: Repairs) -> tuple[list[AnyTrait], list[AnyTrait]]:
    """Return the traits of a list of ratings: those of the scope `place` the list stands in, and those of the other."""
    own: list[AnyTrait] = []
    strays: list[AnyTrait] = []
    for rating in objects(ratings):
        scope, trait = read_rating(rating, place, where, repairs)
        (own if scope == place else strays).append(trait)
    if ratings is not None and (not isinstance(ratings, list | dict) or len(own + strays) < len(listed(ratings))):
        repairs.add(where, "a rating is no object", "left out")
    return own, strays


def make_rubric(
    traits: Iterable[AnyTrait], where: str, repairs: Repairs, name: str | None = None, description: str | None = None
) -> Rubric | None:
    """Return the rubric of the traits, None when there is nothing; a repeated name gets a number."""
    unique: dict[str, AnyTrait] = {}
    traits = list(traits)
    repairs.traits -= len(traits)
    if len(traits) > MAX_TRAITS or repairs.traits < 0:
        why = f"At most {MAX_TRAITS:,} of a rubric are read, and five for every question a file may have."
        what = f"The {where} has {len(traits):,} traits{', and others many more' if repairs.traits < 0 else ''}."
        raise CheckpointError(what, why, "Keep those that are wanted.", code="too_many_traits")
    for trait in traits:
        if trait.name not in unique:
            unique[trait.name] = trait
        elif unique[trait.name] == trait:
            repairs.add(f"{where}, trait {trait.name}", "the trait is given twice", "read once")
        else:
            renamed = first_free(partial("{} ({})".format, trait.name[:240]), unique, start=2)
            repairs.add(f"{where}, trait {trait.name}", "two traits share the name", f"the second is now {renamed!r}")
            unique[renamed] = trait.model_copy(update={"name": renamed})
    if not unique and name is None and description is None:
        return None
    return Rubric(name=name, description=description, traits=list(unique.values()))


def rubric_texts(rubric: Rubric, scope: str) -> dict[str, str]:
    """Return a rubric's own name and description by the properties that hold them."""
    texts = {place: getattr(rubric, part) for part, place in RUBRIC_PROPERTIES[scope].items()}
    return {place: text for place, text in texts.items() if text is not None}


def write_ratings(rubric: Rubric | None, scope: str, node: Mapping[str, Any]) -> Any:
    """Return the ratings of a rubric, `ABSENT` where there are none and the node they belong to had none."""
    by_name = {str(rating.get("name")): rating for rating in objects(node.get("rating"))}
    ratings = [write_rating(trait, scope, by_name.get(trait.name)) for trait in (rubric.traits if rubric else ())]
    return ratings if ratings or "rating" in node else ABSENT


# Traits that older programs stored as plain objects, turned into ratings.

_PLAIN_LISTS = {"traits": None, "manual_traits": "regex", **{f"{kind}_traits": kind for kind in KINDS}}
_ON_THE_RATING = frozenset({"name", "description", "type", "@type", "@id", "scale"})


def ratings_of_rubric(rubric: Any, scope: str, where: str, repairs: Repairs) -> list[dict[str, Any]]:
    """Return the ratings of a rubric object with `traits`, `llm_traits`, `manual_traits` and the like; none of others.

    Args:
        rubric: The object.
        scope: `Global` or `QuestionSpecific`.
        where: Its place in words.
        repairs: Gets a note that traits were converted.
    """
    lists = rubric if isinstance(rubric, Mapping) else {}
    plain_traits = [(t, kind) for key, kind in _PLAIN_LISTS.items() for t in _objects(lists.get(key), where, repairs)]
    if plain_traits:
        repairs.add(where, "the rubric is a plain object", "its traits were turned into ratings")
    return [_rating_of(trait, kind, scope) for trait, kind in plain_traits]


def rubric_names(rubric: Any, scope: str) -> list[dict[str, Any]]:
    """Return the properties that hold a plain rubric object's own name and description."""
    given = rubric if isinstance(rubric, Mapping) else {}
    places = RUBRIC_PROPERTIES[scope].items()
    return [property_node(place, text) for part, place in places if isinstance(text := given.get(part), str)]


def ratings_of_carriers(values: Mapping[str, Any], scope: str, where: str, repairs: Repairs) -> list[dict[str, Any]]:
    """Return the ratings of traits stored as additional properties under the names in `CARRIERS`."""
    ratings, carriers = [], CARRIERS[scope]
    for name in (name for name in values if name in carriers):
        traits = plain(values[name])
        if isinstance(traits, list):
            ratings += [_rating_of(trait, carriers[name], scope) for trait in _objects(traits, where, repairs)]
            repairs.add(where, f"traits are stored in the property {name!r}", "turned into ratings")
        else:
            repairs.add(where, f"the property {name!r} holds no list of traits", "kept as it is, not used")
    return ratings


def _rating_of(trait: Mapping[str, Any], kind: str | None, scope: str) -> dict[str, Any]:
    """Return the rating of one plain trait, such as `{"name": …, "pattern": …}`; whatever it holds is a property."""
    stated = str(trait.get("type"))
    if stated in KINDS or stated in _KIND_OF_TYPE:
        kind = _KIND_OF_TYPE.get(stated, stated)
    elif "callable_name" in trait or "callable_code" in trait:
        kind = "callable"
    kind = kind or kind_by_shape(trait)
    literal = kind == "llm" and (trait.get("kind") == "literal" or "classes" in trait)
    properties = {name: value for name, value in trait.items() if name not in _ON_THE_RATING}
    if kind == "callable" and isinstance(code := properties.get("callable_code"), str):
        properties["callable_code"] = _as_base64(code)
    scale = trait.get("scale")
    if isinstance(scale, list) and scale and "min_score" not in trait:
        properties |= {"min_score": scale[0], "max_score": scale[-1]}
    bounds = {"bestRating": trait.get("max_score", 1), "worstRating": trait.get("min_score", 0)}
    return {
        "@type": "Rating",
        **{key: trait[key] for key in ("@id", "name", "description") if key in trait},
        **({} if kind == "llm" and not isinstance(plain(trait.get("kind")), dict) else bounds),
        "additionalType": f"{PREFIX}{scope}{'LLMRubricTrait' if literal else KINDS[kind].types[0]}",
        "additionalProperty": [property_node(name, value) for name, value in properties.items()],
    }


def _as_base64(code: str) -> str:
    """Return code as ratings hold it; plain objects may hold its plain text, which no reader of ratings takes."""
    try:
        b64decode(code, validate=True)
    except ValueError:
        return b64encode(code.encode()).decode()
    return code


def _objects(traits: Any, where: str, repairs: Repairs) -> list[dict[str, Any]]:
    if not isinstance(traits, list):
        return []
    if len(objects(traits)) < len(traits):
        repairs.add(where, "an entry of the trait list is no object", "left out")
    return objects(traits)
