"""The providers whose keys and addresses belong together."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Provider(NamedTuple):
    """One provider.

    Attributes:
        title: Its name for people.
        prefixes: What model names of this provider begin with, before the slash.
        variables: Environment variables that hold its key, the usual one first.
        hosts: Where its key may be sent; a leading dot stands for all subdomains.
        base_url: Where models named by the first prefix answer in the OpenAI protocol as it is. Empty where something
            has to be translated, such as names of models or settings; then litellm does it.
    """

    title: str
    prefixes: tuple[str, ...]
    variables: tuple[str, ...]
    hosts: tuple[str, ...]
    base_url: str = ""


def _provider(title: str, prefixes: str, variables: str, hosts: str, path: str | None = None) -> Provider:
    """Return a provider whose names are separated by blanks; the path is that of its base URL on its first host."""
    base_url = "" if path is None else f"https://{hosts.split()[0]}{path}"
    return Provider(title, tuple(prefixes.split()), tuple(variables.split()), tuple(hosts.split()), base_url)


PROVIDERS: tuple[Provider, ...] = (
    _provider("OpenAI", "openai text-completion-openai", "OPENAI_API_KEY", "api.openai.com .api.openai.com", "/v1"),
    _provider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "api.anthropic.com"),
    _provider("OpenRouter", "openrouter", "OPENROUTER_API_KEY", "openrouter.ai", "/api/v1"),
    _provider("Google Gemini", "gemini", "GEMINI_API_KEY GOOGLE_API_KEY", "generativelanguage.googleapis.com"),
    _provider("Mistral", "mistral codestral", "MISTRAL_API_KEY", "api.mistral.ai codestral.mistral.ai"),
    _provider(
        "Azure",
        "azure azure_ai",
        "AZURE_API_KEY AZURE_OPENAI_API_KEY AZURE_AI_API_KEY",
        ".openai.azure.com .cognitiveservices.azure.com .services.ai.azure.com",
    ),
    _provider("Groq", "groq", "GROQ_API_KEY", "api.groq.com", "/openai/v1"),
    _provider("DeepSeek", "deepseek", "DEEPSEEK_API_KEY", "api.deepseek.com", ""),
    _provider(
        "Together AI",
        "together_ai",
        "TOGETHERAI_API_KEY TOGETHER_API_KEY TOGETHER_AI_API_KEY",
        "api.together.xyz api.together.ai",
        "/v1",
    ),
    _provider("xAI", "xai", "XAI_API_KEY", "api.x.ai", "/v1"),
    _provider("Cohere", "cohere cohere_chat", "COHERE_API_KEY CO_API_KEY", "api.cohere.com api.cohere.ai"),
    _provider("Perplexity", "perplexity", "PERPLEXITYAI_API_KEY PERPLEXITY_API_KEY", "api.perplexity.ai"),
    _provider("Fireworks AI", "fireworks_ai", "FIREWORKS_API_KEY FIREWORKS_AI_API_KEY", "api.fireworks.ai"),
    _provider("Cerebras", "cerebras", "CEREBRAS_API_KEY", "api.cerebras.ai", "/v1"),
    _provider("NVIDIA", "nvidia_nim", "NVIDIA_NIM_API_KEY NVIDIA_API_KEY", "integrate.api.nvidia.com", "/v1"),
    _provider("DeepInfra", "deepinfra", "DEEPINFRA_API_KEY", "api.deepinfra.com"),
    _provider(
        "Hugging Face",
        "huggingface",
        "HUGGINGFACE_API_KEY HF_TOKEN",
        "router.huggingface.co api-inference.huggingface.co",
    ),
)


def provider_named(prefix: str) -> Provider | None:
    """Return the provider whose models begin with `prefix/`."""
    return next((provider for provider in PROVIDERS if prefix in provider.prefixes), None)


def owner_of(variable: str) -> Provider | None:
    """Return the provider whose key a variable holds, None for a variable of one's own."""
    return next((provider for provider in PROVIDERS if variable in provider.variables), None)


@lru_cache(maxsize=256)
def is_provider_host(host: str) -> bool:
    """Say whether a host belongs to a known provider."""
    return any(matches(host, provider.hosts) for provider in PROVIDERS)


def matches(host: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a host is one of the patterns; a leading dot stands for all subdomains."""
    return any(host.endswith(pattern) if pattern.startswith(".") else host == pattern for pattern in patterns)
