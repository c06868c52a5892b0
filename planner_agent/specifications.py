"""The specification issues of a plan: each created once, adopted if it exists, watched until all are closed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from planner_agent.overlap import blockers, elsewhere
from planner_agent.plan import Plan, PlannedSpecification
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from shared.errors import Gone
from shared.github.at_most_once import making
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.models import Issue
from shared.newest import Newest
from shared.scheduling.order import urgency
from shared.specification import LINKED, Criterion, Specification, Trailer, read, write
from shared.text import hosts, neutralise, one_line
from shared.text.comment_signatures import Keyring
from shared.workflow import Event, Stage, Track, move

_UNDER_WAY = frozenset({Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING})
"""The stages of a specification that will be merged unless something happens."""

TITLE_LIMIT = 220
"""GitHub refuses titles above 256 characters; making one harmless adds a few."""


@dataclass(frozen=True, slots=True)
class Created:
    """One specification issue of a plan; `key` is `<story>-<number in the plan>`.

    `behind` are specifications of other stories that name the same files.
    """

    key: str
    number: int
    title: str
    behind: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _FirstPlan:
    """The mark that nothing can have been created for the story before."""


class Specifications:
    """The specification issues of one repository's stories."""

    def __init__(self, forge: Forge, keys: Keyring, policy: Policy) -> None:
        self._forge = forge
        self._keys = keys
        self._policy = policy
        self._listed: Newest[tuple[int, int], Mapping[str, int]] = Newest()

    def expect_none(self, held: Held) -> None:
        """Note that this lease approved the first plan that its story ever had: nothing can have been created from it.

        Valid for one try to create the specifications.
        """
        held.memory.keep(_FirstPlan())

    async def create(self, held: Held, story: Issue, plan: Plan, sha: str) -> tuple[Created, ...]:
        """Return every specification issue of `plan`, whose hash is `sha`; create those that no earlier try has made.

        Raises `UnknownOutcome` if it is not known whether one was created: the next try looks first. Raises
        `NotShown` if one may have been created that lists lack yet.
        """
        existing = {} if held.memory.take(_FirstPlan) else await self._existing(story, sha)
        labels = [
            self._policy.names.of(move(Track.SPECIFICATION, Stage.NEW, Event.CREATED).to),
            *self._handed_on(story),
        ]
        under_way = await self._under_way(story)
        created: dict[str, Created] = {}
        for index, planned in plan.ordered:
            key = f"{story.number}-{index}"
            title = neutralise(one_line(planned.title, TITLE_LIMIT))
            number, behind = existing.get(key), elsewhere(planned, under_way)
            if number is None:
                waits_for = (*(created[other].number for other in blockers(plan, planned)), *behind)
                specification = specified(planned, story.number, waits_for, plan.assumptions)
                links = LINKED | hosts(story.body)
                body = write(specification, keys=self._keys, parent=story.number, key=key, plan_sha=sha, links=links)
                async with making(held, creation_name(key, sha)):
                    number = (await self._forge.issues.create(title, body, labels, held)).number
            created[planned.key] = Created(key, number, title, behind)
        self._listed[story.number, held.fence.attempt] = {one.key: one.number for one in created.values()}
        return tuple(created.values())

    def _handed_on(self, story: Issue) -> list[str]:
        """Return the labels of a story that hold for its parts: its urgency, and that the engine may take it."""
        known = {label.casefold() for label in (*self._policy.priorities, *self._policy.include)}
        return sorted(label for label in story.labels if label.casefold() in known)

    async def closed(self, story: Issue, fence: Fence) -> bool:
        """Return whether the newest plan has specifications and each of them, read singly, is closed or gone.

        Raises `NotShown` for one that a replica may not know yet.
        """
        numbers = (await self.numbers(story, fence.attempt)).values()
        for number in numbers:
            if await self._is_open(number, fence.at):
                return False
        return bool(numbers)

    async def numbers(self, story: Issue, revision: int) -> Mapping[str, int]:
        """Return key -> issue number: as the status comment lists them, else by the marks of the issues themselves.

        The issues made from one plan do not change, so they are read once.
        """
        known = self._listed.get((story.number, revision))
        if known:
            return known
        listed = (await self._forge.status.data(story.number)).get("specifications")
        if isinstance(listed, dict) and listed:
            found = {str(key): int(number) for key, number in listed.items()}
            self._listed[story.number, revision] = found
            return found
        return await self._existing(story)

    async def _existing(self, story: Issue, sha: str = "") -> dict[str, int]:
        found: dict[str, int] = {}
        for issue in await self._forge.issues.created_by(self._policy.account.login, story.created_at):
            trailer = None if issue.is_pull_request else read(issue.body).trailer
            if trailer is not None and _belongs(trailer, story, sha):
                found.setdefault(trailer.key, issue.number)
        return found

    async def _under_way(self, story: Issue) -> dict[int, Specification]:
        """Return specifications of other stories, or by people, that are not merged yet, nor given up to a person."""
        found: dict[int, Specification] = {}
        for number, listed in self._forge.inbox.known.items():
            if not self._is_under_way(listed) or self._comes_later(listed, story):
                continue
            with suppress(Gone):
                issue = await self._forge.issues.named(number, listed.created_at)  # lists lack most of its text
                specification = read(issue.body)
                if self._is_under_way(issue) and specification.part_of != story.number:
                    found[number] = specification
        return found

    def _comes_later(self, issue: Issue, story: Issue) -> bool:
        """Return whether it is not begun and less urgent: the worker lets it wait for the parts of `story`."""
        if self._policy.names.read(issue.labels).stages != {Stage.READY}:
            return False
        return urgency(issue, self._policy.priorities).rank > urgency(story, self._policy.priorities).rank

    def _is_under_way(self, issue: Issue) -> bool:
        labels = self._policy.names.read(issue.labels)
        return issue.open and not issue.is_pull_request and not labels.story and bool(labels.stages & _UNDER_WAY)

    async def _is_open(self, number: int, named_at: datetime) -> bool:
        try:
            return (await self._forge.issues.named(number, named_at)).open
        except Gone:
            return False


def creation_name(key: str, sha: str) -> str:
    """Return the name in the fence of a specification that is being made: `key`, of the plan with the hash `sha`."""
    return f"specification-{key}-{sha[:12]}"


def specified(
    planned: PlannedSpecification, story: int, waits_for: tuple[int, ...], assumptions: tuple[str, ...] = ()
) -> Specification:
    """Return one planned specification as the value that an issue's body is written from.

    The assumptions of its plan stand at the end of the goal, where whoever builds it reads them.
    """
    assumed = "\n".join(["", "", "Assumed, because the story does not say:", "", *(f"- {one}" for one in assumptions)])
    return Specification(
        goal=planned.goal + assumed if assumptions else planned.goal,
        criteria=tuple(Criterion(f"AC{number}", text) for number, text in enumerate(planned.criteria, 1)),
        files=planned.files,
        may_change=planned.may_change,
        out_of_scope=planned.out_of_scope,
        depends_on=waits_for,
        part_of=story,
        kind=planned.kind,
        size=planned.size,
    )


def _belongs(trailer: Trailer, story: Issue, sha: str) -> bool:
    return trailer.parent == story.number and (not sha or sha.startswith(trailer.plan))
