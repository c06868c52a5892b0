"""The git side of an item: its workspace, its phase commits with their notes, and its history.

Nothing here decides anything and nothing here runs code that a model wrote. Each lease records its work branch's head
as it fetched or pushed it itself, whatever others fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import anyio
import structlog

from shared.errors import EngineError, Transient
from shared.git import objects
from shared.git.command import Identity
from shared.git.disk import Disk
from shared.git.failures import PushRefused
from shared.git.mirror import Mirror
from shared.git.names import notes_ref, workspace_path
from shared.git.notes import CommitKind, Note, Notes, read, write
from shared.git.patch_policy import PatchPolicy, PatchRefused
from shared.git.publisher import Publisher, keep
from shared.git.workspace import Workspace
from shared.github.base_branch import BaseBranch
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.port import RefUpdate
from shared.process import CommandFailed
from shared.text.comment_signatures import Keyring
from shared.workflow import Stage
from worker_agent import comments
from worker_agent.branch.history import History
from worker_agent.policy import patch_policy_of
from worker_agent.tdd.runners.runner import RUNNER_FILES
from worker_agent.work_context import WorkContext

log = structlog.get_logger()

RUNNER_FILES_READ = 200
"""The most runner files that are read in a repository with many packages; the outermost first."""

RESCUE_SECONDS = 10.0
"""Seconds for saving the patch of a run that was cut off; a stop by signal has 30 seconds in all."""


@dataclass(frozen=True, slots=True)
class Places:
    """Directories of one repository's work on this machine."""

    full_name: str
    workspaces: Path
    kept: Path


@dataclass(frozen=True, slots=True)
class PhaseCommit:
    """A finished phase, ready to be recorded: the tree made on top of `parent`, and its note.

    `merged` is the commit that it merges; then `since` is the tree that git made of both, and only what differs from
    that is the engine's.
    """

    tree: str
    parent: str
    subject: str
    note: Note
    merged: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class _KnownHead:
    """The head of a branch as one lease last saw it; None when there was none."""

    nonce: str
    tip: str | None


