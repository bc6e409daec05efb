"""The configuration a person is putting together: its fields and presets, found again after a reload or a restart.

Every field of the form takes its key and its first value from here; `keep` stores what has changed since the last
time. Signed-in people have a configuration each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from karenina_core.runs import Plan, configuration_bytes
from karenina_core.schemas import ModelConfig, VerificationConfig
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services, sign_in
from pages.components.text import plain, short
from pages.components.widgets import download, fingerprint

ROLES = {"answering": "answering_models", "judge": "parsing_models"}
_FORM = {
    "repeats": "replicate_count",
    "calls": "max_concurrent_requests",
    "mode": "evaluation_mode",
    "abstention": "abstention_enabled",
    "sufficiency": "sufficiency_enabled",
    "embeddings": "embedding_check_enabled",
    "max_cost": "max_cost",
}
_FEW_SHOT = "few_shot_config"
_STORED = "_configuration_stored"
_FIELDS = "_configuration_fields"
_REST = "_configuration_rest"
_MOST_ANSWERS = 2_000_000  # characters of prepared answers that are kept with the form


# What is kept


def field(name: str, default: Any, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Return the `key` of a widget, with its value set to what was kept, and let it outlive the page.

    Args:
        name: Of the field.
        default: Its value where nothing was kept.
        options: What can be chosen; a value that is not there any more is forgotten.
    """
    key = f"cfg_{name}"
    st.session_state.setdefault(_FIELDS, set()).add(name)
    value = st.session_state[key] if key in st.session_state else _stored().get("fields", {}).get(name, default)
    if options is not None and isinstance(value, list):
        value = [item for item in value if item in options]
    elif options is not None and value not in options:
        value = default
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return {"key": key, "persist_state": "session"}


def models(role: str, default: list[ModelConfig]) -> list[ModelConfig]:
    """Return the list of models of a role; change it in place.

    Args:
        role: `answering` or `judge`.
        default: Where nothing was kept.
    """
    key = f"_models_{role}"
    if key not in st.session_state:
        kept = _stored().get("models", {}).get(role)
        try:
            chosen = default if kept is None else [ModelConfig.model_validate(item) for item in kept]
        except ValueError:  # of a version that knew other fields
            chosen = []
        st.session_state[key] = chosen
    found: list[ModelConfig] = st.session_state[key]
    return found


def _rest() -> dict[str, Any]:
    """Return the settings of a loaded preset that the form has no field for."""
    if _REST not in st.session_state:
        kept = _stored().get("rest", {})
        # Kept before the form had a field for it.
        st.session_state[_REST] = {name: value for name, value in kept.items() if name != "max_seconds"}
    found: dict[str, Any] = st.session_state[_REST]
    return found


def keep() -> bool:
    """Store what has changed, and return whether all prepared answers are kept too."""
    before = _stored()
    names = [name for name in sorted(st.session_state.get(_FIELDS, ())) if f"cfg_{name}" in st.session_state]
    fields = {**before.get("fields", {}), **{name: st.session_state[f"cfg_{name}"] for name in names}}
    lists = {role: st.session_state[f"_models_{role}"] for role in ROLES if f"_models_{role}" in st.session_state}
    chosen = {role: [_dump(model) for model in items] for role, items in lists.items()}
    now = {"fields": fields, "models": {**before.get("models", {}), **chosen}, "rest": dict(_rest())}
    if now != before:
        st.session_state[_STORED] = now
        services.store().settings.set(_setting(), now)
    return all(_is_small(model) for items in lists.values() for model in items)


def _dump(model: ModelConfig) -> dict[str, Any]:
    answers = {"manual_traces": dict(model.manual_traces)} if model.manual_traces and _is_small(model) else {}
    return model.model_dump(mode="json", exclude_defaults=True) | {"id": model.id} | answers


def _is_small(model: ModelConfig) -> bool:
    return sum(map(len, (model.manual_traces or {}).values())) <= _MOST_ANSWERS


def _stored() -> Mapping[str, Any]:
    if _STORED not in st.session_state:
        st.session_state[_STORED] = services.store().settings.get(_setting(), {})
    stored: Mapping[str, Any] = st.session_state[_STORED]
    return stored


