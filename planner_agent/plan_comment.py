"""A plan as a comment: written and signed, found again, and complete enough to go on from it alone (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from planner_agent import comments, plan
from planner_agent.plan import Plan, UnfitAnswer
from planner_agent.policy import Approval
from shared.models import Comment
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring

MARK = "engine-plan"
PURPOSE = "plan"
_OPENING, _CLOSING = "```json", "```"


@dataclass(frozen=True, slots=True)
class PlanComment:
    """A plan comment of ours. `plan` is None when somebody changed the comment, which voids it.

    `revision` counts the plans of a story from 1; `story` is the hash of the title and body that
    the plan was made from; `sha` is the plan's own hash.
    """

    comment_id: int
    revision: int
    story: str
    sha: str
    plan: Plan | None


@dataclass(frozen=True, slots=True)
class Binding:
    """The text that a plan comment belongs to: version `revision` for story `number` with the hash `story`.

    `links` are the hosts to which the story's own links lead: links to those work in the plan too.
    """

    number: int
    revision: int
    story: str
    links: frozenset[str] = frozenset()


def write(planned: Plan, binding: Binding, *, keys: Keyring, approval: Approval) -> str:
    """Return the signed body of a plan comment, which says how its `approval` comes about."""
    data = plan.dump(planned)
    marker = comment_signatures.render(
        MARK, {"sha": plan.sha256(data), "rev": str(binding.revision), "story": binding.story}
    )
    programs = ["<details><summary>Machine-readable data</summary>", "", _OPENING, data, _CLOSING, "", "</details>"]
    body = "\n".join([marker, comments.plan(planned, binding.revision, approval, links=binding.links), "", *programs])
    return keys.sign(PURPOSE, binding.number, body)


def find(thread: Iterable[Comment], number: int, accounts: Collection[int], keys: Keyring) -> tuple[PlanComment, ...]:
    """Return the plan comments of our accounts in a story's thread, oldest first."""
    found = (_plan_comment(one, number, keys) for one in thread if one.author.id in accounts)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.comment_id))


def creation_name(revision: int, story: str) -> str:
    """Return the fence's name of a plan while it is made: the `revision`-th, of the text with the hash `story`."""
    return f"plan-{revision}-{story[:12]}"


def _plan_comment(comment: Comment, number: int, keys: Keyring) -> PlanComment | None:
    mark = comment_signatures.find(comment.body.replace("\r\n", "\n").partition("\n")[0])
    if mark is None or mark.name != MARK or not mark.fields.get("rev", "").isdecimal():
        return None
    sha, story = mark.fields.get("sha", ""), mark.fields.get("story", "")
    authentic = keys.verify(PURPOSE, number, comment.body) is CommentSignatures.VALID
    return PlanComment(comment.id, int(mark.fields["rev"]), story, sha, _plan(comment.body, sha) if authentic else None)


def _plan(body: str, sha: str) -> Plan | None:
    """Return the plan in a comment; None if it is not the one that the marker names."""
    data = body.replace("\r\n", "\n").rpartition(f"\n{_OPENING}\n")[2].partition("\n")[0]
    if plan.sha256(data) != sha:
        return None
    try:
        return plan.read(data)
    except UnfitAnswer:
        return None
