"""Coding backends that work by a subscription's login: without the model proxy, and what is then not enforced."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from shared.llm.codex_login_lease import LoginLease
from shared.llm.endpoint import Endpoint, Endpoints, Fixed

log = structlog.get_logger()

NOT_ENFORCED: Mapping[str, str] = {
    "claude": "the CLI and its tools see the login; a run is stopped at its budget by the CLI alone; "
    "a run that is killed counts as one of unknown cost",
    "codex": "the CLI sees the login, its tools do not; nothing stops a run at its budget but its deadline; "
    "what is cut off in the middle of an answer is not counted; runs go one at a time",
}
"""By backend, what a key behind the model proxy would enforce."""


def endpoints(name: str, own: Endpoint) -> Endpoints:
    """The endpoints of one backend by a login, said once in the log."""
    log.warning(
        "model_proxy_off",
        backend=name,
        reason="a subscription's login cannot be kept from the CLI",
        not_enforced=NOT_ENFORCED[name],
    )
    return Fixed(own) if own.file is None else LoginLease(own, own.file)