def _setting() -> str:
    person = sign_in.person()
    return f"configuration/{fingerprint(person) if person else 'own'}"


# The whole configuration


def fill(config: VerificationConfig) -> None:
    """Put a whole configuration into the form; call it before the widgets are drawn."""
    for role, name in ROLES.items():
        st.session_state[f"_models_{role}"] = list(getattr(config, name))
    for name, attribute in _FORM.items():
        value = getattr(config, attribute)
        st.session_state[f"cfg_{name}"] = "auto" if value == "template_and_rubric" else value
    st.session_state["cfg_max_minutes"] = None if config.max_seconds is None else config.max_seconds / 60
    st.session_state["cfg_few_shot"] = config.few_shot_config is not None
    settings = config.model_dump(mode="json", exclude_defaults=True)
    if not settings.get(_FEW_SHOT):  # nothing about them but that they are sent, which the form says
        settings.pop(_FEW_SHOT, None)
    in_form = {*_FORM.values(), *ROLES.values(), "max_seconds"}
    st.session_state[_REST] = {name: value for name, value in settings.items() if name not in in_form}


def build(answering: list[ModelConfig], judges: list[ModelConfig], max_cost: float | None) -> VerificationConfig:
    """Return the configuration as the form has it."""
    form = {attribute: st.session_state[f"cfg_{name}"] for name, attribute in _FORM.items() if name != "max_cost"}
    roles = {"answering_models": answering, "parsing_models": judges}
    minutes = st.session_state.get("cfg_max_minutes")
    bounds = {"max_cost": max_cost, "max_seconds": None if minutes is None else 60 * minutes}
    examples = {_FEW_SHOT: _rest().get(_FEW_SHOT, {}) if st.session_state.get("cfg_few_shot") else None}
    return VerificationConfig.model_validate({**_rest(), **form, **roles, **bounds, **examples})


# The settings of the form

_MODES = {"auto": "when there are any", "template_only": "off", "rubric_only": "only rubrics"}
_ONE_MORE = "One more judge call per answer."
_SWITCHES = {
    "abstention": ("Notice declined answers", _ONE_MORE),
    "sufficiency": ("Notice insufficient answers", _ONE_MORE),
    "few_shot": ("Few-shot examples", "Those of each question on Questions, under “Few-shot”, are sent before it."),
    "embeddings": ("Embedding check", "For the rule “Similar meaning”. Needs the embeddings extra; see Settings."),
}
_SHOWN = 50


def settings() -> None:
    """Draw how a run goes; `build` reads the fields."""
    st.subheader("Settings")
    first, second, third = st.columns(3)
    first.number_input("Repeats", 1, 100, help="How often every question is asked.", **field("repeats", 1))
    at_once = "Calls in flight at the same time, over all models. It can be changed while the run is under way."
    second.number_input("Calls at once", 1, 200, help=at_once, **field("calls", 8))
    third.selectbox("Rubrics", list(_MODES), format_func=_MODES.__getitem__, **field("mode", "auto", _MODES))
    with st.container(horizontal=True):
        for name, (label, about) in _SWITCHES.items():
            st.toggle(label, help=about, **field(name, name == "few_shot" and _FEW_SHOT in _rest()))


def ask_time() -> None:
    """Draw the field for the longest time a run may work; `build` reads it."""
    label = "Work at most (minutes; empty for no limit)"
    about = "Then the run stops, calls in flight are finished, and it can be resumed. Pauses do not count."
    bound = field("max_minutes", None)
    st.number_input(label, min_value=0.1, value=None, step=1.0, help=about, width=320, **bound)


# Presets


def load_preset() -> None:
    """Draw the choice among the stored configurations."""
    presets = services.store().settings.presets()
    with st.popover("Presets", icon=":material/bookmark:", key="presets"):
        if not presets:
            st.caption("No preset yet. Set up models and judges, then save the configuration below.")
            return
        name = st.selectbox("Preset", list(presets), format_func=lambda key: short(key, 60), key="preset_name")
        config = presets[name]
        models = (config.answering_models, config.parsing_models)
        answerers, judges = (plain(", ".join(model.id for model in role), 160) for role in models)
        st.caption(f"{answerers} · judged by {judges} · {config.replicate_count} ×")
        with st.container(horizontal=True):
            forms.button("Load", "download", "preset_load", type="primary", on_click=fill, args=(config,))
            forms.button("Delete", "delete", "preset_delete", on_click=_delete, args=(name,))


