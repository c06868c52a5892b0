"""The host of a trial: the lab's repository, the tokens and configuration of each machine, and people's texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab import stub_project
from lab.__main__ import ENGINE, REVIEWER
from lab.github.repositories.ref_log import RefChange
from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord
from lab.host import Host

REPOSITORY, OWNER = "ada/greetings", "ada"

LOCK = {"timeout": 24, "self_fence": 18, "heartbeat": 5, "settle": 0.5}
"""Seconds; accepted because everything is on loopback."""

CAUGHT_UP_SECONDS = 5.0
"""Seconds by which replicas lag at most: less than the lock's time between two holders, as GitHub's do."""

TIMEOUT_SECONDS = float(LOCK["timeout"])


class TrialHost(Host):
    """One lab and the directory of everything that belongs to a trial."""

    @property
    def repository(self) -> RepositoryRecord:
        """Everything that GitHub knows."""
        return self.lab.at(REPOSITORY)

    def ref_changes(self) -> list[RefChange]:
        """Everything that moved refs there, in its order."""
        log = self.repository.bare.log_of_refs
        return [] if log is None else log.read()

    def config(self, machine: str) -> Path:
        """The configuration file of one machine, which has a state directory of its own."""
        repository = {"name": REPOSITORY, **stub_project.SETTINGS}
        return self.configured(machine, self.configuration(repository, state=machine, lock=LOCK))

    def tell(self, name: str) -> None:
        """Write a story as the owner, or a specification that is ready by hand: every other name."""
        by_hand = int(name[-3:]) % 2 == 1
        body = f"{name}.txt says hello." if by_hand else f"As {name} I want to be greeted."
        labels = ("status:ready",) if by_hand else ("story",)
        self.lab.issue(REPOSITORY, stub_project.title(name), body, author=OWNER, labels=labels)


def names(count: int) -> Sequence[str]:
    """Return the given number of names; none is a part of another."""
    return [f"guest_{number:03d}" for number in range(count)]


async def furnished(lab: Lab, root: Path, guests: Sequence[str]) -> TrialHost:
    """Create the project, the tokens, the key and the coder's script."""
    people = {ENGINE: "write", REVIEWER: "write"}
    await lab.repository(REPOSITORY, stub_project.FILES, collaborators=people, check_command=stub_project.CI)
    site = TrialHost(lab, root)
    site.sign_in()
    site.scenario.write_text(stub_project.scenario(*guests), encoding="utf-8")
    return site
