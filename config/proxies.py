"""The proxy that leads to a server, by the variables that other programs obey too."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed leaves it out

from shared.github.address import LOOPBACK


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy's URL from `https_proxy` (or `http_proxy`, by the scheme of `url`), else `all_proxy`.

    None without one, for hosts that `no_proxy` names, and for this machine. Lower case wins, as in curl.
    """
    parts = urlsplit(url)
    if parts.hostname in LOOPBACK or proxy_bypass_environment(parts.netloc, {"no": _value("no_proxy", environment)}):
        return None
    proxy = _value(f"{parts.scheme}_proxy", environment) or _value("all_proxy", environment)
    return (proxy if "://" in proxy else f"http://{proxy}") if proxy else None


def _value(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name) or environment.get(name.upper(), "")
