"""The planner's effects on GitHub: labels after the fence, plans, specification issues, giving up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from planner_agent import comments, plan_comment
from planner_agent.decide import STAGES, Phase, Snapshot, flags, sent_back
from planner_agent.plan import Plan
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.specifications import Specifications
from shared.errors import Blocked, Unexplained
from shared.github.at_most_once import making
from shared.github.status import Status
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Comment, Issue
from shared.reconcile.start_label import StartLabel
from shared.scheduling.agent_contract import Ended, Result
from shared.text import hosts
from shared.workflow import HALTED, UNLABELLED, Event, Stage, Track, move
from shared.workflow.labels import Flag

CONFIGURATION = "the configuration"
"""The approver of a plan that nobody had to approve."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The state of a story that we are closing: its closing is no order of a person's."""


class Effects:
    """The planner's effects on stories; every one is convergent."""

    def __init__(self, forge: Forge, specifications: Specifications, policy: Policy) -> None:
        self._forge = forge
        self._specifications = specifications
        self._policy = policy
        self._restart = policy.names.of(Stage.PLANNING)
        self._start_label = StartLabel(forge.issues, forge.labels, policy.names)

    async def show_labels(self, held: Held, snapshot: Snapshot) -> Snapshot:
        """Make stage label and flags follow the fence; return the snapshot with the labels that are there then.

        It has no labels if the label `story` was removed before the first one was set: an order to stop.
        """
        stage, issue = held.fence.stage, snapshot.issue
        if self._policy.preapproved_plan is not None and not self._policy.names.read(issue.labels).story:
            issue = await self._label_story(held, issue)
        elif stage is Stage.PLANNING:
            begun = await self._start_label.label(held, issue, self._policy.names.story, stage)
            if begun is None:
                return replace(snapshot, issue=replace(issue, labels=frozenset()))
            issue = begun
        if stage in HALTED:
            await self._post_halt(held)
        on, off = flags(stage, questions=snapshot.questions)
        labels = await self._forge.labels.show(
            issue.number, stage, held, known=issue.labels, flags_on=on, flags_off=off
        )
        return replace(snapshot, issue=replace(issue, labels=labels))

    async def _label_story(self, held: Held, issue: Issue) -> Issue:
        """Label a story that a person at our terminal asked for, now that it is ours: nobody else begins it."""
        names = self._policy.names
        wanted = [names.story, *([names.of(held.fence.stage)] if held.fence.stage not in UNLABELLED else [])]
        return replace(issue, labels=await self._forge.labels.add(issue.number, wanted, held))

    async def _post_halt(self, held: Held) -> None:
        """Post the reason for giving up before the label, if the agent that gave up ended before it posted that."""
        told = comments.given_up(held.fence, Unexplained(), self._restart)
        known = await self._forge.status.data(held.fence.key.number)
        if any(known.get(name) != told.data[name] for name in ("stage", "plan")):
            await self.show(held, told)

    async def post(self, held: Held, snapshot: Snapshot, plan: Plan) -> Comment:
        """Post a plan, bound to the text that it was made from."""
        number, revision = snapshot.issue.number, held.fence.attempt
        body = plan_comment.write(
            plan,
            plan_comment.Binding(number, revision, snapshot.story, hosts(snapshot.issue.body)),
            keys=held.claimant.keys,
            approval=self._policy.approval,
        )
        async with making(held, plan_comment.creation_name(revision, snapshot.story)):
            return await self._forge.comments.post(number, body, held)

    async def submit(self, held: Held, snapshot: Snapshot, event: Event) -> None:
        """Leave the plan to a person, and post the reason if the configuration would usually approve it.

        A status of before, such as that of a stop, tells what is over, and is replaced.
        """
        await advance(held, FenceChange(stage=move(Track.STORY, held.fence.stage, event).to, phase=""))
        if event is Event.PLAN_POSTED and self._policy.auto and snapshot.order is None:
            await self.show(held, comments.changed_meanwhile(held.fence))
        elif await self._forge.status.data(held.fence.key.number):
            await self.show(held, comments.submitted(held.fence))

    async def approve(self, held: Held, by: str) -> None:
        """Record the approval of the plan; from here on only its creation is left."""
        await advance(held, FenceChange(phase=Phase.CREATE, approved_by=by))
        if held.fence.attempt == 1:
            self._specifications.expect_none(held)

    async def send_back(self, held: Held, snapshot: Snapshot) -> None:
        """Go back to drafting, because a new plan is wanted."""
        fence = held.fence
        to = move(Track.STORY, fence.stage, sent_back(snapshot.order)).to
        await advance(held, FenceChange(stage=to, phase=Phase.DRAFT, attempt=fence.attempt + 1, round=fence.round + 1))

    async def create(self, held: Held, snapshot: Snapshot) -> Ended:
        """Create what is missing, list it, and hand over; a crash in between is finished by the next claim."""
        plan = snapshot.posted
        if plan is None or plan.plan is None:
            raise Blocked("There is no plan to create specifications from.")
        created = await self._specifications.create(held, snapshot.issue, plan.plan, plan.sha)
        to = move(Track.STORY, held.fence.stage, Event.SPECIFICATIONS_CREATED).to
        await self.show(held, comments.specified(replace(held.fence, stage=to), created))
        await advance(held, FenceChange(stage=to, phase=""))
        await self.show_labels(held, snapshot)
        numbers = ", ".join(f"#{one.number}" for one in created)
        return Ended(Result.HANDED_OVER, f"#{snapshot.issue.number} became {numbers}")

    async def finish(self, held: Held, snapshot: Snapshot) -> Ended:
        """Close the story, whose specifications are all closed. Posted first, because nobody looks at ended items."""
        number = snapshot.issue.number
        numbers = await self._specifications.numbers(snapshot.issue, held.fence.attempt)
        to = move(Track.STORY, held.fence.stage, Event.SPECIFICATIONS_CLOSED).to
        await self.show(held, comments.finished(replace(held.fence, stage=to), numbers))
        held.memory.keep(Closing())
        await self._forge.closing.close(snapshot.issue, held)
        self._forge.inbox.dismiss(number)
        await advance(held, FenceChange(stage=to))
        return Ended(Result.FINISHED, f"#{number} is done")

    async def give_up(self, held: Held, error: Blocked, flagged: Collection[Flag]) -> None:
        """Hand it to a person: fence, labels and flags, and one comment that says what to do."""
        number, stage = held.fence.key.number, held.fence.stage
        if stage in STAGES - {Stage.SPECIFIED}:
            await advance(held, FenceChange(stage=move(Track.STORY, stage, Event.GAVE_UP).to))
        issue = await self._forge.issues.issue(number)
        await self.show(held, comments.given_up(held.fence, error, self._restart))
        await self._forge.labels.show(number, held.fence.stage, held, known=issue.labels, flags_on=tuple(flagged))

    async def withdraw(self, held: Held, reason: str) -> None:
        """End it by a person's order: the fence records that, and a closed story loses its stage labels."""
        issue = await self._forge.issues.issue(held.fence.key.number)
        if not issue.open:
            await self._forge.closing.unlabel(issue, held)
        await advance(held, FenceChange(stage=Stage.WITHDRAWN))
        await self.show(held, comments.withdrawn(held.fence, reason, issue, self._policy.names))

    async def show(self, held: Held, status: Status) -> None:
        """Put a status into the status comment of the held story."""
        await self._forge.status.show(held.fence.key.number, status, held)
