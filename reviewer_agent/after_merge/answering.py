"""Answers to merges that turned their base red: one issue or one pull request with a revert, and one comment.

The record is moved before anything is opened, together with the branch of a revert. If a reviewer ends before it notes
what it opened, the next one finds that by its hidden line or its branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from reviewer_agent.after_merge import merge_commit, messages
from reviewer_agent.after_merge.merge_commit import MergeCommit
from reviewer_agent.after_merge.messages import Voice
from reviewer_agent.after_merge.record import Answer, Record, Records
from reviewer_agent.links import revert_branch
from reviewer_agent.ports import Forge
from shared.ci.logs import failures
from shared.ci.triage import OURS, Failure, triage
from shared.errors import Blocked, EngineError, UnknownOutcome
from shared.git.command import Identity
from shared.git.mirror import Mirror
from shared.github.errors import NothingToPull, NotShown
from shared.lock.port import RefUpdate
from shared.lock.write_permit import RegisterPermit, WritePermit
from shared.models import Check
from shared.newest import Newest

log = structlog.get_logger()

SEND_SECONDS = 60.0
"""Seconds after its record in which something may be opened: much fewer than `LOST`, so that two are never sent."""

LOST = timedelta(minutes=10)
"""Age of an unfinished record from which another reviewer takes it over."""

SLACK = timedelta(minutes=5)
"""Time before its record from which an opened issue is searched for."""

MOST_EXCUSED = 100
"""The most merges of which it is remembered that the infrastructure failed; of others the logs are read again."""

EXCERPT_BYTES = 8_000
"""Bytes that are quoted of a failed check's output."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The account that answers, its texts and its clocks; `reverts`: revert a merge where that is possible."""

    login: str
    identity: Identity
    voice: Voice
    reverts: bool
    server_time: Callable[[], datetime]
    boot: Callable[[], float]


