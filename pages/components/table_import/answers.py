"""Answers of models that came with a table: kept beside the benchmark, and taken into a run."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from karenina_core.analysis import clean_text
from karenina_core.schemas import ModelConfig
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.text import plain

_SETTING = "prepared_answers/"
_CHOSEN = "_models_answering"  # the models under test of the Configure page


def keep(benchmark_id: str, answers: Mapping[str, Mapping[str, str]]) -> None:
    """Keep answers beside a benchmark; those of the same model and question are replaced.

    Args:
        benchmark_id: The stored benchmark.
        answers: Model → question id → answer.
    """
    if not answers:
        return
    kept = of_benchmark(benchmark_id)
    for model, texts in answers.items():
        cleaned = {question_id: clean_text(text) for question_id, text in texts.items()}
        kept.setdefault(clean_text(model), {}).update(cleaned)
    services.store().settings.set(_SETTING + benchmark_id, kept)


def of_benchmark(benchmark_id: str) -> dict[str, dict[str, str]]:
    """Return the answers kept beside a benchmark: model → question id → answer."""
    kept: dict[str, dict[str, str]] = services.store().settings.get(_SETTING + benchmark_id) or {}
    return kept


def as_models(answers: Mapping[str, Mapping[str, str]]) -> list[ModelConfig]:
    """Return kept answers as models a run can ask."""
    return [
        ModelConfig(id=model, interface="manual", model_name=model, manual_traces=dict(texts))
        for model, texts in answers.items()
    ]


def draw(benchmark_id: str) -> None:
    """Say which answers are kept beside a benchmark, and offer to run with them."""
    answers = of_benchmark(benchmark_id)
    if not answers:
        return
    with st.container(border=True, key="prepared_answers"):
        listed = " · ".join(f"{plain(model, 40)}: {counted(len(texts), 'answer')}" for model, texts in answers.items())
        st.markdown(f":material/forum: **Prepared answers** — {listed}")
        with st.container(horizontal=True):
            if st.button("Run with these answers", icon=":material/tune:", key="run_prepared"):
                _choose(answers)
                st.switch_page(frame.CONFIGURE, query_params={"benchmark": benchmark_id})
            if st.button("Forget them", type="tertiary", key="forget_prepared"):
                services.store().settings.remove(_SETTING + benchmark_id)
                st.rerun()


def _choose(answers: Mapping[str, Mapping[str, str]]) -> None:
    models = as_models(answers)
    labels = {model.id for model in models}
    others = [model for model in st.session_state.get(_CHOSEN, []) if model.id not in labels]
    st.session_state[_CHOSEN] = [*others, *models]
