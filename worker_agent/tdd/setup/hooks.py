"""Commands of a repository's maintainers around a workspace and a coder's runs in it, confined as the set-up is.

They run in the tree that the coder edits, with network and without a secret. Their changes there count as the coder's
change and are judged with it. A failing `after_create` or `before_run` hands the item to a person before anything is
paid; the others are only reported in the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import structlog
from anyio import to_thread

from shared.errors import Blocked, Misconfigured
from shared.filesystem import directories
from shared.sandbox.confinement import Confinement
from worker_agent.tdd.runners import command_line
from worker_agent.tdd.setup.confined_command import ConfinedCommand

log = structlog.get_logger()

HOOKS = "hooks"
"""The directory of a workspace for hooks; below it, `data` is theirs, the rest is the daemon's."""

DATA = "WORKFLOW_ENGINE_HOOK_DATA"
"""The variable with the directory that all hooks of an item share, until its workspace is removed."""


class Hook(StrEnum):
    """The time at which a command runs; the values are the configuration's keys."""

    AFTER_CREATE = "after_create"
    BEFORE_RUN = "before_run"
    AFTER_RUN = "after_run"
    BEFORE_REMOVE = "before_remove"


class HookFailed(Blocked):
    """A hook that a run depends on has failed."""

    category = Misconfigured.category

    def __init__(self, hook: Hook, reason: str) -> None:
        super().__init__(f"The hook `{hook}` failed ({reason}).")
        self.advice = f"Correct `hooks.{hook}` in the agent's configuration, or what it runs;"


class Hooks:
    """Runs the hooks of one repository in workspaces."""

    def __init__(
        self,
        repository: str,
        commands: Mapping[Hook, str],
        seconds: float,
        environment: Mapping[str, str],
        confinement: Confinement,
    ) -> None:
        """`commands` has a command line for each hook that is configured; each may take `seconds`.

        `environment` is visible to hooks as to a set-up: a PATH, proxies, the addresses of package registries.
        """
        self._repository = repository
        self._commands = commands
        self._seconds = seconds
        self._environment = dict(environment)
        self._confinement = confinement

    @property
    def follow(self) -> bool:
        """True if a command runs after each run of a coder, which may change the coder's result."""
        return bool(self._command(Hook.AFTER_RUN))

    async def before(self, root: Path, tree: Path, number: int) -> None:
        """Run `after_create` once for a workspace `root`, then `before_run`. Raises `HookFailed`, `Misconfigured`."""
        if not self._commands:
            return
        place, about = root / HOOKS, {"repository": self._repository, "issue": number}
        created = place / "created"
        if not created.is_file():
            await self._run_or_fail(Hook.AFTER_CREATE, place, tree, about)
            await to_thread.run_sync(_remember, place, {**about, "command": self._command(Hook.BEFORE_REMOVE)})
            created.touch()
        await self._run_or_fail(Hook.BEFORE_RUN, place, tree, about)

    async def after(self, root: Path, tree: Path, number: int) -> None:
        """Run `after_run`, however the run ended; a failure is only logged."""
        about = {"repository": self._repository, "issue": number}
        await self._run(Hook.AFTER_RUN, self._command(Hook.AFTER_RUN), root / HOOKS, tree, about)

    async def leave(self, root: Path) -> None:
        """Run the `before_remove` of any repository's workspace, as configured when the workspace was made.

        A failure is only logged.
        """
        left = await to_thread.run_sync(_recall, root / HOOKS)
        if left is not None:
            inside = root / "tree" if (root / "tree").is_dir() else root / HOOKS / "data"
            await self._run(Hook.BEFORE_REMOVE, left.pop("command"), root / HOOKS, inside, left)

    def _command(self, hook: Hook) -> str:
        return self._commands.get(hook, "")

    async def _run_or_fail(self, hook: Hook, place: Path, tree: Path, about: Mapping[str, Any]) -> None:
        failure = await self._run(hook, self._command(hook), place, tree, about)
        if failure:
            raise HookFailed(hook, failure)

    async def _run(self, hook: Hook, command: str, place: Path, inside: Path, about: Mapping[str, Any]) -> str:
        """Run a hook; return its failure with the end of its output, empty if it succeeded or is not configured."""
        if not command:
            return ""
        argv = command_line.split(command, key=f"hooks.{hook}")
        data, home = place / "data", place / "home"
        await to_thread.run_sync(_prepare, data, home, place / f"{hook}.log")
        known = {
            **self._environment,
            "HOME": str(home),
            "TMPDIR": str(self._confinement.temporary(home)),
            DATA: str(data),
            "WORKFLOW_ENGINE_HOOK": str(hook),
            "WORKFLOW_ENGINE_REPOSITORY": str(about["repository"]),
            "WORKFLOW_ENGINE_ISSUE": str(about["issue"]),
        }
        writable = tuple(dict.fromkeys((inside, data, home)))
        confined = ConfinedCommand(argv, inside, writable, known, place / f"{hook}.log", self._seconds)
        log.info("hook_started", hook=str(hook), number=about["issue"])
        try:
            failure = await confined.run(self._confinement)
        except OSError as error:
            failure = f"it cannot be started: {error.strerror}"
        said = await to_thread.run_sync(confined.tail)
        tell, outcome = (log.warning, "failed") if failure else (log.info, "completed")
        tell("hook_ended", hook=str(hook), number=about["issue"], outcome=outcome, output=said)
        return f"{failure}):\n{said}\n(all of it: {confined.log}" if failure and said else failure


def _prepare(data: Path, home: Path, log: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)
    directories.renew(home)
    log.unlink(missing_ok=True)


def _remember(place: Path, about: Mapping[str, Any]) -> None:
    """Store the command for the workspace's removal, whatever removes it and however it is configured then."""
    place.mkdir(parents=True, exist_ok=True)
    if about["command"]:
        (place / "before_remove.json").write_text(json.dumps(about), encoding="utf-8")


def _recall(place: Path) -> dict[str, Any] | None:
    path = place / "before_remove.json"
    if not path.is_file() or path.is_symlink():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {"command": str(told["command"]), "repository": str(told["repository"]), "issue": int(told["issue"])}
    except (ValueError, TypeError, KeyError) as error:
        log.warning("hook_unknown", outcome="skipped", path=str(path), error=str(error))
        return None
