"""Which model drafts templates, what that will take, and the agreement to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow, Estimate, estimate_templates
from karenina_core.schemas import ModelConfig
from pages.components import services
from pages.components.runs import configuration, model_editor, one_model, spending
from pages.components.text import distinct, plain, short
from pages.components.widgets import fingerprint

_ADDED = "drafting"  # the role under which the form adds models
_CHOSEN = "_draft_model"


class Terms(NamedTuple):
    """On which terms a model may draft.

    Attributes:
        agreed: Whether it may begin.
        max_cost: US dollars that may be spent; None without a bound.
    """

    agreed: bool
    max_cost: float | None


def choose(row: BenchmarkRow, key: str) -> ModelConfig | None:
    """Draw the choice of the model that drafts; None where there is none to choose.

    Args:
        row: The benchmark.
        key: Begins the keys of the widgets.
    """
    known = {model.id: model for model in reversed(_known(row))}
    named = distinct(reversed(known), lambda name: short(name, 60))
    chosen = one_model.choose("Model that drafts", named, _CHOSEN, f"{key}_model", ("Add a model", _add))
    if chosen is None:
        st.caption("Add the model that is to draft; it is asked once for each question.")
        return None
    st.caption(model_editor.describe(known[chosen], _ADDED))
    return known[chosen]


def terms(
    row: BenchmarkRow,
    benchmark: Benchmark,
    model: ModelConfig,
    question_ids: Sequence[str],
    key: str,
    *,
    replace_existing: bool = False,
) -> Terms:
    """Draw what drafting takes from its provider, and return the terms; a model on this computer needs none."""
    found = _expected(row, benchmark, model, question_ids, replace_existing)
    if found is None:
        return Terms(True, None)
    max_cost = st.number_input(
        "Spend at most (US dollars; empty for no limit)",
        min_value=0.01,
        value=1.0,
        key=f"{key}_max_cost",
        help="Drafting stops when this is spent; what is drafted stays. Models without a known price do not count.",
        width=320,
    )
    st.markdown(spending.sentence(found))
    if found.calls:
        st.caption(plain(found.assumption))
    spending.left_today("everything")
    spending.prices(found, key)
    agreed = st.checkbox(
        "I have read this; drafting may spend money, and sends questions, reference answers and notes to this "
        "provider.",
        key=f"{key}_agree_{fingerprint(f'{found}{model.model_dump_json()}{max_cost}')}",
    )
    return Terms(agreed, max_cost)


def _known(row: BenchmarkRow) -> list[ModelConfig]:
    """Return the models that can draft: added here, last used here, and those of runs."""
    default = model_editor.default_models()
    last = services.drafter().batch(row.id)
    found = [
        *configuration.models(_ADDED, []),
        *([last.model] if last and last.model else []),
        *configuration.models("judge", list(default)),
        *configuration.models("answering", list(default)),
    ]
    return [model for model in found if model.transport not in ("manual", "recorded")]


@st.dialog("Add a model", position="right", width="medium")
def _add() -> None:
    chosen = configuration.models(_ADDED, [])
    if model_editor.form(_ADDED, chosen, None):
        st.session_state[_CHOSEN] = chosen[-1].id
        st.rerun()


def _expected(
    row: BenchmarkRow, benchmark: Benchmark, model: ModelConfig, question_ids: Sequence[str], replace_existing: bool
) -> Estimate | None:
    store = services.store()
    batch = services.drafter().batch(row.id)
    about = f"{model.model_dump_json()}{row.id}{row.revision}{list(question_ids)}{replace_existing}"
    return spending.worked_out(
        "drafts",
        f"{about}{batch.started if batch else ''}",
        lambda: estimate_templates(
            benchmark, model, question_ids=question_ids, force_regenerate=replace_existing, store=store
        ),
    )
