"""What one review is given: the change, what of it is new, the specification, the evidence, all read from git."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio.to_thread

from reviewer_agent.ports import Records, Source
from reviewer_agent.review import patch, public_names
from reviewer_agent.review.convergence import Earlier
from reviewer_agent.review.patch import Patch
from reviewer_agent.review.questions import Recorded
from shared.errors import Blocked, Gone
from shared.git.failures import NoSuchRef, TooMuchOutput
from shared.models import PullRequest
from shared.specification import read

CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md")
"""Instruction files; read from the base commit only, so that no change can instruct its own reviewer."""

CONVENTIONS_CHARS = 8000

MODULES = 200
"""So many changed files are looked into for names that are gone."""


class NothingToReview(Blocked):
    """The pull request changes nothing: close it, or push the change."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change is judged against: an issue, or the pull request's own description, and what that claims."""

    title: str
    body: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class ReviewInput:
    """Everything about one head. `since` is what changed after the round before, None when there was none.

    `removed` are public names that are gone, as `path: name`; `recorded` is what the engine itself knows of its tests.
    """

    subject: Subject
    pull_request: PullRequest
    change: Patch
    earlier: Earlier
    since: Patch | None = None
    conventions: str = ""
    recorded: Recorded = field(default_factory=Recorded)
    removed: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[tuple[str, str], ...]:
        """The acceptance criteria, id and text."""
        return tuple((criterion.id, criterion.text) for criterion in read(self.subject.body).criteria)


class ReviewInputs:
    """Reads a change from the repository's copy on this machine."""

    def __init__(self, source: Source, records: Records, diff_bytes: int) -> None:
        self.source = source
        self._records = records
        self._diff_bytes = diff_bytes

    async def bring(self, pull_request: PullRequest) -> str:
        """Have the head and the base here; returns the commit of the base as the server has it now."""
        await self.source.ensure()
        base = await self.source.refresh(f"refs/heads/{pull_request.base_branch}")
        if base is None:
            raise Blocked(f"The base branch '{pull_request.base_branch}' does not exist any more.")
        if await self.source.sha(pull_request.head_sha) is None:
            try:
                await self.source.fetch(pull_request.head_sha)
            except NoSuchRef as error:
                raise Gone(f"The commit {pull_request.head_sha[:12]} is not in the repository any more.") from error
        return base

    async def gather(self, pull_request: PullRequest, subject: Subject, earlier: Earlier) -> ReviewInput:
        """Everything that is judged. Raises `NothingToReview`, `Blocked`, `Gone` and `Transient`."""
        base, head = await self.bring(pull_request), pull_request.head_sha
        diff = await self._diff(base, head)
        if not diff.strip():
            raise NothingToReview
        change = patch.read(diff, self._diff_bytes)
        return ReviewInput(
            subject,
            pull_request,
            change,
            earlier,
            since=await self._since(earlier.sha, head),
            conventions=await self._conventions(base),
            recorded=await self._records.of(pull_request, base),
            removed=await self._removed(base, head, change),
        )

    async def is_same(self, material: ReviewInput, sha: str) -> bool:
        """Whether the head changes the same as the older commit `sha` did, on whatever base. Raises `Transient`."""
        pull_request = material.pull_request
        base = await self.bring(pull_request)
        try:
            if await self.source.sha(sha) is None:
                await self.source.fetch(sha)
        except NoSuchRef:
            return False
        return patch.is_same(await self._diff(base, sha), await self._diff(base, pull_request.head_sha))

    async def _diff(self, base: str, head: str) -> str:
        try:
            return await self.source.diff(base, head)
        except TooMuchOutput as error:
            raise Blocked("The change is too large to be reviewed by the engine: a person reviews it.") from error

    async def _since(self, judged: str, head: str) -> Patch | None:
        """What is new; None as well when the commit that was judged is gone: then nobody knows what is."""
        if not judged or judged == head:
            return None
        try:
            if await self.source.sha(judged) is None:
                await self.source.fetch(judged)
        except NoSuchRef:
            return None
        return patch.read(await self._diff(judged, head), self._diff_bytes)

    async def _conventions(self, base: str) -> str:
        found = [await self.source.show(base, name) for name in CONVENTIONS]
        return "\n\n".join(text.decode("utf-8", "replace") for text in found if text)[:CONVENTIONS_CHARS]

    async def _removed(self, base: str, head: str, change: Patch) -> tuple[str, ...]:
        """Compared with the base as it is now: what somebody else has taken away there is not this change's."""
        gone: list[str] = []
        for path in sorted(filter(public_names.is_public, change.lessened))[:MODULES]:
            before, after = await self._text(base, path), await self._text(head, path)
            names = await anyio.to_thread.run_sync(public_names.removed, path, before, after)
            gone += [f"{path}: {name}" for name in names]
        return tuple(gone)

    async def _text(self, commit: str, path: str) -> str:
        return (await self.source.show(commit, path) or b"").decode("utf-8", "replace")
