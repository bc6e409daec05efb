"""The fields of a model that a provider answers for: its name, its address, its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from karenina_core.models import check_access
from karenina_core.schemas import ModelConfig

_HINTS = {"provider": "openai/gpt-4.1-mini", "endpoint": "llama3.2"}
_KEYS = {"provider": "OPENAI_API_KEY", "endpoint": "MY_SERVER_API_KEY"}
_NAMING = {
    "provider": "The provider, a slash, and the provider's name for the model.",
    "endpoint": "As the server at that address names it.",
}
_VARIABLE = (
    "The name only, and only for its own provider. The key itself is read when a call is made and stored nowhere."
)
_LITELLM = (
    "Providers that speak the OpenAI protocol are called directly, which takes far less time of this computer; all "
    "others go through litellm anyway."
)


def kind_of(model: ModelConfig) -> str:
    """Return which of the two forms a model belongs to: `endpoint` with an address of its own, or `provider`."""
    return "endpoint" if model.interface == "openai_endpoint" else "provider"


def draw(kind: str, role: str, old: ModelConfig | None = None, mark: str = "") -> Callable[[], list[ModelConfig]]:
    """Draw the fields and return what makes the model of them.

    Args:
        kind: `provider` or `endpoint`.
        role: Of the model; part of the keys of the fields.
        old: The model that is being changed, whose other settings stay.
        mark: Further part of the keys.
    """
    end = f"{role}{mark}"
    name = st.text_input(
        "Model",
        old.model_name if old else "",
        placeholder=_HINTS[kind],
        key=f"name_{kind}_{end}",
        help=_NAMING[kind],
    )
    litellm = kind == "provider" and st.toggle(
        "Call through litellm", bool(old and old.interface == "litellm"), key=f"litellm_{end}", help=_LITELLM
    )
    url = ""
    if kind == "endpoint":
        at = (old.endpoint_base_url if old else None) or ""
        url = st.text_input("Address", at, placeholder="http://localhost:11434/v1", key=f"url_{end}")
    known = old.id if old and old.id not in (old.label, old.model_name) else ""
    label = st.text_input(
        "Label (optional)", known, key=f"label_{kind}_{end}", help="How the model is called in results and charts."
    )
    variable = st.text_input(
        "Environment variable with the key (optional)",
        (old.api_key_env if old else None) or "",
        placeholder=_KEYS[kind],
        key=f"variable_{kind}_{end}",
        help=_VARIABLE,
    )
    left, right = st.columns(2)
    temperature = left.number_input(
        "Temperature", 0.0, 2.0, old.temperature if old else 0.1, 0.1, key=f"temperature_{kind}_{end}"
    )
    most = max(200_000, old.max_tokens) if old else 200_000
    tokens = right.number_input(
        "Longest reply (tokens)", 1, most, old.max_tokens if old else 4096, key=f"tokens_{kind}_{end}"
    )
    prompt = (old.system_prompt if old else None) or ""
    system = st.text_area("System prompt (optional)", prompt, key=f"system_{kind}_{end}", height=80)
    limits = _limits(old, f"{kind}_{end}")

    def build() -> list[ModelConfig]:
        settings: dict[str, Any] = {
            "id": label.strip() or _label(kind, name.strip(), old),
            "model_name": name.strip(),
            "interface": _interface(kind, old, litellm=litellm),
            "endpoint_base_url": url.strip() or None,
            "api_key_env": variable.strip() or None,
            "temperature": temperature,
            "max_tokens": int(tokens),
            "system_prompt": system.strip() or None,
            **limits,
        }
        if kind == "provider" and old is not None:
            settings["endpoint_base_url"] = old.endpoint_base_url
        model = ModelConfig.model_validate((old.model_dump() if old else {}) | settings)
        check_access(model)
        return [model]

    return build


def _label(kind: str, name: str, old: ModelConfig | None) -> str:
    if old is not None and old.model_name == name:
        return old.id
    # A server of one's own is nobody's provider.
    return name if kind == "endpoint" else ""


def _interface(kind: str, old: ModelConfig | None, *, litellm: bool) -> str:
    if kind == "endpoint":
        return "openai_endpoint"
    if litellm:
        return "litellm"
    return old.interface if old and old.interface != "litellm" else "provider"


def _limits(old: ModelConfig | None, end: str) -> dict[str, float | int | None]:
    now = describe_limits(old) if old else []
    with st.expander(f"Limits: {', '.join(now)}" if now else "Limits", icon=":material/speed:"):
        st.caption("Leave a field empty where the run's own settings are enough.")
        left, right = st.columns(2)
        with left:
            at_once = st.number_input(
                "Calls at once",
                1,
                1000,
                old.max_concurrent_requests if old else None,
                key=f"at_once_{end}",
                help="Of this model. Those of the whole run are set on the page.",
            )
            about = "Over all runs together. Your provider's account pages tell what it allows."
            requests = _amount(
                "Requests per minute", old.requests_per_minute if old else None, 1.0, f"requests_{end}", about
            )
        with right:
            about = "Then the call is tried again. Empty for two minutes."
            seconds = _amount(
                "Longest wait for a reply (seconds)", old.request_timeout if old else None, 1.0, f"wait_{end}", about
            )
            about = "Sent and received, over all runs together."
            tokens = _amount(
                "Tokens per minute", old.tokens_per_minute if old else None, 1000.0, f"volume_{end}", about
            )
    return {
        "max_concurrent_requests": None if at_once is None else int(at_once),
        "request_timeout": seconds,
        "requests_per_minute": requests,
        "tokens_per_minute": tokens,
    }


def _amount(label: str, value: float | None, step: float, key: str, about: str) -> float | None:
    least = min(0.1, value) if value else 0.1
    return st.number_input(label, least, None, value, step, "%.6g", key=key, help=about)


def describe_limits(model: ModelConfig) -> list[str]:
    """Return the limits of a model in words; none where it has none of its own."""
    parts = (
        (model.max_concurrent_requests, "at most {:,} at once"),
        (model.requests_per_minute, "{:,.9g} requests a minute"),
        (model.tokens_per_minute, "{:,.9g} tokens a minute"),
        (model.request_timeout, "waits {:g} s for a reply"),
    )
    return [words.format(value) for value, words in parts if value is not None]
