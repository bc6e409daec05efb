"""A trait tried on one answer with one judge: the value, the prompt and the reply."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from karenina_core.pipeline import Sample
from karenina_core.runs import estimate_trial, try_trait
from karenina_core.schemas import AnyTrait, CallRecord, ModelConfig, RubricPart, RubricTrait
from pages.components import services, session_keys
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain, visible
from pages.components.traits import chips as trait_chips
from pages.components.traits import judge as trait_judge
from pages.components.traits import sample as trait_sample

_TRIED = "_trait_tried"
_PURPOSES = {"rubric": "assess the trait", "metric": "list the items"}


@dataclass(frozen=True)
class _Tried:
    """What was tried, and what came of it."""

    draft: str
    trait: AnyTrait
    sample: Sample
    judge: ModelConfig
    part: RubricPart


def draw(scope: Scope, trait: AnyTrait, draft: Draft) -> None:
    """Draw the choice of answer and judge, what it takes, and the outcome."""
    sample = trait_sample.choose(scope, draft)
    judge = trait_judge.choose("trait_try")
    if sample is not None and judge is not None:
        store = services.store()
        about = f"{trait.model_dump_json()}{sample!r}{sample.response}{judge.model_dump_json()}"
        may = trait_judge.agreed("trait_try", about, judge, lambda: estimate_trial(store, trait, sample, judge))
        if st.button("Ask the judge", key="trait_try_ask", icon=":material/gavel:", disabled=not may):
            with st.spinner("The judge is reading", show_time=True):
                part = try_trait(store, trait, sample, judge, session_keys.source())
            st.session_state[_TRIED] = _Tried(draft.name, trait, sample, judge, part)
            trait_judge.forget_estimates()
    elif sample is None:
        st.caption("Give an answer to try it on.")
    tried: _Tried | None = st.session_state.get(_TRIED)
    if tried is not None and tried.draft == draft.name:
        _outcome(tried, trait, sample)


def _outcome(tried: _Tried, trait: AnyTrait, sample: Sample | None) -> None:
    with st.container(border=True):
        if tried.trait != trait or (sample is not None and tried.sample != sample):
            st.caption(":material/history: Tried with the wording and the answer of before.")
        name, part = tried.trait.name, tried.part
        if name in part.errors:
            st.warning(plain(part.errors[name], 1_000), title="There is no value")
        elif name in part.confusion:
            trait_chips.draw(part.confusion[name], list(part.metrics[name]))
        else:
            st.markdown(f"**{plain(_value(tried))}** by {plain(tried.judge.id, 60)}")
            if name in part.reasons:
                st.caption(f"Reason: {plain(part.reasons[name], 1_000)}")
        for number, call in enumerate(part.calls):
            _call(call, number)


def _value(tried: _Tried) -> str:
    trait, part = tried.trait, tried.part
    value = part.scores[trait.name]
    if trait.name in part.labels:
        return part.labels[trait.name]
    if isinstance(value, bool):
        return "Yes" if value else "No"
    top = f" of {trait.max_score}" if isinstance(trait, RubricTrait) else ""
    return f"{value}{top}"


def _call(call: CallRecord, number: int) -> None:
    purpose = _PURPOSES.get(call.purpose, call.purpose)
    again = f", attempt {number + 1}" if number else ""
    where = ", known already, which costs nothing" if call.source == "ledger" else ""
    with st.expander(f"Prompt and reply: {purpose}{again}{where}", icon=":material/forum:"):
        for message in call.messages:
            st.caption(plain(message["role"]))
            st.code(visible(message["content"]), language=None, wrap_lines=True)
        st.caption("reply")
        st.code(visible(call.reply or ""), language="json", wrap_lines=True)
