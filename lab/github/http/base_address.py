"""The API's root as a client knows it: addresses in answers lead back by the same way."""

from __future__ import annotations

import re

from aiohttp import web

ENTERPRISE = "/api/v3"
"""The beginning of every API path on a GitHub Enterprise Server: programs use it for any host but github.com."""

_NAME = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)
_LOOPBACK = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")


def came_to(request: web.Request, root: str) -> str:
    """Return the API's root as the client knows it, by its `Host`; `root`, the lab's own, for a client without `Host`.

    A request through the unix socket for another host was meant for https: a program that is given a socket talks to
    `api.github.com` or its Enterprise host through it.
    """
    host = request.headers.get("Host", "")
    if _NAME.fullmatch(host) is None:
        return root
    tls = _through_socket(request) and _LOOPBACK.fullmatch(host) is None
    prefix = ENTERPRISE if request.path.startswith(f"{ENTERPRISE}/") else ""
    return f"{'https' if tls else 'http'}://{host}{prefix}"


def _through_socket(request: web.Request) -> bool:
    """Return whether it came through the unix socket: there an address is a path, not host and port."""
    return request.transport is not None and not isinstance(request.transport.get_extra_info("sockname"), tuple)
