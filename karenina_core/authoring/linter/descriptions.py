"""Rules on what the judge is told: descriptions, hints and examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from karenina_core.authoring.linter.finding import Context, FieldFix, Said, uses_truth
from karenina_core.authoring.linter.words import gives_away, name_words, telling, words
from karenina_core.schemas import quoted
from karenina_core.templates import FieldSpec

_FORMS = {
    "bool": "Whether, according to the response, this holds: {it}",
    "int": "The {it} stated in the response, as a whole number without its unit",
    "float": "The {it} stated in the response, as a decimal number without its unit",
    "str": "The {it} that the response settles on, as short as it is written there",
    "list_str": "The {it} listed in the response, one entry each",
    "date": "The {it} stated in the response, as a calendar date",
    "literal": "The category of {it} the response settles on",
    "other": "The {it} that the response settles on, complete and as it is written there",
}
# What says at least where to look.
_SOURCES = frozenset(["mentioned", "stated", "named", "given", "reported", "listed", "described", "response"])
_QUESTIONS = frozenset(
    ["whether", "does", "do", "did", "is", "are", "was", "were", "has", "have", "had", "can", "could", "should",
     "will", "would", "true", "if"]
)  # fmt: skip


def suggested(item: FieldSpec) -> Iterator[str]:
    """Yield descriptions for a field, the best first; the last ones say nothing of its name."""
    own = [word for word in name_words(item.name) if word not in ("is", "has", "the", "a")]
    for phrase in filter(None, (" ".join(own), "final conclusion", "requested information")):
        yield _FORMS[item.type].format(it=phrase)


def is_vague(item: FieldSpec, context: Context) -> Said | None:
    """A description without content: `The answer`."""
    if not item.description.strip() or item.is_trace:
        return None
    about = telling(item.description)
    named = bool(about) and about <= set(name_words(item.name))
    if named or (len(about) >= 2 or (about and len(words(item.description)) > 3)):
        return None
    return Said(
        f"The description {quoted(item.description)} says too little.",
        "The judge reads it to know what to look for; two judges would understand it differently.",
        "Say what to look for and in which form, such as: The protein target of the drug named in the response.",
        _better(item, lambda text: is_vague(_with(item, text), context) is None),
    )


def repeats_name(item: FieldSpec, context: Context) -> Said | None:
    """A description that only says the name again: `The target` for `target`."""
    about, said = telling(item.description), set(words(item.description))
    if not about or not about <= set(name_words(item.name)) or item.is_trace or said & _SOURCES or len(said) > 7:
        return None
    return Said(
        f"The description {quoted(item.description)} repeats the name of the field.",
        "The judge sees the name already and learns nothing more from it.",
        "Say what exactly is meant, and in which form it is wanted.",
        _better(item, lambda text: repeats_name(_with(item, text), context) is None),
    )


def is_missing(item: FieldSpec, context: Context) -> Said | None:
    """A field the judge fills in without being told how."""
    if item.description.strip() or item.is_trace:
        return None
    return Said(
        "The field has no description.",
        "The judge has only its name to go by.",
        "Say what to look for in the response.",
        _better(item, lambda text: True),
    )


def leaks_truth(item: FieldSpec, context: Context) -> Said | None:
    """A description that holds the answer."""
    if not _leaks(item, item.description):
        return None
    return Said(
        "The description holds the expected value.",
        "The judge sees the description. Knowing the answer, it finds it also where the response does not give it.",
        "Describe what to look for without saying what it should be.",
        _better(item, lambda text: not _leaks(item, text)),
    )


def hint_leaks_truth(item: FieldSpec, context: Context) -> Said | None:
    """An extraction hint that holds the answer."""
    if not item.extraction_hint or not _leaks(item, item.extraction_hint):
        return None
    return Said(
        "The extraction hint holds the expected value.",
        "The judge sees the hint and would find the answer also where the response does not give it.",
        "Say how to read the response, not what should be there.",
        FieldFix("Remove the hint", {"extraction_hint": None}),
    )


def examples_leak_truth(item: FieldSpec, context: Context) -> Said | None:
    """Examples for the judge that hold the answer."""
    examples = item.options.get("examples")
    if not isinstance(examples, list) or item.type == "bool" or item.ground_truth not in examples:
        return None
    return Said(
        "The expected value is among the examples.",
        "The judge sees the examples of a field.",
        "Give examples of the form only, or none.",
        FieldFix("Remove the examples", {"options": {k: v for k, v in item.options.items() if k != "examples"}}),
    )


def is_no_question(item: FieldSpec, context: Context) -> Said | None:
    """A yes-or-no field whose description does not ask a yes-or-no question."""
    said = words(item.description)
    if item.type != "bool" or item.is_trace or not said or _QUESTIONS & set(said):
        return None
    start = item.description.strip()
    start = start if start[:2].isupper() or not start[1:2].islower() else start[0].lower() + start[1:]
    return Said(
        "The description of a yes-or-no field does not ask a question.",
        "The judge has to guess what yes stands for.",
        "Begin with Whether: Whether the response names a side effect.",
        FieldFix("Begin with Whether", {"description": f"Whether {start}"}),
    )


def hides_format(item: FieldSpec, context: Context) -> Said | None:
    """A date format that the rule insists on and the judge is not told."""
    rule = item.verify_with or {}
    format = rule.get("format") if rule.get("type") == "DateMatch" else None
    if not format or format in item.description or "format" in words(item.description):
        return None
    return Said(
        f"Only dates written as {format} are read, but the description does not say so.",
        "The judge writes dates as it likes, and a right date in another form fails.",
        "Name the form in the description, or let the rule understand the usual ways to write dates.",
        FieldFix(
            "Understand the usual ways to write dates",
            {"verify_with": {k: v for k, v in rule.items() if k != "format"}},
        ),
    )


def _with(item: FieldSpec, description: str) -> FieldSpec:
    return item.model_copy(update={"description": description})


def _better(item: FieldSpec, mends: Callable[[str], bool]) -> FieldFix | None:
    for text in suggested(item):
        if mends(text) and not _leaks(item, text):
            return FieldFix("Use a fuller description", {"description": text})
    return None


def _leaks(item: FieldSpec, text: str) -> bool:
    if item.is_trace or item.type == "bool" or item.verify_with is None:
        return False
    if item.type == "literal":
        others = [value for value in item.literal_values if value != item.ground_truth]
        return gives_away(text, item.ground_truth) and not any(gives_away(text, value) for value in others)
    truth = [item.ground_truth] if uses_truth(item) else []
    return gives_away(text, [*truth, *(item.verify_with.get("substrings") or [])])
