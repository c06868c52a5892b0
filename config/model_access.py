"""Reads from the environment with which key, or which login, coding backends reach their vendors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from config.credentials import MissingCredentials
from shared.errors import Misconfigured
from shared.llm import codex_login
from shared.llm.endpoint import Endpoint
from shared.llm.proxy.vendors import LOOPBACK

_KEY, _LOGIN, _URL = "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"

_OPENAI_URL = "OPENAI_BASE_URL"

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
    """OpenAI's endpoint: by a key, else by what `codex login` left, as Codex reads it; raises `MissingCredentials`.

    A ChatGPT login goes to ChatGPT alone: another address is obeyed on this machine only, else `Misconfigured`.
    """
    url = environment.get(_OPENAI_URL, "").strip().rstrip("/").removesuffix("/v1") or None
    for name in _OPENAI_KEYS:
        if token := environment.get(name, "").strip():
            return Endpoint(url, token)
    file = login_file(environment)
    login = codex_login.read(file)
    if login is None:
        raise MissingCredentials(
            f"The codex backend has no key: set the environment variable {_OPENAI_KEYS[0]}, "
            f"or run `codex login` for a ChatGPT subscription, which leaves a login in {file}."
        )
    if login.by_key:
        return Endpoint(url, login.key)
    if url is not None and urlsplit(url).hostname not in LOOPBACK:
        raise Misconfigured(
            f"{_OPENAI_URL} names another server than ChatGPT, to which the login in {file} is not sent: "
            f"set {_OPENAI_KEYS[0]} for that server, or take {_OPENAI_URL} away."
        )
    return Endpoint(url, login.access, login=True, file=file)


def login_file(environment: Mapping[str, str]) -> Path:
    """Where Codex keeps the login of this account."""
    home = environment.get("CODEX_HOME", "").strip()
    return (Path(home) if home else Path(environment.get("HOME", "").strip() or "/") / ".codex") / codex_login.NAME


def model_secrets(environment: Mapping[str, str]) -> list[str]:
    """The values that no log may show."""
    names = (_KEY, _LOGIN, *_OPENAI_KEYS)
    login = codex_login.read(login_file(environment)) or codex_login.Login()
    kept = (login.key, login.access, login.renewal)
    return [*(environment[name] for name in names if environment.get(name, "").strip()), *filter(None, kept)]