class Answering:
    """The answers to the merges of one repository; with any number of reviewers each is given once."""

    def __init__(self, forge: Forge, mirror: Mirror, records: Records, writer: Writer) -> None:
        self._forge = forge
        self._mirror = mirror
        self._records = records
        self._writer = writer
        self._excused: Newest[int, tuple[Check, ...]] = Newest(MOST_EXCUSED)
        """Pull request -> failed checks that the infrastructure caused, so that their logs are read once."""
        self._unsent: Newest[int, str] = Newest()
        """Pull request -> the record of an answer that this process began and sent nothing of."""

    async def answer(self, merge: MergeCommit, checks: tuple[Check, ...]) -> bool:
        """Open and report an answer to `checks`, which a merge turned red; return whether nothing is left to do.

        Raises `Transient` and `Blocked`; after `LOST` the next reviewer that looks continues where this one ended.
        """
        number = merge.pull_request.number
        if self._excused.get(number) == checks:
            return False
        expected, record = await self._records.read(number)
        if record is not None and record.over:
            return True
        if record is not None and self._is_taken(expected, record):
            return False
        red = triage(await failures(self._forge.checks, checks, EXCERPT_BYTES), again=True).of(*OURS)
        if not red:
            self._excused[number] = checks
            return False
        return await self._open_answer(merge, red, expected, record)

    async def is_begun(self, number: int) -> bool:
        """Return whether an answer was begun and not finished; that is read from git alone."""
        _, record = await self._records.read(number)
        return record is not None and not record.over

    def _is_taken(self, expected: str | None, record: Record) -> bool:
        """Return whether another reviewer may be at work on it; False if this process began it and sent nothing."""
        begun_here = self._unsent.get(record.pull_request) == expected
        return not begun_here and self._writer.server_time() - record.at < LOST

    async def _open_answer(
        self, merge: MergeCommit, red: Sequence[Failure], expected: str | None, earlier: Record | None
    ) -> bool:
        number, begun = merge.pull_request.number, self._writer.boot()
        commit = await self._revert_commit(merge, red, earlier)
        if commit == "":
            return True  # somebody has taken it back already
        answer = Answer.REVERT if commit else Answer.ISSUE
        record = Record(number, merge.oid, answer, self._writer.login, self._writer.server_time())
        moved = await self._begin(record, expected, commit)
        if moved is None:
            return False
        permit = RegisterPermit(f"after the merge of #{number}", begun + SEND_SECONDS, self._writer.boot)
        try:
            done = await self._open_item(merge, red, moved[1], earlier, permit)
            await self._post_comment(merge, red, done)
        except UnknownOutcome:
            raise
        except EngineError:
            self._unsent[number] = moved[0]
            raise
        await self._records.move(done, moved[0])
        log.info("merge_answered", outcome="completed", pr=number, answer=str(done.answer), number=done.number)
        return True

    async def _revert_commit(self, merge: MergeCommit, red: Sequence[Failure], earlier: Record | None) -> str | None:
        """Return the commit of a revert; empty if the merge was reverted already, None if an issue is opened instead.

        An issue is opened by configuration, or where a revert is not possible.
        """
        if not self._writer.reverts or (earlier is not None and earlier.answer is Answer.ISSUE):
            return None
        there = await self._mirror.refresh(_ref(merge))
        if earlier is not None and there is not None:
            return there  # pushed together with the record
        if there is not None:
            return None  # somebody else's branch
        message = messages.revert_message(merge, red)
        return await merge_commit.taken_back(self._mirror, merge, self._writer.identity, message)

    async def _begin(self, record: Record, expected: str | None, commit: str | None) -> tuple[str, Record] | None:
        """Write the record; return its commit and the record as it is now, or None if another reviewer was first."""
        if commit:
            ref = f"refs/heads/{revert_branch(record.pull_request)}"
            known = await self._mirror.sha(ref)
            updates = () if known == commit else (RefUpdate(ref, None, commit),)
            try:
                moved = await self._records.move(record, expected, updates)
                return None if moved is None else (moved, record)
            except Blocked as error:  # a rule, or a workflow file that this token may not push
                log.warning("revert_refused", outcome="skipped", pr=record.pull_request, error=str(error))
                record = replace(record, answer=Answer.ISSUE)
        moved = await self._records.move(record, expected)
        return None if moved is None else (moved, record)

    async def _open_item(
        self, merge: MergeCommit, red: Sequence[Failure], record: Record, earlier: Record | None, permit: WritePermit
    ) -> Record:
        """Open the answer, or find it if it was opened before; return the finished record."""
        if record.answer is Answer.REVERT:
            try:
                return replace(record, over=True, number=await self._open_revert(merge, red, permit))
            except NothingToPull as error:  # the branch was pushed just now, with a commit that the base lacks
                raise NotShown(revert_branch(record.pull_request), SEND_SECONDS) from error
            except Blocked as error:
                log.warning("revert_refused", outcome="skipped", pr=record.pull_request, error=str(error))
        number = await self._find_issue(merge, earlier or record) or await self._open_issue(merge, red, permit)
        return replace(record, answer=Answer.ISSUE, over=True, number=number)

    async def _open_revert(self, merge: MergeCommit, red: Sequence[Failure], permit: WritePermit) -> int:
        branch = revert_branch(merge.pull_request.number)
        if found := await self._forge.pulls.of_branch(branch):
            return found[0].number
        title, body = messages.revert_title(merge), messages.revert_body(merge, red, self._writer.voice)
        return (await self._forge.pulls.open(title, body, branch, merge.pull_request.base_branch, permit)).number

    async def _find_issue(self, merge: MergeCommit, record: Record) -> int:
        number = merge.pull_request.number
        for issue in await self._forge.issues.created_by(record.login, record.at - SLACK):
            if not issue.is_pull_request and messages.is_about(issue.body, number, self._writer.voice.keys):
                return issue.number
        return 0

    async def _open_issue(self, merge: MergeCommit, red: Sequence[Failure], permit: WritePermit) -> int:
        title, body = messages.issue_title(merge), messages.issue_body(merge, red, self._writer.voice)
        try:
            return (await self._forge.issues.create(title, body, (), permit)).number
        except Blocked as error:  # such as a repository without issues
            log.warning("issue_refused", outcome="skipped", pr=merge.pull_request.number, error=str(error))
            return 0

    async def _post_comment(self, merge: MergeCommit, red: Sequence[Failure], done: Record) -> None:
        number = merge.pull_request.number
        said = messages.comment(merge, red, done.answer, done.number, self._writer.voice)
        try:
            await self._forge.replies.once(number, messages.PURPOSE, said)
        except Blocked as error:  # such as a thread that was locked
            log.warning("merge_answer_not_told", outcome="skipped", pr=number, error=str(error))


def _ref(merge: MergeCommit) -> str:
    return f"refs/heads/{revert_branch(merge.pull_request.number)}"
