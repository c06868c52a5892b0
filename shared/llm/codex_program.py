"""The native program of Codex, and the arguments that keep a run of it limited and isolated from its repository.

Among them are those of its own sandbox: if that does not start, every tool of a call fails, and the call still
ends well, so it is tried first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

from shared.errors import Misconfigured
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.launch import Command, Launcher
from shared.llm.codex_login import NAME, concealed
from shared.process import Patience

REQUEST_RETRIES = 4
"""Retries after a server's error or a failed connection: about 3 seconds in all."""

STREAM_RETRIES = 0
"""With any retries, Codex waits in silence for a 429 that asks for an hour; the engine itself retries."""

CHATGPT = "https://chatgpt.com"

_SETTINGS = (
    'model_provider="engine"',
    f"model_providers.engine.request_max_retries={REQUEST_RETRIES}",
    f"model_providers.engine.stream_max_retries={STREAM_RETRIES}",
    "model_providers.engine.stream_idle_timeout_ms=300000",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
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
"""Arguments of every call."""


def provider(base_url: str, key_variable: str) -> Iterator[str]:
    """Yield the arguments for the model's server; the built-in provider would try other ways and variables first."""
    table = {"name": "engine", "base_url": f"{base_url}/v1", "env_key": key_variable, "wire_api": "responses"}
    yield from ("-c", f"model_providers.engine={_table(table)}")


def signed_in(base_url: str | None) -> Iterator[str]:
    """Yield those for a ChatGPT login, which Codex finds in its home; `base_url` replaces https://chatgpt.com."""
    backend = f"{base_url or CHATGPT}/backend-api"
    known = f"{_table({'name': 'engine', 'base_url': f'{backend}/codex', 'wire_api': 'responses'})[:-1]}"
    yield from ("-c", f"model_providers.engine={known},requires_openai_auth=true}}")
    yield from ("-c", f"chatgpt_base_url={json.dumps(backend)}", "-c", 'cli_auth_credentials_store="file"')


def searching(tools: Set[str]) -> Iterator[str]:
    """Yield the setting for the vendor's web search: enabled only if the proxy lets it through."""
    yield from ("-c", f"web_search={json.dumps('live' if 'web_search' in tools else 'disabled')}")


def permissions(protected: Sequence[str], unreadable: Sequence[Path] = ()) -> Iterator[str]:
    """Yield permissions of an editing call: tree, except `protected`, and temporary files writable; sockets allowed."""
    inside = {".": "write", ".git": "read", **dict.fromkeys(protected, "read")}
    places = f'":root"="read",":workspace_roots"={_table(inside)},":tmpdir"="write",":slash_tmp"="write"'
    yield from _profile(places, unreadable, network=True)


def reading(unreadable: Sequence[Path] = ()) -> Iterator[str]:
    """Yield permissions of a reading call: nothing writable, no network, and `unreadable` files not readable."""
    if not unreadable:
        yield from ("-s", "read-only")
        return
    yield from _profile('":root"="read"', unreadable, network=False)


def _profile(places: str, unreadable: Sequence[Path], *, network: bool) -> Iterator[str]:
    denied = "".join(f',{json.dumps(str(path))}="deny"' for path in unreadable)
    yield from ("-c", 'default_permissions="engine"')
    yield from ("-c", f"permissions.engine.network={{enabled={json.dumps(network)}}}")
    yield from ("-c", f"permissions.engine.filesystem={{{places}{denied}}}")


def _table(values: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}={json.dumps(value)}" for key, value in values.items()) + "}"


def native(program: Path) -> Path:
    """Return the native program: npm's `codex` is a script that passes no kill on. Raise `Misconfigured` if none."""
    if program.suffix != ".js":
        return program
    script = program.parents[1]
    for place in (script.parent, script / "node_modules" / "@openai"):
        if found := sorted(place.glob("codex-*/vendor/*/bin/codex")):
            return found[0]
    raise Misconfigured(f"{program} (codex_cli) lacks its platform's package: run `workflow-engine install-cli codex`.")


def package(program: Path) -> tuple[Path, ...]:
    """Return the directory with the helpers that the program starts, if it came as a package."""
    directory = program.parents[1]
    return (directory,) if (directory / "codex-package.json").is_file() else ()


SECONDS = 30.0
"""Timeout, in seconds, for starting `true` in the sandbox."""


async def sandbox_tried(program: Path, launcher: Launcher, call: CallDirectory, login: Path | None) -> None:
    """Start `true` in the sandbox of an editing call, with its denied files; raise `Misconfigured` if that fails."""
    argv = (str(program), "sandbox", *permissions((), _denied_files(call, login)), "--", "/bin/true")
    command = Command(argv, {"CODEX_HOME": str(call.home)}, call.empty, b"")
    ran = await launcher.run(command, call, Patience(SECONDS, SECONDS), lambda event: None)
    if ran.code != 0 or ran.cut is not None:
        said = ran.complaint.partition("\n")[0] or "it does not answer"
        raise Misconfigured(
            f"Codex ({program}) cannot start its sandbox here, so that none of its tools would work: "
            f"{said[:300]}. Allow user namespaces to this account; `workflow-engine doctor` names the setting."
        )


def _denied_files(call: CallDirectory, login: Path | None) -> Sequence[Path]:
    """Return the denied files of a call by a login, with an empty file as the login's copy."""
    if login is None or not login.exists():
        return ()
    home = call.home / ".codex"
    home.mkdir(mode=0o700)
    (home / NAME).write_text("{}")
    return concealed(home, login)
