"""`karenina compare`: what can be said of models and runs, in plain sentences."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karenina_core.analysis import Arm
from karenina_core.cli import output
from karenina_core.cli.codes import DONE
from karenina_core.errors import InputError

if TYPE_CHECKING:
    from karenina_core.analysis import Pair


def compare(options: argparse.Namespace) -> int:
    """Print what can be said of every candidate against the baseline.

    Raises:
        InputError: There is no such run or model, or fewer than two to compare.
    """
    from karenina_core.analysis import arm_labels, outcomes, tallies
    from karenina_core.analysis import compare as compared

    with output.opened_store() as store:
        runs = [output.find_run(store, text) for text in options.run]
        frame = outcomes(store, [run.id for run in runs])
    counts = tallies(frame)
    labels = arm_labels(list(counts), {run.id: run.name for run in runs})
    arms = list(counts)
    if len(arms) < 2:
        raise InputError("A comparison takes two models at least.", next="Name another run, or top this one up.")
    baseline = _only(_chosen(arms, labels, options.baseline), labels) if options.baseline else arms[0]
    named = [arm for text in options.candidate for arm in _chosen(arms, labels, text)]
    candidates = [arm for arm in named or arms if arm != baseline]
    pairs = compared(counts, baseline, dict.fromkeys(candidates))
    if options.json:
        _print_json(pairs, labels)
    else:
        _print_words(pairs, labels)
    return DONE


def _chosen(arms: Sequence[Arm], labels: dict[Arm, str], text: str) -> list[Arm]:
    found = [arm for arm in arms if labels[arm] == text] or [arm for arm in arms if arm.answering_model == text]
    if not found:
        names = "; ".join(labels[arm] for arm in arms)
        raise InputError(f"There is no model {text!r} in these runs.", next=f"Use one of: {names}.")
    return found


def _only(arms: Sequence[Arm], labels: dict[Arm, str]) -> Arm:
    if len(arms) > 1:
        names = "; ".join(labels[arm] for arm in arms)
        raise InputError("Several models have that name, and there is one baseline.", next=f"Use one of: {names}.")
    return arms[0]


def _print_words(pairs: Sequence[Pair], labels: dict[Arm, str]) -> None:
    from karenina_core.analysis import interval_sentence, left_out_sentence, power_sentence, verdict_sentence

    out = output.console()
    for pair in pairs:
        out.print(output.shown(verdict_sentence(pair, labels), 1000), soft_wrap=True)
        for line in (interval_sentence(pair), power_sentence(pair), left_out_sentence(pair)):
            if line:
                out.print(f"  {output.shown(line, 1000)}", soft_wrap=True)


def _print_json(pairs: Sequence[Pair], labels: dict[Arm, str]) -> None:
    from karenina_core.analysis import interval_sentence, pairs_frame, verdict_sentence

    records = pairs_frame(pairs, labels).to_dict("records")
    rows = [
        # JSON has no word for a number that is none.
        {str(name): None if value != value else value for name, value in record.items()}
        | {"sentence": verdict_sentence(pair, labels), "remark": interval_sentence(pair) or None}
        for record, pair in zip(records, pairs, strict=True)
    ]
    print(json.dumps(rows, indent=2, ensure_ascii=False))
