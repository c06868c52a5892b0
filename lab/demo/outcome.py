"""Outcome of a demonstration: the merged pull requests, the proof, and whether the merged tree's tests pass."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.demo.environment import python_in
from lab.demo.setup import REPOSITORY, Stage
from lab.github.server import Lab
from shared import process
from shared.text import one_line
from worker_agent.verify.visible import table_rows

TROUBLE_CHARS = 400
"""Characters of an agent's last trouble that are shown."""

_TESTS = re.compile(r"^## Tests\n(.*?)(?=^---|\Z)", re.MULTILINE | re.DOTALL)
"""The part of a pull request's body that says what its tests prove."""


_LEADS_ON = re.compile(r"(?<=\.) [^.]*:\s*$")
"""A last sentence that introduces the table, which the audience is shown by itself."""


@dataclass(frozen=True, slots=True)
class Merged:
    """One merged pull request, as the audience is shown it."""

    number: int
    title: str
    diff: str
    proofs: tuple[tuple[str, str, str], ...]
    figures: tuple[str, ...]


def last_troubles(logs: Iterable[Path]) -> tuple[str, ...]:
    """The last warning or error of each agent whose log has one, one sentence each."""
    return tuple(told for log in sorted(logs) if (told := _last_trouble(log)))


def _last_trouble(log: Path) -> str:
    for line in reversed(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and event.get("level") in {"warning", "error"}:
                about = event.get("error") or event.get("reason") or ""
                return one_line(f"{log.stem}: {event.get('event')}: {about}".removesuffix(": "), TROUBLE_CHARS)
    return ""


@dataclass(frozen=True, slots=True)
class Scene:
    """State of the demonstration: numbers of stories, specifications and merged pull requests, and what is open."""

    stories_open: int
    specifications_open: int
    specifications: int
    merged: tuple[int, ...]
    halted: tuple[int, ...]

    def finished(self, stories: int) -> bool:
        """Return whether everything is closed, and each specification has one merged pull request."""
        done = not self.stories_open and not self.specifications_open
        return done and self.specifications >= stories and len(self.merged) == self.specifications


def scene(lab: Lab) -> Scene:
    """Return the state that GitHub shows now."""
    repository = lab.at(REPOSITORY)
    threads = repository.issues.records.values()
    stories = [t for t in threads if "story" in t.labels]
    specifications = [t for t in threads if not t.is_pull and "story" not in t.labels]
    return Scene(
        stories_open=sum(t.open for t in stories),
        specifications_open=sum(t.open for t in specifications),
        specifications=len(specifications),
        merged=tuple(p.number for p in repository.pulls.records.values() if p.merged_at is not None),
        halted=tuple(t.number for t in threads if {"status:failed", "status:ci-failed"} & set(t.labels)),
    )


async def merged(lab: Lab, number: int) -> Merged:
    """One merged pull request with its diff and its evidence."""
    repository = lab.at(REPOSITORY)
    thread, pull = repository.issues.require(number), repository.pulls.require(number)
    proofs, figures = read_proof((thread.body or "").replace("\r\n", "\n"))
    diff = await repository.bare.diff(pull.base_sha, pull.head_sha)
    return Merged(number, thread.title, diff, proofs, figures)


def read_proof(body: str) -> tuple[tuple[tuple[str, str, str], ...], tuple[str, ...]]:
    """Return each test of a pull request's table with its results before and after, and the sentences around."""
    found = _TESTS.search(body)
    lines = found[1].splitlines() if found else []
    proofs = tuple((test.strip("`"), before.replace("`", ""), after) for test, before, after in table_rows(body))
    told = (line.removeprefix("- ").replace("**", "") for line in lines if line.startswith(("- ", "**")))
    return proofs, tuple(_LEADS_ON.sub("", line) for line in told)


async def tests_pass(lab: Lab, stage: Stage, variables: Mapping[str, str]) -> process.Finished:
    """Run the project's own check on a fresh checkout of the merged default branch."""
    bare = lab.at(REPOSITORY).bare
    head = await bare.sha(bare.default_branch)
    with tempfile.TemporaryDirectory(dir=stage.root) as place:
        await bare.checkout(str(head), Path(place))
        argv = (str(python_in(stage.environment)), "-m", "pytest", "-q")
        return await process.run(argv, cwd=Path(place), env=variables)


def awaiting_approval(lab: Lab) -> set[int]:
    """The stories whose plan waits for a person."""
    threads = lab.at(REPOSITORY).issues.records.values()
    return {thread.number for thread in threads if "status:awaiting-approval" in thread.labels}


def last_word(lab: Lab, number: int) -> str:
    """Return the engine's last sentences in its status comment on a thread, without marks and data for programs."""
    comments = [
        comment.body for comment in lab.at(REPOSITORY).comments.of(number) if "<!-- engine-status/" in comment.body
    ]
    said = comments[-1].partition("<details>")[0] if comments else "It says nothing: see the agents' logs."
    return "\n".join(line for line in said.splitlines() if not line.startswith("<!--")).strip()
