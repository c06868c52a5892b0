"""Reads from the environment with which key, or which login, coding backends reach their vendors."""

from __future__ import annotations

from collections.abc import Mapping

from config.credentials import MissingCredentials
from shared.llm.endpoint import Endpoint

_KEY, _LOGIN, _URL = "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"

_OPENAI_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")


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


def openai(environment: Mapping[str, str]) -> Endpoint:
    """OpenAI's endpoint, by a key; raises `MissingCredentials`."""
    url = environment.get("OPENAI_BASE_URL", "").strip().rstrip("/").removesuffix("/v1") or None
    for name in _OPENAI_KEYS:
        if token := environment.get(name, "").strip():
            return Endpoint(url, token)
    raise MissingCredentials(
        f"The codex backend has no key: set the environment variable {_OPENAI_KEYS[0]}. "
        f"A ChatGPT login (`codex login`) is not used; docs/backends.md says why."
    )


def model_secrets(environment: Mapping[str, str]) -> list[str]:
    """The values that no log may show."""
    names = (_KEY, _LOGIN, *_OPENAI_KEYS)
    return [environment[name] for name in names if environment.get(name, "").strip()]
