"""Rules on normalisers: synonyms that are never found, and orders that undo each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from karenina_core.authoring.linter.finding import Context, FieldFix, Said, with_rule
from karenina_core.schemas import Normalizer, SynonymMap, normalize, quoted
from karenina_core.templates import FieldSpec

_TRIMMING = frozenset({"strip", "collapse_whitespace"})
_IMPLIED = {"strip": "collapse_whitespace", "lowercase": "casefold"}


def hides_synonym(item: FieldSpec, context: Context) -> Said | None:
    """A key that the normalisers before it never leave as it is: `Bcl-2` after `lowercase`."""
    chain = _chain(item)
    for before, synonyms in _maps(chain):
        for key in synonyms.mapping:
            if normalize(key, before) != key:
                return Said(
                    f"The synonym {quoted(key)} is never found.",
                    f"The normalisers before it turn it into {quoted(normalize(key, before))}.",
                    "Write the key as it looks after these normalisers.",
                    FieldFix("Write the keys as they will look", _changed(item, _reachable(chain))),
                )
    return None


def splits_synonyms(item: FieldSpec, context: Context) -> Said | None:
    """A canonical form that does not stay: answers that use it end up elsewhere than answers that use its synonym."""
    chain = _chain(item)
    for _, synonyms in _maps(chain):
        for key, value in synonyms.mapping.items():
            if normalize(key, chain) != normalize(value, chain) and normalize(key, chain) == normalize(value, []):
                return Said(
                    f"{quoted(key)} becomes {quoted(value)}, but {quoted(value)} itself becomes "
                    f"{quoted(normalize(value, chain))}.",
                    "The two are meant to be the same and are not.",
                    "Write the values as they look after the normalisers before the map.",
                    FieldFix("Write the values as they will look", _changed(item, _stable(chain))),
                )
    return None


def misses_truth(item: FieldSpec, context: Context) -> Said | None:
    """Synonyms of which none leads to the truth."""
    chain, rule = _chain(item), item.verify_with or {}
    maps = [synonyms for _, synonyms in _maps(chain) if synonyms.mapping]
    truths = item.ground_truth if isinstance(item.ground_truth, list) else [item.ground_truth]
    wanted = {normalize(truth, chain) for truth in truths if isinstance(truth, str)}
    if not maps or not wanted or "substrings" in rule:
        return None
    if any(normalize(key, chain) in wanted for synonyms in maps for key in synonyms.mapping):
        return None
    return Said(
        "None of the synonyms leads to the truth.",
        f"The truth is compared as {', '.join(map(quoted, sorted(wanted)))}; no synonym becomes that.",
        "Map the other names to the truth, as it looks after the normalisers before the map.",
        _led_to_truth(item, chain, truths),
    )


def looks_up_too_early(item: FieldSpec, context: Context) -> Said | None:
    """Synonyms that are looked up before the texts are alike: `lowercase` behind the map."""
    chain = _chain(item)
    positions = [at for at, entry in enumerate(chain) if isinstance(entry, SynonymMap)]
    later = [entry for entry in chain[positions[0] + 1 :] if isinstance(entry, str)] if positions else []
    if not later:
        return None
    texts = [entry for entry in chain if isinstance(entry, str)]
    maps = [entry for entry in chain if isinstance(entry, SynonymMap)]
    return Said(
        f"Synonyms are looked up before {' and '.join(later)}.",
        "A synonym is found only when the answer writes it exactly so.",
        "Put the synonyms last.",
        FieldFix("Put the synonyms last", _changed(item, _reachable([*texts, *maps], values=True))),
    )


def repeats_itself(item: FieldSpec, context: Context) -> Said | None:
    """A normaliser that another one of the list makes superfluous."""
    chain = _chain(item)
    texts = [entry for entry in chain if isinstance(entry, str)]
    twice = [name for name in dict.fromkeys(texts) if texts.count(name) > 1 or _IMPLIED.get(name) in texts]
    if not twice:
        return None
    kept: list[Normalizer] = []
    for entry in chain:
        if not isinstance(entry, str) or (entry not in kept and _IMPLIED.get(entry) not in texts):
            kept.append(entry)
    return Said(
        f"The normaliser {' and '.join(twice)} has no effect of its own.",
        "Another one in the list does the same.",
        "Remove it.",
        FieldFix("Remove what has no effect", _changed(item, kept)),
    )


def leaves_blanks(item: FieldSpec, context: Context) -> Said | None:
    """Punctuation removed after the ends were trimmed: `BCL2 .` keeps its blank."""
    chain = _chain(item)
    if "remove_punctuation" not in chain:
        return None
    at = len(chain) - 1 - chain[::-1].index("remove_punctuation")
    if _TRIMMING & {entry for entry in chain[at:] if isinstance(entry, str)}:
        return None
    texts = [entry for entry in chain if not isinstance(entry, str) or entry not in _TRIMMING]
    after = texts.index("remove_punctuation") + 1
    fixed = [*texts[:after], "collapse_whitespace", *texts[after:]]
    return Said(
        "Removing punctuation can leave blanks at the ends.",
        'Of "BCL2 ." the text "BCL2 " is left, which is not "BCL2".',
        "Trim blanks behind it.",
        FieldFix("Trim blanks behind it", _changed(item, fixed)),
    )


def looks_up_whole_text(item: FieldSpec, context: Context) -> Said | None:
    """Synonyms in a search for parts: the whole text is looked up, which hardly ever is a synonym."""
    rule = item.verify_with or {}
    chain = _chain(item)
    maps = [entry for entry in chain if isinstance(entry, SynonymMap)]
    if not maps or "substrings" not in rule:
        return None
    texts = [entry for entry in chain if isinstance(entry, str)]
    changes = _changed(item, texts)
    if rule["type"] == "ContainsAny":
        known = {normalize(value, texts) for value in rule["substrings"]}
        extra = [key for entry in maps for key, value in entry.mapping.items() if normalize(value, texts) in known]
        changes["verify_with"]["substrings"] = list(dict.fromkeys([*rule["substrings"], *extra]))
    fix = FieldFix("Look for the synonyms as well", changes) if rule["type"] == "ContainsAny" else None
    return Said(
        "Synonyms have no effect on parts of a text.",
        "The whole text is looked up, and it is longer than any synonym.",
        "List the synonyms among the texts to look for.",
        fix,
    )


def _chain(item: FieldSpec) -> list[Normalizer]:
    stored = [] if item.own_rule else (item.verify_with or {}).get("normalize") or []
    return [entry if isinstance(entry, str) else SynonymMap.model_validate(entry) for entry in stored]


def _maps(chain: Sequence[Normalizer]) -> Iterator[tuple[list[Normalizer], SynonymMap]]:
    for at, entry in enumerate(chain):
        if isinstance(entry, SynonymMap):
            yield list(chain[:at]), entry


def _changed(item: FieldSpec, chain: Sequence[Normalizer]) -> dict[str, Any]:
    return with_rule(item, normalize=[entry if isinstance(entry, str) else entry.model_dump() for entry in chain])


def _reachable(chain: Sequence[Normalizer], *, values: bool = False) -> list[Normalizer]:
    """Return the chain with keys, and values where asked, as the normalisers before them leave them."""
    fixed: list[Normalizer] = []
    for entry in chain:
        if isinstance(entry, SynonymMap):
            pairs = ((normalize(k, fixed), normalize(v, fixed) if values else v) for k, v in entry.mapping.items())
            fixed.append(SynonymMap(mapping=dict(pairs)))
        else:
            fixed.append(entry)
    return fixed


def _stable(chain: Sequence[Normalizer]) -> list[Normalizer]:
    """Return the chain with every synonym leading to a form that stays as it is."""
    fixed: list[Normalizer] = []
    for entry in chain:
        if isinstance(entry, SynonymMap):
            mapping = {key: normalize(value, fixed) for key, value in entry.mapping.items()}
            fixed.append(SynonymMap(mapping={key: _end(value, mapping) for key, value in mapping.items()}))
        else:
            fixed.append(entry)
    return fixed


def _end(value: str, mapping: dict[str, str]) -> str:
    seen = []
    while value in mapping and value not in seen:
        seen.append(value)
        value = mapping[value]
    return min(seen) if value in seen else value


def _led_to_truth(item: FieldSpec, chain: Sequence[Normalizer], truths: list[Any]) -> FieldFix | None:
    if len(truths) != 1 or not isinstance(truths[0], str):
        return None
    fixed: list[Normalizer] = []
    for entry in chain:
        if isinstance(entry, SynonymMap):
            entry = SynonymMap(mapping=dict.fromkeys(entry.mapping, normalize(truths[0], fixed)))
        fixed.append(entry)
    return FieldFix(f"Lead all of them to {quoted(truths[0])}", _changed(item, fixed))
