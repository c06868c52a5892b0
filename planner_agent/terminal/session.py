"""A plan agreed with a person at a terminal. Nothing is written to GitHub here, whatever the person does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from planner_agent.context import PlanningContext
from planner_agent.conversation import Conversation
from planner_agent.drafting import Drafting, Said
from planner_agent.observe import Listener
from planner_agent.plan import NoPlan, Plan
from planner_agent.policy import Policy
from planner_agent.ports import Issues
from planner_agent.terminal import document, views
from planner_agent.terminal.console import Console, EditorUnusable
from planner_agent.terminal.subject import Subject
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.governance.answer_retry import AnswerUnusable
from shared.models import Issue
from shared.specification import body_sha256
from shared.text import printable


@dataclass(frozen=True, slots=True)
class Agreed:
    """A plan that a person approved, for a story as it was read; number 0 is a story that is still to be opened."""

    story: Issue
    plan: Plan


@dataclass(frozen=True, slots=True)
class Desk:
    """What a session works with.

    `keep` stores an answer that could not be used and says where; `now` is GitHub's time.
    """

    issues: Issues
    listener: Listener
    drafting: Drafting
    policy: Policy
    keep: Callable[[str], str]
    now: Callable[[], datetime]


class Session:
    """One conversation: a story, its plan, and a person's decision on it."""

    def __init__(self, console: Console, desk: Desk) -> None:
        self._console = console
        self._desk = desk
        self._subject = Subject(console, desk.issues, desk.policy, desk.now)
        self._put: set[str] = set()

    async def run(self) -> Agreed | None:
        """The plan that the person approved; None when they said no. Raises `Cancelled`."""
        story = await self._subject.chosen()
        while True:
            plan = await self._agreed(story)
            if plan is None or not story.number:
                return None if plan is None else Agreed(story, plan)
            now = await self._subject.existing(story.number)
            if now is None:
                story = await self._subject.chosen()
                continue
            if _same(now, story):
                return Agreed(now, plan)
            self._say(f"#{story.number} was changed meanwhile, so it is planned again.")
            story = now

    async def _agreed(self, story: Issue) -> Plan | None:
        """The plan of this text, asked about, edited and approved; None when the person said no."""
        desk = self._desk
        heard = await desk.listener.hear(story.number) if story.number else Conversation()
        said = await desk.drafting.said(heard, heard.revision + 1, begun_anew=False)
        known = await desk.drafting.known(story, said.discussion)
        self._console.show(views.story(story))
        self._console.show(views.known(known))
        posted = heard.current(heard.revision)
        fits = posted is not None and posted.story == body_sha256(story.title, story.body)
        plan = posted.plan if posted is not None and fits else None
        rounds = 0
        while True:
            if plan is None:
                plan = await self._drafted(story, known, said.feedback, rounds)
            self._console.show(views.plan(plan))
            answers = await self._answers(plan)
            if not answers:
                return await self._decided(plan)
            said, plan, rounds = Said(said.discussion, f"{said.feedback}\n\n{answers}".strip()), None, rounds + 1

    async def _drafted(self, story: Issue, known: PlanningContext, feedback: str, rounds: int) -> Plan:
        """A plan by the backend; after a failure the person says whether to try again."""
        while True:
            try:
                with self._console.busy("Planning; this can take some minutes. Ctrl-C cancels, nothing is written."):
                    return await self._desk.drafting.planned(story, known, feedback, rounds)
            except (Misconfigured, NotAllowed, Unauthorized):
                raise
            except EngineError as error:
                self._say(str(error))
                if isinstance(error, AnswerUnusable):
                    self._say(f"What the backend answered is kept in {self._desk.keep(error.raw)}")
                if not await self._yes("Try again?"):
                    raise

    async def _answers(self, plan: Plan) -> str:
        """Questions that were not put yet, with what the person answers; one that stays open keeps its assumption."""
        given: list[str] = []
        for number, one in enumerate(plan.questions, 1):
            if one.question in self._put:
                continue
            self._put.add(one.question)
            self._say(f"Question {number}: {one.question}")
            otherwise = f" [Enter: {printable(one.assumption)}]" if one.assumption else " [Enter: leave it open]"
            answer = (await self._console.ask(f"Answer{otherwise}:")).strip()
            if answer:
                given.append(f"Question: {one.question}\nAnswer: {answer}")
        return "\n\n".join(given)

    async def _decided(self, plan: Plan) -> Plan | None:
        """What the person makes of a plan: yes, no, or another version of it that they are asked about in turn."""
        while True:
            count = len(plan.specifications)
            asked = f"Create {count} specification issue{'s' * (count != 1)} in {self._desk.policy.repository}?"
            answer = (await self._console.ask(f"{asked} [Y/n/edit]")).strip().casefold()
            if answer in {"", "y", "yes"}:
                return plan
            if answer in {"n", "no"}:
                return None
            if answer in {"e", "edit"}:
                plan = await self._edited(plan)
                self._console.show(views.plan(plan))
            else:
                self._say("Please answer y (or Enter), n, or edit.")

    async def _edited(self, plan: Plan) -> Plan:
        """The plan as the editor leaves it; one that is none comes back with its faults until it is left as it is."""
        shown = document.write(plan)
        while True:
            try:
                left = await self._console.edit(shown, document.SUFFIX)
            except EditorUnusable as error:
                self._say(str(error))
                return plan
            if left == shown:
                return plan
            try:
                return document.read(left) or plan
            except NoPlan as error:
                shown = document.refused(left, error.faults)

    async def _yes(self, question: str) -> bool:
        return (await self._console.ask(f"{question} [Y/n]")).strip().casefold() in {"", "y", "yes"}

    def _say(self, sentence: str) -> None:
        self._console.show(Text(printable(sentence)))


def _same(one: Issue, other: Issue) -> bool:
    return body_sha256(one.title, one.body) == body_sha256(other.title, other.body)
