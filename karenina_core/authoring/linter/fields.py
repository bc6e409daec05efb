"""Rules on single fields: the truth, what the judge is told, the comparison, and normalisers.

The docstring of a rule is what people read: why it matters, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from karenina_core import patterns
from karenina_core.authoring.field_types import converted, full_date, suggest_rule, suggest_type, yes_or_no
from karenina_core.authoring.linter.findings import Known, Problem, parameters, rule, with_rule
from karenina_core.authoring.reading import (
    gives_away,
    is_placeholder,
    read_figure,
    spread,
    with_synonyms,
    words,
)
from karenina_core.schemas import (
    FIELD_TYPES,
    NATURAL,
    Normalizer,
    SynonymMap,
    field_kind,
    is_ambiguous,
    listed,
    normalize,
    normalized,
    quoted,
    read_date,
    read_number,
)
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive, VerificationPrimitive
from karenina_core.templates import FieldSpec

LONGEST_EXACT = 8  # words; longer texts are hardly ever written the same way twice
MOST_LOOKED_FOR = 200  # items; looking for each in a long reference answer takes a while
_CASE = {"lowercase", "casefold"}
_TEXT_RULES = ("SetContainment", "ContainsAny", "ContainsAll", "ExactMatch", "OrderedMatch")
_FORMS = {
    "bool": "Whether, according to the response, the answer is yes: {it}",
    "int": "The {it} stated in the response, as a whole number without its unit",
    "float": "The {it} stated in the response, as a decimal number without its unit",
    "str": "The {it} that the response settles on, as short as it is written there",
    "list_str": "The {it} listed in the response, one entry each",
    "date": "The {it} stated in the response, as a calendar date",
    "literal": "The category of {it} the response settles on",
    "other": "The {it} that the response settles on, complete and as it is written there",
}
_FILLERS = frozenset(
    ["a", "an", "and", "are", "as", "at", "be", "by", "does", "for", "from", "given", "give", "gives", "has", "have",
     "if", "in", "is", "it", "its", "of", "on", "or", "s", "should", "stated", "states", "that", "the", "their",
     "this", "to", "was", "what", "where", "whether", "which", "with", "you", "your", "answer", "answers", "correct",
     "data", "description", "extract", "extracted", "field", "found", "item", "mentioned", "model", "name", "named",
     "number", "output", "question", "reply", "response", "result", "right", "string", "text", "thing", "value"]
)  # fmt: skip
_SIGNS_IN_NUMBER = re.compile(r"\d[.,/:-]\d|(?<!\w)-\d")
_SOURCES = frozenset(["mentioned", "stated", "named", "given", "reported", "listed", "described", "response"])


def uses_truth(item: FieldSpec) -> bool:
    """Whether the rule of a field compares with its ground truth; False for fields without a rule."""
    rule = item.primitive
    return item.own_rule is not None or isinstance(rule, TracePrimitive) or bool(rule and rule.uses_ground_truth)


# --- The truth -------------------------------------------------------------------------------------------------------


def _has_wrong_type(item: FieldSpec) -> bool:
    compared = uses_truth(item) and (item.is_trace or not is_placeholder(item.ground_truth))
    return compared and not FIELD_TYPES[item.type].fits(item.ground_truth)


@rule("field", "error")
def truth_fails_rule(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """No answer can pass, not even the right one; a rule that does not use the truth should at least agree with it.

    Correct the truth or the parameters of the rule; where the rule ignores the truth, N/A is usual.
    """
    rule, truth = item.primitive, item.ground_truth
    if not isinstance(rule, VerificationPrimitive) or item.is_semantic or _has_wrong_type(item):
        return
    if not rule.uses_ground_truth and (is_placeholder(truth) or (truth == 0 and not isinstance(truth, bool))):
        return
    try:
        explanation = rule.explain(truth, truth)
    except patterns.PatternTimeoutError:
        return
    form, read = parameters(item).get("format"), read_date(truth)
    label, better = "", None
    if not rule.uses_ground_truth:
        label, better = "Use a placeholder as the truth", 0 if item.type in ("int", "float") else "N/A"
    elif form and read is not None and read.moment is not None:
        label, better = f"Write it as {form}", read.moment.strftime(form)
    if not explanation.passed:
        what = f"The truth {quoted(truth)} fails its own rule. {explanation.reason}"
        yield Problem(what, label, {"ground_truth": better} if label else None)


@rule("field", "error")
def truth_type(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge's values have the type of the field, so the comparison may fail for right answers.

    Write the truth in the type of the field.
    """
    if _has_wrong_type(item):
        value = converted(item.type, item.ground_truth)
        value = value is not False if item.is_trace else value
        changes = None if value is None else {"ground_truth": value}
        what = f"The truth {quoted(item.ground_truth)} is not {FIELD_TYPES[item.type].noun}, as the field is."
        yield Problem(what, f"Make it {quoted(value)}", changes)


