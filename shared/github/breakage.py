"""The errors for a connection that could not be made, or that broke (pure)."""

from __future__ import annotations

import aiohttp

from shared.errors import Transient, UnknownOutcome


def unreachable(error: Exception) -> str:
    """Return why no connection could be made. The proxy's address is left out: it may hold a password."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            reason = str(error.certificate_error).partition("] ")[2] or str(error.certificate_error)
            return (
                f"The certificate of {error.host} is not trusted: {reason}. If your network signs traffic with an "
                "authority of its own, name its certificate file in SSL_CERT_FILE."
            )
        case aiohttp.ClientProxyConnectionError():
            return f"The proxy {error.host}:{error.port} cannot be reached: {error.os_error}"
        case aiohttp.ClientHttpProxyError():
            return f"The proxy refused to connect to GitHub: {error.status} {error.message}"
        case _:
            return f"GitHub cannot be reached: {error}"


def broken(method: str, error: Exception) -> Transient:
    """Return the error for a lost answer: a read can be repeated, a write may have happened."""
    lost = Transient if method == "GET" else UnknownOutcome
    return lost(f"The connection to GitHub broke during a {method}: {type(error).__name__}")
