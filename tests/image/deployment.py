"""The three services of the Compose file on one image, beside a GitHub on loopback."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import yaml
from deploy.conftest import AGENTS, DEPLOY
from project_pytest import ALONE

from image.building import Image
from image.container import Container, service
from image.waiting import until
from lab import target_project
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.demo import outcome
from lab.demo.setup import MAINTAINER, REPOSITORY
from lab.demo.stories import STORIES, scenario
from lab.github.server import Lab

STORY_SECONDS = 900
"""A story that is not merged by then is not merged."""

SECRETS = "/run/secrets"
"""The directory in which Docker puts secrets."""

PYTHON = "/opt/venv/share/workflow-engine/demo/env/bin/python"
"""The image's own interpreter with pytest, of the demonstration."""


@dataclass
class Deployment:
    """Agent -> its container, and what they work on."""

    lab: Lab
    containers: dict[str, Container]
    _approved: set[int] = field(default_factory=set)

    @contextmanager
    def running(self, *agents: str) -> Iterator[None]:
        """Run these agents, or all, while the block runs."""
        with ExitStack() as stack:
            for agent in agents or AGENTS:
                stack.enter_context(self.containers[agent].started())
            yield

    def story(self) -> None:
        """Write the demonstration's first story as the maintainer."""
        told = STORIES[0]
        self.lab.issue(REPOSITORY, told.title, told.body, author=MAINTAINER, labels=("story",))

    async def merged(self) -> None:
        """Approve the plan when it is there, and return when everything is merged and closed."""
        with anyio.move_on_after(STORY_SECONDS) as waiting:
            while not outcome.scene(self.lab).finished(1):
                ended = [agent for agent, one in self.containers.items() if not one.lives]
                assert (outcome.scene(self.lab).halted, ended) == ((), []), self.logs()
                self._approve()
                await anyio.sleep(0.25)
        assert not waiting.cancelled_caught, self.logs()

    async def at_work(self) -> None:
        """Approve the plan when it is there, and return when the worker is at work on a specification."""
        log = self.containers["worker"].log
        with anyio.move_on_after(STORY_SECONDS) as waiting:
            while '"event": "step"' not in log.read_text(encoding="utf-8", errors="replace"):
                self._approve()
                await anyio.sleep(0.25)
        assert not waiting.cancelled_caught, self.logs()

    def _approve(self) -> None:
        for number in outcome.awaiting_approval(self.lab) - self._approved:
            self.lab.comment(REPOSITORY, number, "/approve", author=MAINTAINER)
            self._approved.add(number)

    async def healthy(self, agent: str) -> None:
        """Return when the health check is content."""
        await until(lambda: self.containers[agent].healthy()[0], self.logs)

    def logs(self) -> str:
        """Return the end of each container's log."""
        return "\n".join(one.log.read_text(encoding="utf-8")[-2000:] for one in self.containers.values())


@asynccontextmanager
async def deployed(image: Image, place: Path, mode: str) -> AsyncIterator[Deployment]:
    """Yield a deployment in a sandbox mode; nothing is started yet."""
    async with Lab(place / "github") as lab:
        await lab.repository(
            REPOSITORY,
            target_project.files(),
            collaborators={ENGINE: "write", REVIEWER: "write"},
            check_command=f"{ALONE} {shlex.quote(sys.executable)} ci/check.py",
        )
        given = {"github-token": lab.token(ENGINE, PERMISSIONS[ENGINE]), "lock-key": secrets.token_hex(32)}
        given["reviewer-token"] = lab.token(REVIEWER, PERMISSIONS[REVIEWER])
        configuration = _configuration(lab.url, mode)
        containers = {}
        for agent in AGENTS:
            containers[agent] = _container(image, agent, place / f"{agent}-{place.name}"[-40:], mode)
            _furnish(containers[agent], given, configuration)
        yield Deployment(lab, containers)


def _container(image: Image, agent: str, place: Path, mode: str) -> Container:
    place.mkdir()
    told = service(agent, account=mode == "container")
    targets = {f"{SECRETS}/{name}": place / name for name in told["secrets"]}
    # Its directory and not the file: systemd-nspawn makes no mount point in a root that is read-only.
    configuration = Path(told["configs"][0]["target"])
    return Container(image, told, place, targets | {str(configuration.parent): place / "configuration"})


def _furnish(container: Container, given: dict[str, str], configuration: dict[str, object]) -> None:
    """Write the container's files; secrets belong to its user alone."""
    place = container.place / "configuration"
    place.mkdir(mode=0o755)
    (place / "repos.yml").write_text(yaml.safe_dump(configuration), encoding="utf-8")
    (place / "scenario.yml").write_text(scenario(STORIES[:1]), encoding="utf-8")
    for target, file in container.files.items():
        if target.startswith(SECRETS):
            file.touch(mode=0o600)
            file.write_text(given[file.name], encoding="ascii")
            container.give(file)


def _configuration(url: str, mode: str) -> dict[str, object]:
    """Return the Compose file's own configuration for this mode, with a GitHub and a coder that cost nothing."""
    told: dict[str, object] = yaml.safe_load((DEPLOY / "compose/repos.yml").read_text(encoding="utf-8"))
    repository = {
        **{"name": REPOSITORY, "poll_interval": 0.5, "llm_backend": "scripted", "approval": "comment"},
        **{"refactor": "off", "merge": "auto", "test_command": f"{PYTHON} -m pytest -q"},
    }
    told |= {"repositories": [repository], "sandbox": mode, "cooldown": 0}
    told |= {"work_dir": "/srv/work"} if mode == "container" else {}
    told["github"] = {**_section(told, "github"), "api_url": url, "write_interval_seconds": 0}
    told["lock"] = {**_section(told, "lock"), "settle": 0.2}
    told["llm"] = {"scenario": "/etc/workflow-engine/scenario.yml"}
    return told


def _section(told: dict[str, object], name: str) -> dict[str, object]:
    found = told[name]
    assert isinstance(found, dict)
    return found