def _key(value: Any) -> str:
    return str(value).strip().casefold()


def _among(value: Any, options: list[Any]) -> bool:
    return any(value == option and type(value) is type(option) for option in options)


@rule("field", "error")
def truth_not_option(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge can only choose an option, so no answer can pass.

    Add the truth to the options, or correct it.
    """
    options, truth = item.literal_values, item.ground_truth
    if item.type != "literal" or not uses_truth(item) or _among(truth, options):
        return
    what = f"The truth {quoted(truth)} is none of the options."
    alike = [value for value in options if _key(value) == _key(truth)]
    if alike:
        yield Problem(what, f"Make the truth {quoted(alike[0])}", {"ground_truth": alike[0]})
    else:
        usable = isinstance(truth, str | int) and not is_placeholder(truth)
        yield Problem(what, "Add it to the options", {"literal_values": [*options, truth]} if usable else None)


@rule("field", "error")
def truth_placeholder(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Answers would have to give the placeholder to pass.

    Write the expected value.
    """
    truth, answer = item.ground_truth, known.reference_answer
    option = item.type == "literal" and _among(truth, item.literal_values)
    if not uses_truth(item) or item.is_trace or option or not is_placeholder(truth):
        return
    if item.type != "list_str" or truth != []:
        value = converted(item.type, answer) if answer else None
        usable = value is not None and (item.type != "literal" or _among(value, item.literal_values))
        what = f"The truth {quoted(truth)} is a placeholder, but the rule compares with it."
        yield Problem(what, "Take the reference answer", {"ground_truth": value} if usable else None)


@rule("field", "warning")
def date_ambiguous(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The same text is another day elsewhere.

    Write it as year-month-day.
    """
    rule = item.verify_with or {}
    if item.type != "date" or rule.get("format"):
        return
    first = bool(rule.get("dayfirst"))
    places = {"truth": item.ground_truth if uses_truth(item) else None, "min": rule.get("min"), "max": rule.get("max")}
    unclear = {name: text for name, text in places.items() if isinstance(text, str) and is_ambiguous(text)}
    if not unclear:
        return
    clear = {name: str(read_date(text, None, first)) for name, text in unclear.items()}
    changes: dict[str, Any] = {"ground_truth": clear.pop("truth")} if "truth" in clear else {}
    shown = next(iter(unclear.values()))
    how = f"with the {'day' if first else 'month'} first, as {read_date(shown, None, first)}"
    what = f"The date {quoted(shown)} can be read in two ways; here it is read {how}."
    yield Problem(what, "Write it as year-month-day", {**changes, **with_rule(item, **clear)})


@rule("field", "warning")
def truth_not_in_reference(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """One of them may be wrong, or belong to another question.

    Compare the two.
    """
    reference, truth = known.reference_answer, item.ground_truth
    if not reference or not uses_truth(item) or item.type in ("bool", "other") or is_placeholder(truth):
        return
    if item.is_semantic or (isinstance(truth, list) and len(truth) > MOST_LOOKED_FOR) or _mentions(reference, truth):
        return
    yield Problem(f"The reference answer {quoted(reference)} does not hold the truth {quoted(truth)}.")


def _mentions(reference: str, truth: Any) -> bool:
    if isinstance(truth, list):
        return all(_mentions(reference, part) for part in truth)
    if isinstance(truth, int | float):
        figure = read_figure(reference)
        return (figure is not None and figure.value == truth) or truth in map(read_number, words(reference))
    if not isinstance(truth, str):
        return True
    day, other = read_date(truth), read_date(reference)
    if day is not None and other is not None:
        return day.parts == other.parts
    return (day is not None and gives_away(reference, truth)) or "".join(words(truth)) in "".join(words(reference))


# --- Truths that are texts and should rather be something else -------------------------------------------------------


def _exact_text(item: FieldSpec) -> str:
    exact = item.type == "str" and parameters(item).get("type") == "ExactMatch"
    return item.ground_truth if exact and isinstance(item.ground_truth, str) else ""


@rule("field", "warning")
def truth_as_text(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The same number, date or list written in another way would fail.

    Give the field the type of its truth.
    """
    truth = _exact_text(item)
    kind = suggest_type(truth)
    figure = read_figure(truth)
    unsure = figure is not None and (figure.is_range or figure.unsure or truth.strip().startswith("0"))
    if not truth.strip() or kind == "str" or unsure or (kind == "bool" and yes_or_no(truth.split(",")[0]) is None):
        return
    value = yes_or_no(truth) if kind == "bool" else full_date(truth) if kind == "date" else converted(kind, truth)
    rule = figure.rule() if figure is not None else suggest_rule(kind, value)
    noun, changes = FIELD_TYPES[kind].noun, {"type": kind, "ground_truth": value, "verify_with": rule}
    yield Problem(f"The truth {quoted(truth)} is {noun}, but it is compared as a text.", f"Make it {noun}", changes)


@rule("field", "warning")
def truth_list_in_text(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge lists them one by one, so that no list equals this one.

    Make every item an item of the list.
    """
    truth = item.ground_truth
    if item.type == "list_str" and isinstance(truth, list) and len(truth) == 1 and isinstance(truth[0], str):
        items = spread(truth[0])
        if len(items) > 1:
            what = f"The list has one item, {quoted(truth[0])}, which looks like {len(items)} items."
            yield Problem(what, f"Make it {len(items)} items", {"ground_truth": items})


@rule("field", "warning")
def truth_too_long(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """No two answers word a sentence the same way, so right answers fail.

    Compare a short name or a number, look for the words that must occur, or ask a yes-or-no question.
    """
    count = len(words(_exact_text(item)))
    if count > LONGEST_EXACT and not spread(_exact_text(item)):
        yield Problem(f"The truth has {count} words and must be met exactly.")


@rule("field", "warning")
def synonym_in_brackets(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """An answer that gives one of the names fails.

    Keep one name and make the other a synonym.
    """
    truth = _exact_text(item)
    name, synonyms = with_synonyms(truth)
    if synonyms and not spread(truth):
        chain = list(parameters(item)["normalize"])
        texts = [entry for entry in chain if isinstance(entry, str)]
        mapping = {normalize(synonym, texts): normalize(name, texts) for synonym in synonyms}
        changes = {"ground_truth": name, **with_rule(item, normalize=[*chain, {"mapping": mapping}])}
        what = f"The truth {quoted(truth)} holds a second name in brackets."
        yield Problem(what, f"Keep {quoted(name)} and make the other a synonym", changes)


# --- What the judge is told ------------------------------------------------------------------------------------------


def _telling(text: str) -> set[str]:
    return set(words(text)) - _FILLERS


def _name_words(name: str) -> list[str]:
    return words(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)", " ", name.replace("_", " ")))


def _leaks(item: FieldSpec, text: str) -> bool:
    if item.is_trace or item.type == "bool" or item.verify_with is None:
        return False
    if item.type == "literal":
        others = [value for value in item.literal_values if value != item.ground_truth]
        return gives_away(text, item.ground_truth) and not any(gives_away(text, value) for value in others)
    truth = [item.ground_truth] if uses_truth(item) else []
    return gives_away(text, [*truth, *(item.verify_with.get("substrings") or [])])


def first_description(item: FieldSpec, *phrases: str, more: str = "", truth: Any = None) -> str | None:
    """Return a first description that does not give the truth away; None where each of them does.

    Args:
        item: The field.
        *phrases: Names of what is looked for, the best first; blank ones are passed over.
        more: What it says besides.
        truth: What else it must not hold.
    """
    for phrase in filter(None, (*phrases, "final conclusion", "requested information")):
        text = _FORMS[item.type].format(it=phrase) + more
        if not _leaks(item, text) and not gives_away(text, truth):
            return text
    return None


def _fuller_description(item: FieldSpec, truth: Any = None) -> dict[str, Any] | None:
    own = " ".join(word for word in _name_words(item.name) if word not in ("is", "has", "the", "a"))
    text = first_description(item, own, truth=truth)
    return {"description": text} if text else None


@rule("field", "warning")
def description_vague(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge reads it to know what to look for, and sees the name already; two judges would read it differently.

    Say what to look for and in which form, such as: The protein target of the drug named in the response.
    """
    about, every = _telling(item.description), words(item.description)
    repeats = bool(about) and about <= set(_name_words(item.name))
    too_little = len(every) <= 7 and not _SOURCES & set(every) if repeats else len(about) < 2 and len(every) <= 3
    if (too_little or not about) and not item.is_trace:
        what = "repeats the name of the field" if repeats else "does not tell enough"
        what = f"The description {quoted(item.description)} {what}." if every else "The field has no description."
        yield Problem(what, "Use a fuller description", _fuller_description(item))


@rule("field", "error")
def description_leaks_truth(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge sees it. Knowing the answer, it finds it also where the response does not give it.

    Describe what to look for without telling what it should be.
    """
    truth = None if item.type in ("bool", "literal") else known.truths.get(item.name)
    if _leaks(item, item.description) or (not item.is_trace and gives_away(item.description, truth)):
        changes = _fuller_description(item, truth)
        yield Problem("The description holds the expected value.", "Use a fuller description", changes)


@rule("field", "error")
def hint_leaks_truth(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The judge sees hint and examples, and would find the answer also where the response does not give it.

    Tell how to read the response, not what should be there.
    """
    if item.extraction_hint and _leaks(item, item.extraction_hint):
        yield Problem("The extraction hint holds the expected value.", "Remove the hint", {"extraction_hint": None})
    elif item.type != "bool" and item.ground_truth in (item.options.get("examples") or []):
        rest = {name: value for name, value in item.options.items() if name != "examples"}
        yield Problem("The expected value is among the examples.", "Remove the examples", {"options": rest})


# --- Comparisons -----------------------------------------------------------------------------------------------------


@rule("field", "warning")
def rule_unsuited(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """It compares values of another type, so that right answers may fail.

    Use a rule made for the type, or change the type of the field.
    """
    kind = None if item.type == "other" else field_kind(item.type)
    cls = REGISTRY.get(str(parameters(item).get("type")))
    if kind is None or cls is None or not cls.applies_to or kind in cls.applies_to:
        return
    what = f"{cls.__name__} is not made for the type {kind}, but for {listed(cls.applies_to)}."
    for fitting, row in FIELD_TYPES.items():
        if fitting != "literal" and field_kind(fitting) in cls.applies_to and row.fits(item.ground_truth):
            yield Problem(what, f"Make the field {fitting}", {"type": fitting})
            return
    value, natural = converted(item.type, item.ground_truth), NATURAL[kind].__name__
    changes = None if value is None else {"ground_truth": value, "verify_with": {"type": natural}}
    yield Problem(what, f"Use {natural}", changes)


def pattern_problems(pattern: str, flags: list[str] | None = None) -> Iterator[Problem]:
    """Yield what is wrong with a pattern that matches the empty text; the fix is another `pattern`."""
    if patterns.found(pattern, "", flags or []):
        stricter = re.sub(r"(?<!\\)\*", "+", pattern)
        changes = None if stricter == pattern else {"pattern": stricter}
        what = f"The pattern {quoted(pattern)} matches also where there is nothing, and thereby every text."
        yield Problem(what, f"Write {stricter}", changes)


def repeats_repetition(pattern: str) -> bool:
    """Whether a group that ends with a repetition is itself repeated, as in `(a+)+`: a search may then never end."""
    return re.search(r"(?<!\\)[*+]\??\)(?:[*+]|\{\d+,\})", pattern) is not None


@rule("field", "error")
def pattern_matches_empty(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """It is found in every text, so the rule decides nothing.

    Ask for at least one character: write + instead of *, and leave out ? around the whole.
    """
    pattern = parameters(item).get("pattern")
    for problem in pattern_problems(pattern, parameters(item).get("flags")) if pattern is not None else ():
        yield problem._replace(changes=problem.changes and with_rule(item, **problem.changes))


@rule("field", "warning")
def pattern_can_hang(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """On some texts such a search takes practically forever; it is stopped, and the answer has no verdict.

    Repeat only once, for example a+ instead of (a+)+.
    """
    pattern = parameters(item).get("pattern")
    if pattern is not None and repeats_repetition(pattern):
        yield Problem(f"The pattern {quoted(pattern)} repeats a repetition.")


@rule("field", "warning")
def tolerance_of_zero(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Only exactly zero passes.

    Give the tolerance in the unit of the field.
    """
    tolerance = _relative_tolerance(item)
    if tolerance and item.ground_truth == 0:
        what = "A tolerance relative to zero is no tolerance."
        yield Problem(what, f"Allow ±{tolerance:g}", with_rule(item, mode="absolute"))


@rule("field", "error")
def tolerance_in_percent(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Even zero would pass.

    Write 0.05 for five percent.
    """
    tolerance = _relative_tolerance(item)
    if tolerance >= 1:
        changes = with_rule(item, tolerance=tolerance / 100) if tolerance < 100 else None
        yield Problem(f"The tolerance {tolerance:g} means {tolerance * 100:g} %.", f"Make it {tolerance:g} %", changes)


def _relative_tolerance(item: FieldSpec) -> float:
    rule = parameters(item)
    relative = rule.get("type") == "NumericTolerance" and rule["mode"] == "relative"
    return float(rule["tolerance"]) if relative else 0.0


@rule("field", "hint")
def decimal_exactly(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """An answer with one digit more or less fails.

    Allow a tolerance.
    """
    truth = item.ground_truth
    if parameters(item).get("type") == "NumericExact" and isinstance(truth, float) and not truth.is_integer():
        changes = {"verify_with": suggest_rule("float", truth)}
        yield Problem(f"The decimal number {truth!r} must be met exactly.", "Allow 0.1 %", changes)


@rule("field", "error")
def no_bounds(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Whatever is answered passes.

    Set the least or greatest value.
    """
    rule = parameters(item)
    if {"min", "max"} <= rule.keys() and rule["min"] is None and rule["max"] is None:
        yield Problem(f"{rule['type']} has no bounds, so everything passes.")


@rule("field", "error")
def semantic_off(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """The field cannot be decided, so the answer has no verdict.

    Switch the embedding check on when you configure the run, or choose another rule.
    """
    if item.is_semantic and known.config is not None and not known.config.embedding_check_enabled:
        yield Problem("SemanticMatch needs the embedding check, which is off.")


@rule("field", "warning")
def empty_list_passes(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """An empty list is a subset of every list, and every list holds all items of an empty one.

    Ask the judge for at least one item, so that nothing found never passes; or name the expected items.
    """
    mode = parameters(item).get("mode")
    if mode == "subset" and not item.options.get("min_length"):
        changes = {"options": {**item.options, "min_length": 1}}
        yield Problem("An answer that names nothing is right.", "Ask for at least one item", changes)
    elif mode == "superset" and item.ground_truth == []:
        yield Problem("Every list passes.", "Compare exactly", with_rule(item, mode="exact"))


@rule("field", "warning")
def short_substring(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """For example, "no" is found in "not" and in "know".

    Look for whole words with a pattern.
    """
    rule = parameters(item)
    substrings = rule.get("substrings") or ([rule["substring"]] if "substring" in rule else [])
    short = [text for text in substrings if len(text.strip()) <= 2 and text.strip().isalnum()]
    if short:
        yield Problem(f"{listed(short)} is so short that it occurs inside of other words.")


@rule("field", "hint")
def case_counts(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """An answer that differs only in capitals fails.

    Put lowercase first among the normalisers, unless case carries meaning here.
    """
    rule = parameters(item)
    compared = str(rule.get("substrings") or item.ground_truth)
    if rule.get("type") in _TEXT_RULES and not _CASE & _names(rule) and compared.lower() != compared.upper():
        rest = [entry for entry in _chain(item) if entry != "strip"]
        # The synonyms change with it, so that they are still found.
        yield Problem(
            "Capital letters count.", "Ignore case", _with_chain(item, _settled(["lowercase", "strip", *rest]))
        )


@rule("field", "error")
def truth_vanishes(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Different answers become the same: 1.5 and 15, or everything of which nothing is left.

    Keep punctuation, or compare a number.
    """
    chain, compared = _chain(item), parameters(item).get("substrings") or item.ground_truth
    texts = [text for text in (compared if isinstance(compared, list) else [compared]) if isinstance(text, str)]
    bare = "remove_punctuation" in chain
    lost = [
        text
        for text in texts
        if chain and text.strip() and (not normalized(text, chain) or (bare and _SIGNS_IN_NUMBER.search(text)))
    ]
    if lost:
        what = f"Normalisation takes from {listed(lost)} what tells it from other texts."
        kept = [entry for entry in chain if entry != "remove_punctuation"]
        yield Problem(what, "Keep punctuation", _with_chain(item, kept))


@rule("field", "warning")
def options_alike(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """With one category the judge names the right one; of two that look the same it may choose either.

    List the categories that a wrong answer could give, each once.
    """
    options = item.literal_values
    preferred = [*(value for value in options if value == item.ground_truth), *options]
    kept = {_key(value): value for value in reversed(preferred)}
    left = [value for value in options if kept[_key(value)] == value]
    doubles = [value for value in options if value not in left]
    if item.type == "literal" and doubles:
        what = f"The category {listed(doubles)} is the same to a reader as another one."
        yield Problem(what, "Keep one of each", {"literal_values": left})
    elif item.type == "literal" and len(options) == 1:
        yield Problem("There is only one category.")


# --- Normalisers -----------------------------------------------------------------------------------------------------


def _chain(item: FieldSpec) -> list[Normalizer]:
    stored = parameters(item).get("normalize") or []
    return [entry if isinstance(entry, str) else SynonymMap.model_validate(entry) for entry in stored]


def _names(rule: Mapping[str, Any]) -> set[str]:
    return {entry for entry in rule.get("normalize") or () if isinstance(entry, str)}


def _with_chain(item: FieldSpec, chain: list[Normalizer]) -> dict[str, Any]:
    return with_rule(item, normalize=[entry if isinstance(entry, str) else entry.model_dump() for entry in chain])


def _settled(chain: list[Normalizer]) -> list[Normalizer]:
    """Return the chain with one map at its end, spellings and meanings as the other normalisers leave them."""
    texts: list[Normalizer] = [entry for entry in chain if isinstance(entry, str)]
    pairs = [pair for entry in chain if isinstance(entry, SynonymMap) for pair in entry.mapping.items()]
    return [*texts, SynonymMap(mapping={normalize(key, texts): normalize(value, texts) for key, value in pairs})]


@rule("field", "error")
def synonym_not_applied(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """A synonym is looked up in the text as the normalisers before it leave it, and its meaning must stay as it is.

    Put the synonyms last, written as texts look there.
    """
    chain = _chain(item)
    for at, entry in enumerate(chain):
        for spelling, meaning in entry.mapping.items() if isinstance(entry, SynonymMap) else ():
            is_met = normalize(spelling, chain[:at]) == spelling and not any(
                isinstance(name, str) for name in chain[at + 1 :]
            )
            if not is_met or normalize(spelling, chain) != normalize(meaning, chain):
                what = f"Not every answer that means {quoted(spelling)} is counted as {quoted(meaning)}."
                yield Problem(what, "Put the synonyms last", _with_chain(item, _settled(chain)))
                return


@rule("field", "warning")
def synonyms_unused(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """A synonym helps where the whole text is one, and where it leads to the truth.

    Map other names to the truth as it looks after the normalisers; list them where parts of a text are looked for.
    """
    chain, rule = _chain(item), parameters(item)
    spellings = [key for entry in chain if isinstance(entry, SynonymMap) for key in entry.mapping]
    truths = item.ground_truth if isinstance(item.ground_truth, list) else [item.ground_truth]
    wanted = {normalize(truth, chain) for truth in truths if isinstance(truth, str)}
    if spellings and "substrings" in rule:
        yield Problem("Synonyms have no effect on parts of a text: only a whole text is looked up.")
    elif spellings and wanted and not wanted & {normalize(key, chain) for key in spellings}:
        yield Problem(f"None of the synonyms leads to the truth, which is compared as {listed(sorted(wanted))}.")


_IMPLIED = {"strip": "collapse_whitespace", "lowercase": "casefold"}


@rule("field", "hint")
def normalizer_without_effect(item: FieldSpec, known: Known) -> Iterator[Problem]:
    """Another one in the list does the same.

    Remove it.
    """
    chain = _chain(item)
    idle = {
        at: entry
        for at, entry in enumerate(chain)
        if isinstance(entry, str) and (entry in chain[:at] or _IMPLIED.get(entry) in chain)
    }
    if idle:
        rest = [entry for at, entry in enumerate(chain) if at not in idle]
        what = f"The normaliser {' and '.join(dict.fromkeys(idle.values()))} has no effect of its own."
        yield Problem(what, "Remove what has no effect", _with_chain(item, rest))
