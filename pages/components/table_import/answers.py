"""Answers of models that came with a table: stored beside the benchmark, and used in a run."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from karenina_core.analysis import clean_text
from karenina_core.schemas import ModelConfig
from karenina_core.text import counted
from pages.components import forms, frame, services
from pages.components.text import plain

_SETTING = "prepared_answers/"
_CHOSEN = "_models_answering"  # the models under test of the Configure page

Answers = Mapping[str, Mapping[str, str]]
"""Model → question id → answer."""


def add(benchmark_id: str, answers: Answers) -> None:
    """Store answers beside a benchmark; those of the same model and question are replaced."""
    if answers:
        stored = of_benchmark(benchmark_id)
        for model, texts in answers.items():
            cleaned = {question_id: clean_text(text) for question_id, text in texts.items()}
            stored.setdefault(clean_text(model), {}).update(cleaned)
        services.store().settings.set(_SETTING + benchmark_id, stored)


def of_benchmark(benchmark_id: str) -> dict[str, dict[str, str]]:
    """Return the answers stored beside a benchmark."""
    stored: dict[str, dict[str, str]] = services.store().settings.get(_SETTING + benchmark_id) or {}
    return stored


def as_models(answers: Answers) -> list[ModelConfig]:
    """Return stored answers as models a run can ask."""
    return [
        ModelConfig(id=model, interface="manual", model_name=model, manual_traces=dict(texts))
        for model, texts in answers.items()
    ]


def draw(benchmark_id: str) -> None:
    """Say which answers are stored beside a benchmark, and offer to run with them."""
    answers = of_benchmark(benchmark_id)
    if not answers:
        return
    with st.container(border=True, key="prepared_answers"):
        listed = " · ".join(f"{plain(model, 40)}: {counted(len(texts), 'answer')}" for model, texts in answers.items())
        st.markdown(f":material/forum: **Prepared answers** — {listed}")
        with st.container(horizontal=True):
            if forms.button("Run with these answers", "tune", "run_prepared"):
                others = [model for model in st.session_state.get(_CHOSEN, []) if model.id not in answers]
                st.session_state[_CHOSEN] = [*others, *as_models(answers)]
                st.switch_page(frame.CONFIGURE, query_params={"benchmark": benchmark_id})
            if st.button("Remove them", type="tertiary", key="forget_prepared"):
                services.store().settings.remove(_SETTING + benchmark_id)
                st.rerun()
