"""The arguments of `codex exec` that keep a run bounded and apart from its repository (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

REQUEST_RETRIES = 4
"""For a server's error or a failed connection: about 3 seconds in all."""

STREAM_RETRIES = 0
"""With any, a 429 that asks for an hour is waited out in silence; the engine repeats what may pass itself."""

_SETTINGS = (
    'model_provider="engine"',
    f"model_providers.engine.request_max_retries={REQUEST_RETRIES}",
    f"model_providers.engine.stream_max_retries={STREAM_RETRIES}",
    "model_providers.engine.stream_idle_timeout_ms=300000",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    'web_search="disabled"',
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "allow_login_shell=false",
    'shell_environment_policy.inherit="core"',
    "shell_environment_policy.ignore_default_excludes=false",
)
"""No side traffic, no instructions of the repository, the given PATH and no secret for the tools."""

FIXED = (
    *(part for setting in _SETTINGS for part in ("-c", setting)),
    *("--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules", "--strict-config"),
)
"""What every call has."""


def provider(base_url: str, key_variable: str) -> Iterator[str]:
    """Where the model is; the built-in provider would first try other ways and read other variables."""
    table = {"name": "engine", "base_url": f"{base_url}/v1", "env_key": key_variable, "wire_api": "responses"}
    yield from ("-c", f"model_providers.engine={_table(table)}")


def permissions(protected: Sequence[str]) -> Iterator[str]:
    """The tree and temporary directories are writable but for `protected`; tests may open sockets."""
    inside = {".": "write", ".git": "read", **dict.fromkeys(protected, "read")}
    places = f'":root"="read",":workspace_roots"={_table(inside)},":tmpdir"="write",":slash_tmp"="write"'
    yield from ("-c", 'default_permissions="engine"', "-c", "permissions.engine.network={enabled=true}")
    yield from ("-c", f"permissions.engine.filesystem={{{places}}}")


def _table(values: Mapping[str, str]) -> str:
    """A TOML inline table."""
    return "{" + ",".join(f"{json.dumps(key)}={json.dumps(value)}" for key, value in values.items()) + "}"
