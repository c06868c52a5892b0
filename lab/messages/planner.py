"""Texts of the planner: on a story, on an issue without a label, and as the reply to a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.messages.samples import ISSUE, NAMES, STORY, UNTIL
from lab.messages.text import Message
from planner_agent import comments
from planner_agent.assistant import replies
from planner_agent.plan import Ambiguity, Option, Plan, PlannedSpecification, PlanStep
from planner_agent.policy import Approval
from planner_agent.specifications import Created
from planner_agent.triage import proposal_comments
from planner_agent.triage.proposal import Proposal, TriageKind
from shared.errors import Blocked
from shared.lock.fence import Wait
from shared.models import Account, Comment
from shared.retry.answer_retry import AnswerUnusable
from shared.text import neutralise
from shared.workflow import Stage

MODULES = (comments, proposal_comments, replies)
UNPOSTED = frozenset({"purpose"})

_PLAN = Plan(
    summary="The directory can be read by login only. A search function reads it through its iterator.",
    complexity="low",
    estimate_hours=2.0,
    steps=(PlanStep(id="s1", title="Search by name", files=("directory/search.py",)),),
    options=(
        Option(title="A function over the iterator", tradeoff="Simple.", chosen=True),
        Option(title="An index in the store", tradeoff="Every write maintains it.", chosen=False),
    ),
    specifications=(
        PlannedSpecification(
            key="search",
            title="Search users by name",
            goal="A caller finds all users whose name contains a text.",
            criteria=("Case is ignored.", "A blank text finds nobody."),
            files=("directory/search.py",),
        ),
    ),
)
_ASKS = Ambiguity(question="Does the search ignore accents?", blocking=True, assumption="It does.", impact="the tests")


def messages() -> Iterator[Message]:
    """All of it, in the order of a story's life."""
    yield Message.of(comments.plan, _PLAN, 1)
    asking = _PLAN.model_copy(update={"ambiguities": (_ASKS,)})
    for approval, planned in ((Approval.COMMENT, asking), (Approval.TERMINAL, _PLAN), (Approval.AUTO, _PLAN)):
        how = comments.plan(planned, 1, approval).rpartition("\n---\n")[2]
        yield Message(f"comments.plan, {approval}{' with questions' if planned is asking else ''}", how)
    yield Message.of(comments.doubtful, NAMES.story, "mallory")
    yield Message.of(comments.changed_meanwhile, STORY)
    yield Message.of(comments.waiting, replace(STORY, wait=Wait("backoff", UNTIL)), "The run failed.")
    yield Message.of(comments.specified, STORY, [Created("11-1", 12, "Search users by name", (9,))])
    yield Message.of(comments.finished, replace(STORY, stage=Stage.DONE), {"11-1": 12})
    yield Message.of(comments.closed, STORY)
    yield Message.of(comments.paused, STORY)
    story = replace(ISSUE, number=STORY.key.number, labels=frozenset({NAMES.story}))
    yield Message.of(comments.submitted, replace(STORY, attempt=2))
    yield Message.of(comments.withdrawn, STORY, "a person moved or removed the stage label", story, NAMES)
    untold = replace(story, labels=frozenset[str]())
    yield Message.of(comments.withdrawn, STORY, "the label 'story' was removed", untold, NAMES).on("no story any more")
    closed = replace(story, open=False)
    yield Message.of(comments.withdrawn, STORY, "it was closed while no agent worked on it", closed, NAMES).on("closed")
    failed = replace(STORY, stage=Stage.FAILED, round=3)
    error = AnswerUnusable("Three plans were sent back.", (), "no JSON")
    yield Message.of(comments.given_up, failed, error, "status:planning")
    yield from _proposals()
    yield from _replies()


def _proposals() -> Iterator[Message]:
    bug = Proposal(kind=TriageKind.BUG, reason="It says that an empty list ends the program.")
    twin = Proposal(kind=TriageKind.DUPLICATE, reason="Both ask for a search by name.", duplicate_of=12)
    vague = Proposal(kind=TriageKind.VAGUE, reason="It only says that it fails.", missing="The command that was given.")
    for proposal, label in ((bug, "bug"), (twin, "duplicate"), (vague, "needs-info")):
        shown = proposal_comments.proposed(proposal, label)
        yield Message(f"proposal_comments.proposed, {proposal.kind}", shown)
    yield Message.of(proposal_comments.accepted, bug, "bug", "ada")
    yield Message.of(proposal_comments.rejected, bug, "ada")
    yield Message.of(proposal_comments.overtaken, "it has a label")
    yield Message.of(proposal_comments.failed, Blocked("The model declines this text."))
    outcomes = (proposal_comments.DECIDED, proposal_comments.NO_PROPOSAL)
    yield Message("proposal_comments, in the record of commands", "\n".join(f"- {one}" for one in outcomes))


def _replies() -> Iterator[Message]:
    question = Comment(7, 12, Account(1, "ada"), "@engine-bot why is the cache cleared twice?", UNTIL, UNTIL)
    answer = "Once at the start, in `directory/store.py`, and once more by `Store.reload`, which calls it again."
    yield Message("replies.answered", neutralise(replies.answered(question, answer, "main")))
    yield Message("replies.failed", neutralise(replies.failed(question, Blocked("The model declines this text."))))
    yield Message("replies.unanswered", neutralise(replies.unanswered(question)))
    yield Message.of(replies.limited, 20)
