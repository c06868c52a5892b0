"""A plan agreed with a person at a terminal. Nothing is written to GitHub here, whatever the person does.

The person edits the plan as a YAML document, which is read back strictly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml
from rich.text import Text

from planner_agent import plan
from planner_agent.context import PlanningContext
from planner_agent.conversation import Conversation
from planner_agent.drafting import Drafting, TrustedComments
from planner_agent.observe import Listener
from planner_agent.plan import Plan, UnfitAnswer
from planner_agent.policy import Policy
from planner_agent.terminal import views
from planner_agent.terminal.console import Console, EditorUnusable
from planner_agent.terminal.subject import Subject
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.github.ports import Issues
from shared.models import Issue
from shared.retry.answer_retry import AnswerUnusable
from shared.specification import body_sha256
from shared.text import printable


@dataclass(frozen=True, slots=True)
class Agreed:
    """A plan that a person approved, for a story as it was read; number 0 is a story that is still to be opened."""

    story: Issue
    plan: Plan


@dataclass(frozen=True, slots=True)
class SessionServices:
    """The services and settings of a session.

    `keep` stores an answer that could not be used and returns where; `now` is GitHub's time.
    """

    issues: Issues
    listener: Listener
    drafting: Drafting
    policy: Policy
    keep: Callable[[str], str]
    now: Callable[[], datetime]


class Session:
    """One conversation: a story, its plan, and a person's decision on it."""

    def __init__(self, console: Console, services: SessionServices) -> None:
        self._console = console
        self._services = services
        self._subject = Subject(console, services.issues, services.policy, services.now)
        self._put: set[str] = set()

    async def run(self) -> Agreed | None:
        """Return the plan that the person approved; None if they said no. Raises `Cancelled`."""
        story = await self._subject.chosen()
        while True:
            plan = await self._agree_on_plan(story)
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

    async def _agree_on_plan(self, story: Issue) -> Plan | None:
        """Return the plan of this text, asked about, edited and approved; None if the person said no."""
        services = self._services
        heard = await services.listener.hear(story.number) if story.number else Conversation()
        said = await services.drafting.trusted_comments(heard, heard.revision + 1, begun_anew=False)
        background = await services.drafting.known(story, said.discussion)
        self._console.show(views.story(story))
        self._console.show(views.known(background))
        posted = heard.current(heard.revision)
        fits = posted is not None and posted.story == body_sha256(story.title, story.body)
        plan = posted.plan if posted is not None and fits else None
        rounds = 0
        while True:
            if plan is None:
                plan = await self._draft_plan(story, background, said.feedback, rounds)
            self._console.show(views.plan(plan))
            answers = await self._answers(plan)
            if not answers:
                return await self._ask_for_decision(plan)
            said, plan, rounds = (
                TrustedComments(said.discussion, f"{said.feedback}\n\n{answers}".strip()),
                None,
                rounds + 1,
            )

    async def _draft_plan(self, story: Issue, background: PlanningContext, feedback: str, rounds: int) -> Plan:
        """Return a plan by the backend; after a failure the person says whether to try again."""
        while True:
            try:
                with self._console.busy("Planning; this can take some minutes. Ctrl-C cancels, nothing is written."):
                    return await self._services.drafting.planned(story, background, feedback, rounds)
            except (Misconfigured, NotAllowed, Unauthorized):
                raise
            except EngineError as error:
                self._say(str(error))
                if isinstance(error, AnswerUnusable):
                    self._say(f"What the backend answered is kept in {self._services.keep(error.raw)}")
                if not await self._agrees("Try again?"):
                    raise

    async def _answers(self, plan: Plan) -> str:
        """Put each new question; return those with an answer. One that stays open keeps its assumption."""
        given: list[str] = []
        for number, question in enumerate(plan.questions, 1):
            if question.question in self._put:
                continue
            self._put.add(question.question)
            self._say(f"Question {number}: {question.question}")
            otherwise = printable(question.assumption) if question.assumption else "leave it open"
            answer = (await self._console.ask(f"Answer [Enter: {otherwise}]:")).strip()
            if answer:
                given.append(f"Question: {question.question}\nAnswer: {answer}")
        return "\n\n".join(given)

    async def _ask_for_decision(self, plan: Plan) -> Plan | None:
        """Ask for a decision, again after each edit; return the plan that was approved, None if the person said no."""
        while True:
            count = len(plan.specifications)
            asked = f"Create {count} specification issue{'s' * (count != 1)} in {self._services.policy.repository}?"
            answer = (await self._console.ask(f"{asked} [Y/n/edit]")).strip().casefold()
            if answer in {"", "y", "yes"}:
                return plan
            if answer in {"n", "no"}:
                return None
            if answer in {"e", "edit"}:
                plan = await self._edit_plan(plan)
                self._console.show(views.plan(plan))
            else:
                self._say("Please answer y (or Enter), n, or edit.")

    async def _edit_plan(self, plan: Plan) -> Plan:
        """Return the plan as the editor leaves it; an invalid one is shown with its faults until it is left so."""
        shown = write(plan)
        while True:
            try:
                left = await self._console.edit(shown, SUFFIX)
            except EditorUnusable as error:
                self._say(str(error))
                return plan
            if left == shown:
                return plan
            try:
                return read(left) or plan
            except UnfitAnswer as error:
                shown = refused(left, error.faults)

    async def _agrees(self, question: str) -> bool:
        return (await self._console.ask(f"{question} [Y/n]")).strip().casefold() in {"", "y", "yes"}

    def _say(self, sentence: str) -> None:
        self._console.show(Text(printable(sentence)))


