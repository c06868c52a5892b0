"""Reads from the environment with which key, or which login, coding backends reach their vendors."""

from __future__ import annotations

from collections.abc import Mapping

from config.credentials import MissingCredentials
from shared.llm.endpoint import Endpoint

_KEY, _LOGIN, _URL = "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"


def anthropic(environment: Mapping[str, str]) -> Endpoint:
    """Anthropic's endpoint: by a key, else by a subscription's token; raises `MissingCredentials`."""
    url = environment.get(_URL, "").strip().rstrip("/") or None
    for name in (_KEY, _LOGIN):
        if token := environment.get(name, "").strip():
            return Endpoint(url, token, login=name == _LOGIN)
    raise MissingCredentials(
        f"The claude backend has no key: set the environment variable {_KEY}, "
        f"or {_LOGIN} to the token that `claude setup-token` prints for a subscription."
    )


def model_secrets(environment: Mapping[str, str]) -> list[str]:
    """The values that no log may show."""
    return [environment[name] for name in (_KEY, _LOGIN) if environment.get(name, "").strip()]
