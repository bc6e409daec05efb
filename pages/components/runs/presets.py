"""Configurations with a name: save one, load one, delete one."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import configuration_bytes
from karenina_core.schemas import VerificationConfig
from pages.components import feedback, frame, services
from pages.components.runs import configuration
from pages.components.text import plain, short


def load() -> None:
    """Draw the choice among the stored configurations."""
    presets = services.store().settings.presets()
    with st.popover("Presets", icon=":material/bookmark:", key="presets"):
        if not presets:
            st.caption("No preset yet. Set up models and judges, then save the configuration below.")
            return
        name = st.selectbox("Preset", list(presets), format_func=lambda key: short(key, 60), key="preset_name")
        st.caption(_described(presets[name]))
        with st.container(horizontal=True):
            st.button(
                "Load",
                key="preset_load",
                type="primary",
                icon=":material/download:",
                on_click=configuration.fill,
                args=(presets[name],),
            )
            st.button("Delete", key="preset_delete", icon=":material/delete:", on_click=_delete, args=(name,))


def describe_rest() -> None:
    """Say which settings of a loaded preset have no field in the form."""
    rest = configuration.rest()
    if rest:
        st.caption(f"Also set by the preset: {plain(', '.join(name.replace('_', ' ') for name in rest))}.")
        st.button("Use the usual values instead", key="preset_rest", on_click=configuration.drop_rest, type="tertiary")


def save(config: VerificationConfig) -> None:
    """Draw what keeps a configuration under a name, or as a file."""
    with st.popover("Save as preset", icon=":material/bookmark_add:", key="preset_save"), frame.guard():
        st.caption("Models, judges and settings are kept; keys never are, and neither are prepared answers.")
        name = st.text_input("Name", key="preset_new", max_chars=80)
        if st.button("Save", key="preset_keep", type="primary", disabled=not name.strip()):
            services.store().settings.save_preset(name, config)
            feedback.say(f"Saved the preset **{plain(name.strip(), 60)}**.")
            st.rerun()
        st.download_button(
            "Download as a file",
            data=lambda: configuration_bytes(config),
            file_name="configuration.json",
            mime="application/json",
            key="preset_download",
            icon=":material/file_download:",
            help="For the command line: karenina run BENCHMARK --config configuration.json",
        )


def _described(config: VerificationConfig) -> str:
    models, judges = (
        plain(", ".join(model.id for model in role), 160) for role in (config.answering_models, config.parsing_models)
    )
    return f"{models} · judged by {judges} · {config.replicate_count} ×"


def _delete(name: str) -> None:
    store = services.store()
    config = store.settings.preset(name)
    store.settings.delete_preset(name)
    feedback.offer_undo(f"Deleted the preset **{plain(name, 60)}**.", lambda: store.settings.save_preset(name, config))
