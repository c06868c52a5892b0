"""The conversation in a story's thread: the engine's plans, and what people say of them (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from planner_agent import plan_comment
from planner_agent.plan_comment import PlanComment
from shared.commands.command import Verb, commands, consents
from shared.lock.comment import read_ack
from shared.models import Comment
from shared.text import comment_signatures
from shared.text.comment_signatures import Keyring

DECISIONS = frozenset({Verb.APPROVE, Verb.REJECT, Verb.EDIT})


@dataclass(frozen=True, slots=True)
class PlanCommand:
    """A person's decision on a plan; without a verb it is the answer to its questions.

    `comment_id` 0 stands for what was said at a terminal.
    """

    comment_id: int
    login: str
    verb: Verb | None = None

    def __str__(self) -> str:
        return f"{self.login} in comment {self.comment_id}" if self.comment_id else f"{self.login} at the terminal"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One reading of a story's thread: plans and people's comments, both in the order of their ids."""

    plans: tuple[PlanComment, ...] = ()
    comments: tuple[Comment, ...] = ()

    @property
    def revision(self) -> int:
        """The highest version of a plan so far; 0 before the first."""
        return max((one.revision for one in self.plans), default=0)

    def current(self, revision: int) -> PlanComment | None:
        """Return the newest plan of this version; None if there is none."""
        return next((one for one in reversed(self.plans) if one.revision == revision), None)

    def orders(self, revision: int) -> tuple[PlanCommand, ...]:
        """Return the decisions on plan `revision`, newest first, by whatever people.

        A decision is about a plan only if it stands below that plan and above any later one.
        """
        plan = self.current(revision)
        if plan is None or plan != self.plans[-1]:
            return ()
        about = [comment for comment in self.comments if comment.id > plan.comment_id]
        given = {command.comment_id: command for command in commands(about)}
        asks = plan.plan is not None and bool(plan.plan.questions)
        found: list[PlanCommand] = []
        for comment in reversed(about):
            command = given.get(comment.id)
            if command is not None and command.verb in DECISIONS:
                found.append(PlanCommand(comment.id, comment.author.login, command.verb))
            elif command is None and asks and not consents(comment.body):
                found.append(PlanCommand(comment.id, comment.author.login))
        return tuple(found)

    def before(self, revision: int) -> tuple[Comment, ...]:
        """Return what people said up to the plan that precedes `revision`; everything if there is none."""
        end = self._preceding(revision)
        return tuple(comment for comment in self.comments if not end or comment.id < end)

    def since(self, revision: int) -> tuple[Comment, ...]:
        """Return what people said after the plan that precedes `revision`; nothing if there is none."""
        start = self._preceding(revision)
        return tuple(comment for comment in self.comments if start and comment.id > start)

    def _preceding(self, revision: int) -> int:
        return max((one.comment_id for one in self.plans if one.revision < revision), default=0)


def of(thread: Iterable[Comment], number: int, accounts: Collection[int], keys: Keyring) -> Conversation:
    """Return the conversation in the thread of story `number`; `accounts` are the engine's own.

    If the engine and its owner share an account, a comment without a mark of the engine is the person's.
    """
    comments = tuple(thread)
    people = tuple(one for one in comments if not (one.author.id in accounts and _has_mark(one)))
    return Conversation(plan_comment.find(comments, number, accounts, keys), people)


def _has_mark(comment: Comment) -> bool:
    return read_ack(comment) is not None or comment_signatures.find(comment.body.partition("\n")[0]) is not None


def words(comments: Iterable[Comment]) -> str:
    """Return comments as text for a prompt, without what they quote; a command stands as it was written."""
    return "\n\n".join(f"{comment.author.login}: {_without_quotes(comment.body)}" for comment in comments)


def _without_quotes(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.lstrip().startswith(">")).strip()
