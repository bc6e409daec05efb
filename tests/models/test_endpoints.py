from __future__ import annotations

import pytest

from karenina_core.errors import ConfigError
from karenina_core.models.endpoints import check_endpoint


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
