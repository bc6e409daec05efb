from __future__ import annotations

from pathlib import Path

import pytest

from karenina_core.errors import ConfigError
from karenina_core.models import check_access, check_embedder, check_model, check_models
from karenina_core.models.endpoints import address_problem, check_endpoint
from karenina_core.models.sharing import check_place
from karenina_core.schemas import ModelConfig, VerificationConfig


@pytest.mark.parametrize(
    "url", ["https://api.example.org/v1", "http://127.0.0.1:11434/v1", "http://[::1]:8000", "https://host/v1/"]
)
def test_plain_addresses_are_accepted(url: str) -> None:
    assert check_endpoint(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host/v1",
        "//host/v1",
        "file:///etc/passwd",
        "gopher://host",
        "https://",
        "https://user:pass@host/v1",
        "https://api.openai.com@evil.example/v1",
        "https://host\\@evil.example",
        "https://host/v1?key=1",
        "https://host/v1#x",
        "https://host/v 1",
        "https://hôst/v1",
        "https://host:99999/v1",
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/v1",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        check_endpoint(url)


# Where an address may lead


@pytest.fixture
def shared_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several people use this process."""
    monkeypatch.setenv("KARENINA_SHARED", "1")


@pytest.mark.parametrize(
    "host",
    [
        *("127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]"),
        *("169.254.169.254", "[fe80::1]", "0.0.0.0", "224.0.0.1", "10.0.0.1", "192.168.1.5", "[fd00::1]", "100.64.0.1"),
    ],
)
def test_numbers_in_disguise_and_private_networks_are_refused_everywhere(host: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        check_endpoint(f"http://{host}/v1")


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:11434/v1", "http://localhost:11434/v1", "http://LOCALHOST./v1", "http://[::1]/v1"),
        *(
            "http://127.8.8.8/v1",
            "https://evil.example/v1",
            "https://8.8.8.8/v1",
            "https://api.openai.com.evil.example",
        ),
    ],
)
def test_a_shared_server_goes_to_known_places_only(url: str, shared_server: None) -> None:
    with pytest.raises(ConfigError, match="shared") as caught:
        check_endpoint(url)
    assert "KARENINA_ALLOWED_HOSTS" in caught.value.next


def test_the_own_computer_may_be_used_by_the_one_who_sits_at_it() -> None:
    assert check_endpoint("http://localhost:11434/v1")
    assert check_endpoint("http://127.0.0.1:11434/v1")


@pytest.mark.parametrize("host", ["api.openai.com", "eu.api.openai.com", "team.openai.azure.com", "openrouter.ai"])
def test_a_shared_server_knows_the_providers_and_reaches_them_safely(host: str, shared_server: None) -> None:
    assert check_endpoint(f"https://{host}/v1")
    with pytest.raises(ConfigError, match="https only"):
        check_endpoint(f"http://{host}/v1")


@pytest.mark.parametrize("url", ["http://10.0.0.1:8000/v1", "https://gpu.lab.example/v1", "http://localhost/v1"])
def test_an_administrator_lists_further_hosts(url: str, shared_server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "10.0.0.1, *.lab.example,localhost")
    assert check_endpoint(url) == url
    with pytest.raises(ConfigError):
        check_endpoint("https://lab.example.evil/v1")


@pytest.mark.parametrize("listing", ["", " , ", "*", "*."])
def test_a_list_that_names_nothing_allows_nothing(
    listing: str, shared_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", listing)
    with pytest.raises(ConfigError):
        check_endpoint("https://evil.example/v1")


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1%eth0", "::ffff:169.254.169.254", "0.0.0.0"])
def test_not_even_a_listed_host_may_lead_to_where_credentials_are(address: str) -> None:
    assert address_problem("listed", address)


def test_what_a_name_resolves_to_decides() -> None:
    assert not address_problem("other", "8.8.8.8")
    assert address_problem("other", "127.0.0.1")
    assert address_problem("provider", "10.0.0.1")
    assert not address_problem("listed", "10.0.0.1")
    assert not address_problem("loopback", "::1")
    assert address_problem("loopback", "8.8.8.8")


# Which models and files of the server a configuration may name


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a model, one beside it with another, and links from the first to the second."""
    for folder in ("listed", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.gguf").touch()
    (tmp_path / "listed" / "link.gguf").symlink_to(tmp_path / "other" / "model.gguf")
    return tmp_path


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.gguf", "~root/model.gguf", "acme/other-model", "a\0b"])
def test_on_a_computer_of_ones_own_any_model_may_be_named(name: str) -> None:
    check_place(name)


@pytest.mark.parametrize(
    "name",
    [
        *("{models}/other/model.gguf", "{models}/listed/../other/model.gguf", "{models}/listed/link.gguf"),
        *("{models}/listed-too/model.gguf", "/etc/passwd", "model.gguf", "acme/other-model", "a\0b", ""),
    ],
)
def test_a_shared_server_loads_listed_models_only(
    name: str, models: Path, shared_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_ALLOWED_MODELS", f"{models}/listed, acme/embedder")
    path = name.format(models=models)
    for place in ("acme/embedder", f"{models}/listed/model.gguf", f"{models}/listed/sub/../model.gguf"):
        check_place(place)
    with pytest.raises(ConfigError, match="may not be loaded here") as caught:
        check_place(path)
    assert "KARENINA_ALLOWED_MODELS" in caught.value.next
    with pytest.raises(ConfigError, match="may not be loaded here"):
        check_embedder(path)
    check_embedder("all-MiniLM-L6-v2")


def test_a_configuration_from_elsewhere_cannot_have_a_file_of_a_shared_server_read(
    models: Path, shared_server: None
) -> None:
    """Not even whether there is one is told."""
    named = [str(models / "other" / "model.gguf"), str(models / "other" / "nothing.gguf")]
    for path in named:
        local = ModelConfig(interface="local", model_name=path)
        recorded = ModelConfig(interface="recorded", model_name=f"{path}.json/entry")
        for attempt in (check_access, check_model):
            with pytest.raises(ConfigError, match="may not be loaded here"):
                attempt(local)
        with pytest.raises(ConfigError, match="may not be loaded here"):
            check_model(recorded)
    judge = ModelConfig(interface="recorded", model_name="demo/careful")
    config = VerificationConfig(
        answering_models=[judge], parsing_models=[judge], embedding_check_enabled=True, embedding_check_model=named[0]
    )
    with pytest.raises(ConfigError, match="may not be loaded here"):
        check_models(config)
