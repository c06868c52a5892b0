"""The choice of a proxy for a server."""

from __future__ import annotations

import pytest

from config.proxies import proxy_for

API = "https://api.github.com"
PROXY = "http://proxy.example:3128"


@pytest.mark.fault(46)
@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        (API, {}, None),
        (API, {"https_proxy": PROXY}, PROXY),
        (API, {"HTTPS_PROXY": PROXY}, PROXY),
        (API, {"https_proxy": PROXY, "HTTPS_PROXY": "http://other"}, PROXY),
        (API, {"http_proxy": PROXY}, None),
        (API, {"all_proxy": PROXY}, PROXY),
        (API, {"https_proxy": "proxy.example:3128"}, PROXY),
        (API, {"https_proxy": PROXY, "no_proxy": "github.com"}, None),
        (API, {"https_proxy": PROXY, "NO_PROXY": "example.org, .github.com"}, None),
        (API, {"https_proxy": PROXY, "no_proxy": "*"}, None),
        (API, {"https_proxy": PROXY, "no_proxy": "hub.com"}, PROXY),
        ("https://ghe.example:8443/api/v3", {"https_proxy": PROXY, "no_proxy": "ghe.example:8443"}, None),
        ("http://127.0.0.1:8000", {"http_proxy": PROXY, "all_proxy": PROXY}, None),
        ("http://localhost:8000", {"http_proxy": PROXY}, None),
    ],
)
def test_the_proxy_of_a_server(url: str, environment: dict[str, str], expected: str | None) -> None:
    assert proxy_for(url, environment) == expected
