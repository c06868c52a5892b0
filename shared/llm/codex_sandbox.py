"""Whether Codex's own sandbox starts here: without it every tool of a call fails, and the call still ends well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shared.errors import Misconfigured
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.launch import Command, Launcher
from shared.llm.codex_arguments import permissions
from shared.llm.codex_login import NAME
from shared.llm.codex_login_lease import concealed
from shared.process import Patience

SECONDS = 30.0
"""How long starting nothing in the sandbox may take."""


async def tried(program: Path, launcher: Launcher, call: CallDirectory, login: Path | None) -> None:
    """Start nothing in the sandbox of an editing call, with what it denies its tools; raises `Misconfigured`."""
    argv = (str(program), "sandbox", *permissions((), _denied(call, login)), "--", "/bin/true")
    command = Command(argv, {"CODEX_HOME": str(call.home)}, call.empty, b"")
    ran = await launcher.run(command, call, Patience(SECONDS, SECONDS), lambda event: None)
    if ran.code != 0 or ran.cut is not None:
        said = ran.complaint.partition("\n")[0] or "it does not answer"
        raise Misconfigured(
            f"Codex ({program}) cannot start its sandbox here, so that none of its tools would work: "
            f"{said[:300]}. Allow user namespaces to this account; `workflow-engine doctor` names the setting."
        )


def _denied(call: CallDirectory, login: Path | None) -> Sequence[Path]:
    """As in a call by a login, with an empty file as its copy."""
    if login is None or not login.exists():
        return ()
    home = call.home / ".codex"
    home.mkdir(mode=0o700)
    (home / NAME).write_text("{}")
    return concealed(home, login)
