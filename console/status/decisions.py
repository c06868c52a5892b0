"""Decisions of people that no agent has read yet, from the comments that a board reads anyway (pure).

GitHub is not asked who may decide: a comment counts here by its author's association with the repository. An agent
asks, and records the decisions that it does not accept, so that the item waits for a person again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared.commands.command import Verb, commands
from shared.commands.command_reader import is_stale, version
from shared.commands.untrusted_comments import spoken
from shared.github import status_record
from shared.lock.comment import MARK
from shared.lock.fence import Fence
from shared.models import Comment
from shared.text import comment_signatures
from shared.workflow import Stage, Track

INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Associations of those who may have write access; a stranger's word takes nothing off a person's list."""

_ASKED: Mapping[tuple[Track, Stage], Mapping[Verb, str]] = {
    (Track.STORY, Stage.AWAITING_APPROVAL): {
        Verb.APPROVE: "approved it",
        Verb.REJECT: "sent it back",
        Verb.EDIT: "sent it back",
    },
    (Track.SPECIFICATION, Stage.AWAITING_APPROVAL): {Verb.APPROVE: "approved it", Verb.REJECT: "rejected it"},
    (Track.PULL_REQUEST, Stage.APPROVED): {Verb.MERGE: "ordered the merge"},
}
"""Commands that decide, by track and stage, with the words for each."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The newest decision on an item: its command, and a few words with the person and the act."""

    verb: Verb
    summary: str


def latest_decision(track: Track, stage: Stage, fence: Fence | None, comments: Iterable[Comment]) -> Decision | None:
    """Return the newest decision on what the fence asks; None if there is none, or an agent has already read it."""
    asked = _ASKED.get((track, stage), {})
    if fence is None or not asked:
        return None
    thread = [comment for comment in comments if comment.number == fence.key.number]
    dealt = set(_dealt_with(thread))
    by_id = {comment.id: comment for comment in spoken(thread) if comment.association in INSIDERS}
    for command in reversed(commands(sorted(by_id.values(), key=lambda comment: comment.id))):
        comment = by_id[command.comment_id]
        if command.verb not in asked or comment.id in dealt or version(comment) != comment.id:
            continue
        if not is_stale(comment, command.verb, fence, held=False):
            return Decision(command.verb, f"{command.author.login} has {asked[command.verb]}")
    return None


def _dealt_with(thread: Iterable[Comment]) -> Iterator[Any]:
    """The comments that an agent has recorded with what became of them."""
    for comment in thread:
        mark = comment_signatures.find(comment.body.partition("\n")[0])
        if mark is None or mark.name != MARK:  # whoever forges one keeps the item on the list
            continue
        try:
            record = status_record.read_record(comment.body)
        except ValueError:  # somebody has edited it
            continue
        yield from (one.get("id") for kind in record.values() for one in kind)
