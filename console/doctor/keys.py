"""The keys that sign the engine's comments: whether they are there, private, and the same everywhere."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from config.credentials import signing_keys
from console.doctor.context import Machine, RepositoryContext
from console.doctor.finding import Finding, failed, passed, skipped, warned
from shared.comment_signatures import UNSIGNED, Key, find
from shared.errors import Misconfigured
from shared.github.comments import Comments
from shared.lock.codec import AckState, read_ack
from shared.models import Comment

SUBJECT = "key agreement"

OTHERS = 0o077
"""Permission bits that let others at a file."""


async def key_files(machine: Machine) -> Sequence[Finding]:
    """Whether the key files can be read, by us alone."""
    lock = machine.settings.lock
    if not lock.key_files:
        step = "Run `workflow-engine init`, or name a key file in lock.key_files; copy it to every machine."
        return [warned("key files", "No key is configured: the engine's marker alone is trusted.", step)]
    try:
        ids = [Key.of(secret).id for secret in signing_keys(lock)]
    except Misconfigured as error:
        step = "Copy the key file from another machine of this repository, or run `workflow-engine init`."
        return [failed("key files", str(error), step)]
    found = [open_finding(file, file.stat().st_mode) for file in lock.key_files if file.stat().st_mode & OTHERS]
    return found or [passed("key files", f"Readable by this account alone; key ids {', '.join(ids)}, the first signs.")]


def open_finding(file: Path, mode: int) -> Finding:
    """A key file that others may open."""
    step = f"chmod 600 {shlex.quote(str(file))}"
    return warned("key files", f"{file} has mode {mode & 0o777:04o}: others can use it.", step)


async def agreement(visit: RepositoryContext) -> Sequence[Finding]:
    """Whether what our account wrote lately was signed with keys that we have."""
    try:
        known = frozenset(Key.of(secret).id for secret in signing_keys(visit.machine.settings.lock))
    except Misconfigured:
        return [skipped(SUBJECT, "The key files cannot be read.", visit.name)]
    newest = await Comments(visit.me.github, visit.configured.name).newest()
    ours = [comment for comment in newest if comment.author.id == visit.me.account.id]
    return [agreement_finding(ours, known, visit.me.github.server_time, visit.name)]


def agreement_finding(ours: Collection[Comment], known: Collection[str], now: datetime, where: str) -> Finding:
    """What the key ids in our account's comments say. `now` is server time."""
    acks = [comment for comment in ours if read_ack(comment) is not None]
    step = "Give all machines of this repository the same key files, then start their agents again."
    if foreign := _foreign(acks, known):
        number, key = foreign[0]
        sentence = f"A lock on #{number} was signed with key {key}, which is not among lock.key_files."
        return failed(SUBJECT, sentence, step, where)
    if live := [ack.number for ack in acks if known and _live_unsigned(ack, now)]:
        sentence = f"An agent without any key holds #{live[0]}: this machine does not see its lock."
        return failed(SUBJECT, sentence, step, where)
    if foreign := _foreign(ours, known):
        number, key = foreign[0]
        sentence = f"A comment in #{number} was signed with key {key}, which is not among lock.key_files."
        step = "If that key was replaced, keep its file as the last of lock.key_files until the threads are closed."
        return warned(SUBJECT, sentence, step, where)
    return passed(SUBJECT, "Nothing in the newest comments was signed with a key that is missing here.", where)


def _foreign(comments: Collection[Comment], known: Collection[str]) -> list[tuple[int, str]]:
    """Number of the thread and key id of each comment that was signed with a key we do not have."""
    marks = [(comment.number, find(comment.body)) for comment in comments]
    ids = [(number, mark.fields["mac"].partition(".")) for number, mark in marks if mark is not None]
    return [(number, id) for number, (id, dot, _) in ids if dot and id not in known]


def _live_unsigned(comment: Comment, now: datetime) -> bool:
    ack, mark = read_ack(comment), find(comment.body)
    if ack is None or mark is None or ack.state is not AckState.ACTIVE or mark.fields["mac"] != UNSIGNED:
        return False
    return now - comment.updated_at < timedelta(seconds=ack.ttl_seconds)
