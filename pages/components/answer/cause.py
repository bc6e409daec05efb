"""Whose fault a failure is, in one line: what a person said, or what the evidence suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from karenina_core.analysis.gentler_rules import GentlerRule, gentler_rules, right_today
from karenina_core.analysis.triage import Suggestion, blame, suggest
from karenina_core.benchmark import Benchmark
from karenina_core.schemas.annotation import CAUSE_WORDS, latest_reviews
from karenina_core.schemas.results import VerificationResult
from pages.components import frame, services
from pages.components.answer import scratch as answer_scratch
from pages.components.text import plain


class Suggested(NamedTuple):
    """The likely causes of results by id, and the rules that would make some of them pass."""

    causes: dict[str, Suggestion]
    rules: list[GentlerRule]


def suggestions(results: Sequence[VerificationResult], today: Benchmark) -> Suggested:
    """Return the likely cause of every result that did not pass.

    Args:
        results: Of a run.
        today: The benchmark with the rules of today.
    """
    rules, right = gentler_rules(results, today), right_today(results, today)
    near = {name: f"{rule.label} ({rule.field})" for rule in reversed(rules) for name in rule.result_ids}
    found = {
        result.result_id: suggest(result, near.get(result.result_id, ""), result.result_id in right)
        for result in results
    }
    return Suggested({name: cause for name, cause in found.items() if cause is not None}, rules)


def line(run_id: str, result: VerificationResult) -> None:
    """Say whose fault a stored result without a pass is; nothing for one that passed."""
    if result.verdict == "pass":
        return
    review = latest_reviews(services.store().annotations(run_id, result.result_id)).get(result.result_id)
    if review is not None and review.cause is not None:
        who = plain(review.author or "Somebody", 80)
        st.markdown(f":green-badge[:material/person_check: reviewed] {who} says: {CAUSE_WORDS[review.cause].lower()}.")
        return
    with frame.guard():
        found = suggestions([result], answer_scratch.benchmark_of_today(run_id)).causes.get(result.result_id)
        if found is not None:
            st.markdown(f":orange-badge[:material/help: whose fault] {plain(blame(result, found), 400)}")