def describe_rest() -> None:
    """Say which settings of a loaded preset have no field in the form."""
    if _rest():
        st.caption(f"Also set by the preset: {plain(', '.join(name.replace('_', ' ') for name in _rest()))}.")
        st.button("Use the usual values instead", key="preset_rest", on_click=_rest().clear, type="tertiary")


def save_preset(config: VerificationConfig) -> None:
    """Draw what keeps a configuration under a name, or as a file."""
    with st.popover("Save as preset", icon=":material/bookmark_add:", key="preset_save"), frame.guard():
        st.caption("Models, judges and settings are kept; keys never are, and neither are prepared answers.")
        name = st.text_input("Name", key="preset_new", max_chars=80)
        if st.button("Save", key="preset_keep", type="primary", disabled=not name.strip()):
            services.store().settings.save_preset(name, config)
            feedback.say(f"Saved the preset **{plain(name.strip(), 60)}**.")
            st.rerun()
        file, mime = "configuration.json", "application/json"
        look = {"key": "preset_download", "help": f"For the command line: karenina run BENCHMARK --config {file}"}
        download("Download as a file", lambda: configuration_bytes(config), file, mime, **look)


def _delete(name: str) -> None:
    settings = services.store().settings
    config = settings.preset(name)
    settings.delete_preset(name)
    feedback.offer_undo(f"Deleted the preset **{plain(name, 60)}**.", lambda: settings.save_preset(name, config))


# What it adds up to


def describe(plan: Plan, benchmark_id: str) -> None:
    """Draw what a plan adds up to, what it leaves out, and what is wrong with the benchmark.

    Args:
        plan: What would run.
        benchmark_id: Of the stored benchmark.
    """
    config, calls, benchmark = plan.config, plan.calls(), plan.benchmark
    judges = len(config.parsing_models)
    counts = {"question": plan.question_ids, "model": config.answering_models, "repeat": range(config.replicate_count)}
    product = " × ".join(counted(len(items), noun) for noun, items in counts.items())
    judged = f" × {counted(judges, 'judge')} = {counted(plan.rows, 'evaluation')}" if judges > 1 else ""
    most = counted(sum(calls.values()) - calls.get("answer", 0), "judge call")
    st.markdown(f"**{product} = {counted(plan.answers, 'answer')}{judged}**, and at most {most}.")
    if plan.skipped:
        with st.expander(f"{counted(len(plan.skipped), 'question')} will not run"):
            for question_id, reason in plan.skipped[:_SHOWN]:
                text = benchmark.get_question(question_id).question if question_id in benchmark else question_id
                st.caption(f"{plain(text, 80)}: {plain(reason)}")
            if plan.question_ids and forms.button("Open them in Questions", "quiz", "open_skipped"):
                _open_skipped(plan, benchmark_id)
    problems = [problem for problem in benchmark.check() if problem.severity == "error"]
    if problems:
        with st.expander(f"{counted(len(problems), 'problem')} in the benchmark", icon=":material/warning:"):
            for problem in problems[:_SHOWN]:
                st.caption(f"{plain(problem.where, 80)}: {plain(problem.what)} {plain(problem.next)}")


def _open_skipped(plan: Plan, benchmark_id: str) -> None:
    left_out = [skipped.question_id for skipped in plan.skipped]
    drafts = all(name in plan.benchmark and not plan.benchmark.get_question(name).finished for name in left_out)
    only = {"only": "Draft"} if drafts else {}
    frame.go(frame.QUESTIONS, benchmark=benchmark_id, q=left_out[0], **only)


def nothing_to_run(benchmark_id: str, *, everything: bool) -> None:
    """Say that nothing would run, and what to do about it."""
    others, finish = "No question is left. Choose others above, or all of them.", "Mark questions as finished first."
    st.warning(f"No question would run. {finish}" if everything else others, title="Nothing to run")
    if everything:
        frame.link_button("Go to questions", frame.QUESTIONS, kind="primary", benchmark=benchmark_id)
