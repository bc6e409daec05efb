"""What is different between two runs, or two revisions of a run: which verdicts changed, and what changed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karenina_core.schemas import CallRecord, VerificationResult

if TYPE_CHECKING:
    import pandas as pd

# What became of a verdict, from the first run to the second, as words for people.
Change = Literal["fixed", "broken", "still_failing", "still_passing", "decided", "lost", "still_undecided"]
CHANGE_WORDS: Mapping[Change, str] = {
    "fixed": "fixed",
    "broken": "broken",
    "still_failing": "still failing",
    "still_passing": "still passing",
    "decided": "newly decided",
    "lost": "verdict lost",
    "still_undecided": "still without a verdict",
}
MOVED: frozenset[Change] = frozenset({"fixed", "broken", "decided", "lost"})  # the verdict is another one

# The first thing on the way to a verdict that is different.
ChangeCause = Literal["config", "answer", "extraction", "rule", "error"]
CHANGE_CAUSE_WORDS: Mapping[ChangeCause, str] = {
    "config": "configuration or prompt",
    "answer": "the model's answer",
    "extraction": "the judge's extraction",
    "rule": "the rules",
    "error": "an error on one side",
}

_SAME: Mapping[str, Change] = {
    "pass": "still_passing",
    "fail": "still_failing",
    "not_evaluated": "still_undecided",
}
_KEY = ["question_id", "answering_model", "parsing_model", "replicate"]
_SIDE = ["result_id", "verdict", *_KEY]


class RunDiff(NamedTuple):
    """Two runs, result by result.

    Attributes:
        rows: One row per result of both: the identity and `question` of the second run, `before_id`, `after_id`,
            `before` and `after` (verdicts), and `change`.
        only_before: Results that the second run lacks.
        only_after: Results that the first run lacks.
        renamed: Models and judges of the first run that stand for another of the second, such as its next version.
    """

    rows: pd.DataFrame
    only_before: int
    only_after: int
    renamed: Mapping[str, str]

    @property
    def counts(self) -> dict[Change, int]:
        """How many results of both runs had which change; they add up to the rows."""
        found = self.rows["change"].value_counts()
        return {change: int(found.get(change, 0)) for change in CHANGE_WORDS}


class SettingChange(NamedTuple):
    """A setting that is different."""

    name: str
    before: str
    after: str


def diff_runs(before: pd.DataFrame, after: pd.DataFrame) -> RunDiff:
    """Match the results of two runs by question, model, judge and repeat.

    A model that only one run has is matched with the one model that only the other has: so two versions of a model can
    be compared. Judges likewise.

    Args:
        before: A results table.
        after: Another.
    """
    models = paired(before["answering_model"].unique(), after["answering_model"].unique())
    judges = paired(before["parsing_model"].unique(), after["parsing_model"].unique())
    first, second = _side(before), _side(after).assign(question=after["question"].astype("str"))
    first["answering_model"] = first["answering_model"].replace(models)
    first["parsing_model"] = first["parsing_model"].replace(judges)
    both = first.merge(second, on=_KEY, suffixes=("_before", "_after"), sort=False)
    pairs = zip(both["verdict_before"], both["verdict_after"], strict=True)
    rows = both[[*_KEY, "question"]].assign(
        before_id=both["result_id_before"],
        after_id=both["result_id_after"],
        before=both["verdict_before"],
        after=both["verdict_after"],
        change=[_change(*pair) for pair in pairs],
    )
    return RunDiff(rows, len(before) - len(rows), len(after) - len(rows), {**models, **judges})


def _change(before: str, after: str) -> Change:
    if before == after:
        return _SAME[after]
    if "not_evaluated" in (before, after):
        return "lost" if after == "not_evaluated" else "decided"
    return "fixed" if after == "pass" else "broken"


def paired(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """Return which name of the second list stands for one of the first that is not in it."""
    first, second = [str(name) for name in before], [str(name) for name in after]
    gone, new = [name for name in first if name not in second], [name for name in second if name not in first]
    return {gone[0]: new[0]} if len(gone) == len(new) == 1 else {}


def cause_of(
    before: VerificationResult, after: VerificationResult, changed_models: Collection[str] = ()
) -> ChangeCause | None:
    """Return the first thing on the way to the verdict that is different; None where nothing is.

    Args:
        before: A result of the first run.
        after: The result of the second that belongs to it.
        changed_models: Models and judges, by their names in the second run, that were set otherwise in the first.
    """
    answers = before.raw_llm_response, after.raw_llm_response
    if answers[0] != answers[1]:
        if None in answers:
            return "error"
        same = after.answering_model not in changed_models and _asked(before) == _asked(after)
        return "answer" if same else "config"
    if _read(before) != _read(after):
        if (before.failure is None) != (after.failure is None) and None in (_parsed(before), _parsed(after)):
            return "error"
        same = after.parsing_model not in changed_models and _judged(before) == _judged(after)
        return "extraction" if same else "config"
    return "rule" if before.verdict != after.verdict or _rules(before) != _rules(after) else None


def causes_of(
    moved: pd.DataFrame,
    before: Iterable[VerificationResult],
    after: Iterable[VerificationResult],
    changed_models: Collection[str] = (),
) -> dict[str, ChangeCause]:
    """Return causes by id of the later result.

    Args:
        moved: Rows of a `RunDiff`.
        before: Their results in the first run, in any order.
        after: Their results in the second.
        changed_models: As in `cause_of`.
    """
    first, second = ({result.result_id: result for result in side} for side in (before, after))
    found: dict[str, ChangeCause] = {}
    for earlier, later in zip(moved["before_id"], moved["after_id"], strict=True):
        if earlier in first and later in second:
            cause = cause_of(first[earlier], second[later], changed_models)
            found |= {later: cause} if cause else {}
    return found


def changed_models(before: Mapping[str, Any], after: Mapping[str, Any], renamed: Mapping[str, str]) -> frozenset[str]:
    """Return the models and judges of a configuration that another one sets otherwise.

    Args:
        before: A configuration as stored JSON.
        after: Another.
        renamed: Which model of the second stands for one of the first, see `RunDiff.renamed`.
    """
    first, second = (
        {
            str(model.get("id")): model
            for role in ("answering_models", "parsing_models")
            for model in config.get(role, ())
        }
        for config in (before, after)
    )
    stands_for = {new: old for old, new in renamed.items()}
    return frozenset(name for name, model in second.items() if first.get(stands_for.get(name, name)) != model)


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SettingChange]:
    """Return the settings of two configurations that are different.

    Args:
        before: A configuration as stored JSON.
        after: Another.
    """
    first, second = dict(_flat(before)), dict(_flat(after))
    changed = [name for name in dict.fromkeys([*first, *second]) if first.get(name) != second.get(name)]
    return [SettingChange(name, first.get(name, "–"), second.get(name, "–")) for name in changed]


def sentence(diff: RunDiff) -> str:
    """Return what changed in one sentence, such as `9 fixed, 4 broken, 7 still failing, 28 still passing.`"""
    counts = diff.counts
    always = ("fixed", "broken", "still_failing")
    parts = [
        f"{counts[change]:,} {words}" for change, words in CHANGE_WORDS.items() if counts[change] or change in always
    ]
    parts += [f"{diff.only_before:,} only before"] if diff.only_before else []
    parts += [f"{diff.only_after:,} only after"] if diff.only_after else []
    return ", ".join(parts) + "."


def tally(causes: Mapping[str, ChangeCause], rows: pd.DataFrame) -> dict[tuple[Change, ChangeCause], int]:
    """Return how many rows had which change by which cause."""
    pairs = zip(rows["change"], rows["after_id"], strict=True)
    return dict(Counter((change, causes[name]) for change, name in pairs if name in causes))


def _side(results: pd.DataFrame) -> pd.DataFrame:
    return results[_SIDE].astype({name: "str" for name in _SIDE if name != "replicate"})


def _asked(result: VerificationResult) -> Any:
    return _sent([result.answer.call] if result.answer else [])


def _judged(result: VerificationResult) -> Any:
    return _sent(result.template.calls[-1:] if result.template else [])


def _sent(calls: Iterable[CallRecord | None]) -> Any:
    return [(call.messages, call.schema_sent) for call in calls if call]


def _parsed(result: VerificationResult) -> Any:
    return result.template.parsed if result.template else None


def _read(result: VerificationResult) -> Any:
    guards = (result.abstention, result.sufficiency)
    return _parsed(result), [guard.detected if guard else None for guard in guards]


def _rules(result: VerificationResult) -> Any:
    fields = result.template.fields if result.template else []
    return [(item.name, item.rule, item.expected, item.weight) for item in fields]


def _flat(value: Any, name: str = "") -> Sequence[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [pair for key, item in value.items() for pair in _flat(item, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        named = {str(item.get("id", number)): item for number, item in enumerate(value, 1)}
        return [pair for key, item in named.items() for pair in _flat(item, f"{name} {key}")]
    return [(name, str(value))]