class PhaseCommits:
    """One repository's mirror and the workspaces of its issues."""

    def __init__(
        self, mirror: Mirror, identity: Identity, publisher: Publisher, places: Places, keys: Keyring, disk: Disk
    ) -> None:
        self.mirror = mirror
        self.history = History(mirror)
        self._identity = identity
        self._publisher = publisher
        self._places = places
        self.keys = keys
        self._disk = disk
        self._heads: dict[int, _KnownHead] = {}
        """By issue. Others fetch into the mirror at any time: a push that expected what they brought would pass."""

    async def tidy(self, numbers: Iterable[int]) -> None:
        """Clean up the disk if it is time; the workspaces of the items `numbers` are in use."""
        numbers = frozenset(numbers)
        self._heads = {number: known for number, known in self._heads.items() if number in numbers}
        busy = {workspace_path(self._places.workspaces, self._places.full_name, number) for number in numbers}
        await self._disk.sweep(busy)

    async def base(self, branch: BaseBranch, fence: Fence) -> str:
        """Return the head of the base branch as the server has it now; also fetch everything that `open` needs.

        Errors as `BaseBranch.head`.
        """
        await self.mirror.ensure()
        await self.renew(fence)
        return await branch.head(self.mirror.tip)

    async def is_branch_free(self, fence: Fence, base: str) -> bool:
        """Return whether the work branch does not exist yet, or holds no commit that `base` lacks."""
        tip = await self.tip(fence)
        return tip is None or await self.mirror.is_ancestor(tip, base)

    async def open(self, fence: Fence) -> Workspace:
        """Return the issue's workspace, with its phase commits so far, whichever machine made them."""
        await self.mirror.ensure()
        root = workspace_path(self._places.workspaces, self._places.full_name, fence.key.number)
        if fence.work_head and not await self.mirror.obtain(fence.work_head, fence.key.ref):
            await self.renew(fence)  # once it is green, it stands on its branch alone
        if self._known_head(fence) is None:
            await self.renew(fence)
        ours, notes = fence.work_head or "", _notes_ref(fence)
        return await Workspace.open(root, self.mirror, self._identity, commit=ours, ref=notes)

    async def renew(self, fence: Fence) -> None:
        """Fetch branches and notes in one request. As long as this lease lasts, only its own pushes move the notes."""
        await self.mirror.renew(_notes_ref(fence))
        self._heads[fence.key.number] = _KnownHead(fence.nonce, await self.mirror.tip(comments.branch(fence)))

    async def tip(self, fence: Fence) -> str | None:
        """Return the work branch's head as this lease last knew it: if it was moved since, a push fails."""
        known = self._known_head(fence)
        return known.tip if known else await self.mirror.refresh(f"refs/heads/{comments.branch(fence)}")

    def _known_head(self, fence: Fence) -> _KnownHead | None:
        """Return the branch's head that this lease knows; None if it has not looked, or has to look again."""
        known = self._heads.get(fence.key.number)
        return known if known is not None and known.nonce == fence.nonce else None

    async def judge(self, work: WorkContext, base: str, tree: str) -> None:
        """Judge a tree against its `base`, before anything of it is run; `record` judges in the same way.

        A patch that is refused is kept on disk and raises `PatchRefused`.
        """
        fence, space = work.held.fence, work.space
        try:
            policy = patch_policy_of(work.specification, fence, work.allowed)
            await self._publisher.judge(space, base, tree, policy=policy)
        except PatchRefused as refused:
            raise await self._with_kept_patch(refused, fence, space, base, tree) from refused

    async def record(self, work: WorkContext, phased: PhaseCommit, to: FenceChange) -> None:
        """Commit a phase, write its note, and move fence, notes and (with `stage` testing) the branch together.

        A patch that is refused, by the policy or by the server, is kept on disk and raises `PatchRefused` or
        `PushRefused`.
        """
        space, fence, note = work.space, work.held.fence, phased.note
        policy = patch_policy_of(work.specification, fence, work.allowed)
        since = phased.since or await self.history.judged_from(fence, note.base)
        try:
            await self._publisher.judge(space, since, phased.tree, policy=policy)
            message = comments.commit_message(phased.subject, fence=fence, phase=note.phase)
            parents = (phased.parent, *filter(None, (phased.merged,)))
            commit = await space.commit(phased.tree, parents, message, work.held.server_now())
            to = replace(to, work_head=commit, base=note.base if to.base is None else to.base)
            await self._move(work, note, policy, to, since=since)
        except (PatchRefused, PushRefused) as refused:
            raise await self._with_kept_patch(refused, fence, space, note.base, phased.tree) from refused

    async def amend(self, work: WorkContext, note: Note, to: FenceChange) -> None:
        """Replace the note of the fence's commit, or of an earlier one (`work_head`) to which the work returns.

        The refs move together as with `record`.
        """
        fence = work.held.fence
        head = to.work_head or fence.work_head
        policy = patch_policy_of(work.specification, fence)
        since = await self.history.judged_from(replace(fence, work_head=head), note.base)
        await self._move(work, note, policy, replace(to, work_head=head), since=since)

    async def _move(self, work: WorkContext, note: Note, policy: PatchPolicy, to: FenceChange, *, since: str) -> None:
        held, space = work.held, work.space
        fence, commit = held.fence, to.of(held.fence).work_head
        notes = _notes_ref(fence)
        before = await self.mirror.sha(notes)
        noted = await Notes(space.git, self._identity).add(notes, commit, write(note, self.keys))
        updates = [RefUpdate(notes, before, noted)]
        pushed = to.stage is Stage.TESTING or note.phase is CommitKind.SYNC
        if pushed:
            updates += await self._branch(fence, commit)
        ready = await self._publisher.prepare(space, note.base, commit, updates, policy=policy, since=since)
        try:
            await advance(held, to, updates=ready)
        except Transient:
            self._heads.pop(fence.key.number, None)  # it looks again
            raise
        await space.note(commit, ready)
        if pushed and self._known_head(fence) is not None:
            self._heads[fence.key.number] = _KnownHead(fence.nonce, commit)

    async def rescue(self, fence: Fence, space: Workspace, start: str) -> Path | None:
        """Save the changes since `start` of a run that was cut off or failed as a patch; return its path or None."""
        with anyio.move_on_after(RESCUE_SECONDS, shield=True):
            try:
                kept = await keep(space.git, start, await space.capture(start), self.kept(fence))
                if kept:
                    log.info("patch_kept", outcome="completed", path=str(kept))
                return kept
            except (EngineError, CommandFailed, OSError) as error:
                log.warning("patch_not_kept", outcome="failed", error=str(error))
        return None

    async def _with_kept_patch(
        self, refused: PatchRefused | PushRefused, fence: Fence, space: Workspace, base: str, tree: str
    ) -> PatchRefused | PushRefused:
        """Return the same refusal with the place of the kept patch."""
        kept = await keep(space.git, base, tree, self.kept(fence))
        place = str(kept.relative_to(self._places.kept.parent)) if kept else ""
        if isinstance(refused, PatchRefused):
            return PatchRefused(refused.refusals, kept=place)
        return PushRefused(f"{refused}\nThe patch is kept in the state directory as `{place}`.")

    async def _branch(self, fence: Fence, commit: str) -> list[RefUpdate]:
        """Return the move of the work branch; empty if a person has put this very commit there."""
        tip, ref = await self.tip(fence), f"refs/heads/{comments.branch(fence)}"
        return [] if tip == commit else [RefUpdate(ref, tip, commit)]

    async def notes(self, space: Workspace, fence: Fence) -> Mapping[str, Note]:
        """Return the authentic notes of an issue: phase commit -> note."""
        texts = await Notes(space.git, self._identity).all(_notes_ref(fence))
        read_back = {commit: read(text, self.keys) for commit, text in texts.items()}
        return {commit: note for commit, note in read_back.items() if note is not None}

    def kept(self, fence: Fence) -> Path:
        """Return the directory for files of this lease that outlive the workspace."""
        run = f"{fence.at:%Y%m%dT%H%M%SZ}-{fence.nonce[:8]}"
        return workspace_path(self._places.kept, self._places.full_name, fence.key.number) / run


async def reader(space: Workspace, commit: str, paths: Collection[str]) -> Callable[[str], bytes | None]:
    """Return a function from a path to its content in a commit, for the files by which test runners are detected."""
    wanted = [path for path in paths if PurePosixPath(path).name in RUNNER_FILES]
    return (await objects.existing(space.git, commit, sorted(wanted, key=len)[:RUNNER_FILES_READ])).get


def _notes_ref(fence: Fence) -> str:
    return notes_ref(fence.key.number)
