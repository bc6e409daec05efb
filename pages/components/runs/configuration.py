"""The configuration a person is putting together: kept while it changes, found again after a reload or a restart.

Every field of the form takes its key and its first value from here; `keep` stores what has changed since the last
time. Signed-in people have a configuration each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from karenina_core.schemas import ModelConfig, VerificationConfig
from pages.components import services
from pages.components.widgets import fingerprint

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
_KEPT = "_configuration_kept"
_FIELDS = "_configuration_fields"
_REST = "_configuration_rest"
_MOST_ANSWERS = 2_000_000  # characters of prepared answers that are kept with the form


def field(name: str, default: Any, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Return the `key` of a widget, with its value set to what was kept, and let it outlive the page.

    Args:
        name: Of the field.
        default: Its value where nothing was kept.
        options: What can be chosen; a value that is not there any more is forgotten.
    """
    key = f"cfg_{name}"
    st.session_state.setdefault(_FIELDS, set()).add(name)
    if key not in st.session_state:
        st.session_state[key] = _fitting(_kept().get("fields", {}).get(name, default), default, options)
    elif options is not None:
        fitting = _fitting(st.session_state[key], default, options)
        if fitting != st.session_state[key]:
            st.session_state[key] = fitting
    return {"key": key, "persist_state": "session"}


def _fitting(value: Any, default: Any, options: Collection[Any] | None) -> Any:
    if options is None:
        return value
    if isinstance(value, list):
        return [item for item in value if item in options]
    return value if value in options else default


def models(role: str, default: list[ModelConfig]) -> list[ModelConfig]:
    """Return the list of models of a role; change it in place.

    Args:
        role: `answering` or `judge`.
        default: Where nothing was kept.
    """
    key = f"_models_{role}"
    if key not in st.session_state:
        kept = _kept().get("models", {}).get(role)
        st.session_state[key] = default if kept is None else _readable(kept)
    chosen: list[ModelConfig] = st.session_state[key]
    return chosen


def _readable(kept: list[Any]) -> list[ModelConfig]:
    try:
        return [ModelConfig.model_validate(item) for item in kept]
    except ValueError:  # of a version that knew other fields
        return []


def rest() -> dict[str, Any]:
    """Return the settings of a loaded preset that the form has no field for."""
    if _REST not in st.session_state:
        kept = _kept().get("rest", {})
        # Kept before the form had a field for it.
        st.session_state[_REST] = {name: value for name, value in kept.items() if name != "max_seconds"}
    found: dict[str, Any] = st.session_state[_REST]
    return found


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
    st.session_state[_REST] = {
        name: value for name, value in settings.items() if name not in {*_FORM.values(), *ROLES.values(), "max_seconds"}
    }


def few_shot() -> dict[str, Any]:
    """Return what `field` does, for whether few-shot examples are sent."""
    return field("few_shot", _FEW_SHOT in rest())


def drop_rest() -> None:
    """Forget the settings that the form has no field for."""
    st.session_state[_REST] = {}


def build(answering: list[ModelConfig], judges: list[ModelConfig], max_cost: float | None) -> VerificationConfig:
    """Return the configuration as the form has it."""
    form = {attribute: st.session_state[f"cfg_{name}"] for name, attribute in _FORM.items() if name != "max_cost"}
    roles = {"answering_models": answering, "parsing_models": judges}
    minutes = st.session_state.get("cfg_max_minutes")
    bounds = {"max_cost": max_cost, "max_seconds": None if minutes is None else 60 * minutes}
    examples = {_FEW_SHOT: rest().get(_FEW_SHOT, {}) if st.session_state.get("cfg_few_shot") else None}
    return VerificationConfig.model_validate({**rest(), **form, **roles, **bounds, **examples})


def keep() -> bool:
    """Store what has changed, and return whether all prepared answers are kept too."""
    before = _kept()
    fields = {**before.get("fields", {}), **_fields()}
    whole, chosen = True, dict[str, Any]()
    for role in ROLES:
        items = st.session_state.get(f"_models_{role}")
        if items is not None:
            chosen[role] = [_stored(model) for model in items]
            whole = whole and all(map(_is_small, items))
    now = {"fields": fields, "models": {**before.get("models", {}), **chosen}, "rest": rest()}
    if now != before:
        st.session_state[_KEPT] = now
        services.store().settings.set(_setting(), now)
    return whole


def _fields() -> dict[str, Any]:
    names: set[str] = st.session_state.get(_FIELDS, set())
    return {name: st.session_state[f"cfg_{name}"] for name in sorted(names) if f"cfg_{name}" in st.session_state}


def _stored(model: ModelConfig) -> dict[str, Any]:
    answers = {"manual_traces": dict(model.manual_traces)} if model.manual_traces and _is_small(model) else {}
    return model.model_dump(mode="json", exclude_defaults=True) | {"id": model.id} | answers


def _is_small(model: ModelConfig) -> bool:
    return sum(map(len, (model.manual_traces or {}).values())) <= _MOST_ANSWERS


def _kept() -> Mapping[str, Any]:
    if _KEPT not in st.session_state:
        st.session_state[_KEPT] = services.store().settings.get(_setting(), {})
    kept: Mapping[str, Any] = st.session_state[_KEPT]
    return kept


def _setting() -> str:
    person = str(st.user.get("email") or "") if st.user.get("is_logged_in") else ""
    return f"configuration/{fingerprint(person) if person else 'own'}"