def _same(one: Issue, other: Issue) -> bool:
    return body_sha256(one.title, one.body) == body_sha256(other.title, other.body)


SUFFIX = ".yml"

_GUIDE = """\
# The plan as YAML. Change what should be different, save, and leave the editor; it is checked then.
# Specifications become issues. `depends_on` names other steps (by id) or specifications (by key).
# `kind` is feature, refactoring, documentation, removal, dependency or configuration.
# A file without a plan changes nothing.
"""

LONG = 80
"""Characters above which a line of text is folded."""

_FAULT = "# ! "
"""Beginning of a line that says what was wrong with the last version."""


def write(planned: Plan) -> str:
    """Return the document of a plan."""
    data = planned.model_dump(mode="json")
    return _GUIDE + yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def refused(document: str, faults: Sequence[str]) -> str:
    """Return the same document with its faults on top, in place of earlier ones."""
    rest = [line for line in document.splitlines(keepends=True) if not line.startswith(_FAULT)]
    return "".join([f"{_FAULT}{fault}\n" for fault in faults] + rest)


def read(document: str) -> Plan | None:
    """Return the plan that a document spells, None if only comments are left; raises `UnfitAnswer` with every fault."""
    if len(document) > plan.ANSWER_LIMIT:
        raise UnfitAnswer([f"it has {len(document):,} characters, {plan.ANSWER_LIMIT:,} are allowed"])
    try:
        data = yaml.load(document, Loader=_Loader)  # a safe loader, stricter than yaml's own
    except yaml.YAMLError as error:
        raise UnfitAnswer([f"it is not YAML: {' '.join(str(error).split())}"]) from None
    except (RecursionError, ValueError) as error:
        raise UnfitAnswer([f"it cannot be read: {error}"]) from None
    return None if data is None else plan.read(_json(data))


def _json(data: object) -> str:
    try:
        return json.dumps(data, default=str)  # a date that nobody has quoted is the text that was typed
    except RecursionError:
        raise UnfitAnswer(["it is nested too deeply"]) from None
    except TypeError as error:
        raise UnfitAnswer([f"a key is no text: {error}"]) from None


class _Loader(yaml.SafeLoader):
    """A loader that refuses what people do not mean: a key that stands twice, and aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias cannot be used here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[object] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key has to be a word", key.start_mark)
            if key.value in keys:
                problem = f"the key '{key.value}' stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """A dumper that indents lists below their key, and writes longer texts as blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else ">" if len(text) > LONG else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
