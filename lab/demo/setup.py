"""Set-up of the demonstration: a lab on loopback, its project, its people, and the configuration of the agents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import target_project
from lab.__main__ import ENGINE, REVIEWER
from lab.demo.environment import python_in
from lab.demo.stories import Story, scenario
from lab.github.server import Lab
from lab.host import Host

REPOSITORY = "ada/directory"
MAINTAINER = "ada"


@dataclass(frozen=True, slots=True)
class Stage:
    """Place of a demonstration: its directory, coder, tests and budget."""

    root: Path
    environment: Path
    backend: str = "scripted"
    program: Path | None = None
    own: bool = False
    """True if the demonstration works on a person's own repository."""
    test_command: str | None = None
    """Command for the tests of that repository; None means detected."""
    budget_usd: float = 10.0
    """Cost limit of all runs together."""
    paid: bool = False
    """True if runs cost real money; those of a scripted model, whatever its price, do not."""

    @property
    def config(self) -> Path:
        """The agents' configuration file."""
        return self.root / "config.yml"

    def log(self, agent: str) -> Path:
        """Return the file with one agent process's output."""
        return self.root / f"{agent}.log"


async def furnish(lab: Lab, stage: Stage, stories: Sequence[Story]) -> None:
    """Create the project with its CI, the tokens, the key, the coder's scenario and the configuration."""
    await lab.repository(
        REPOSITORY,
        {"README.md": "A copy is on its way.\n"} if stage.own else target_project.files(),
        collaborators={ENGINE: "write", REVIEWER: "write"},
        check_command=None if stage.own else shlex.join((str(python_in(stage.environment)), "ci/check.py")),
    )
    host = Host(lab, stage.root)
    host.sign_in()
    host.scenario.write_text(scenario(stories), encoding="utf-8")
    host.configured("config", _configuration(host, stage))


def _configuration(host: Host, stage: Stage) -> dict[str, object]:
    """Return a fast configuration that merges by itself, which is accepted only because everything is on loopback."""
    configuration = host.configuration(_repository(stage))
    if stage.program is not None:
        whole = stage.budget_usd
        configuration[f"{stage.backend}_cli"] = str(stage.program)
        budgets = {"run": min(5.0, whole), "issue": whole, "day": whole, "week": whole}
        configuration["budgets"] = budgets if stage.paid else budgets | {"unknown_run": 0.01}
    return configuration


def _repository(stage: Stage) -> dict[str, object]:
    settings: dict[str, object] = {
        "name": REPOSITORY,
        "poll_interval": 0.5,
        "llm_backend": stage.backend,
        "approval": "comment",
        "refactor": "off",
        "merge": "auto",
    }
    if not stage.own:
        return settings | {"test_command": shlex.join((str(python_in(stage.environment)), "-m", "pytest", "-q"))}
    if stage.test_command is not None:
        settings["test_command"] = stage.test_command
    return settings | {"ci": {"none_is_green": True, "timeout": 2}}
