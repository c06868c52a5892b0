"""The story that a person at a terminal wants planned: one that they type, or an open issue by its number."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from rich.text import Text

from planner_agent.drafting import StoryUnusable, check
from planner_agent.policy import Policy
from planner_agent.story import split
from planner_agent.terminal.console import Console, EditorUnusable
from shared.errors import Gone, Misconfigured
from shared.github.ports import Issues
from shared.models import Issue
from shared.scheduling.order import exclusion_reason
from shared.text import printable
from shared.workflow import Stage
from shared.workflow.labels import Flag

QUESTION = "Story (what is wanted, the number of an open issue, or 'edit' for your editor):"
MORE = "..."

_NUMBER = re.compile(r"(?:#|GH-)?0*(\d{1,9})", re.IGNORECASE)


class Subject:
    """The dialogue that asks for a story until there is one that can be planned."""

    def __init__(self, console: Console, issues: Issues, policy: Policy, now: Callable[[], datetime]) -> None:
        self._console = console
        self._issues = issues
        self._policy = policy
        self._now = now

    async def chosen(self) -> Issue:
        """Return a story that can be planned; number 0 if it is not an issue yet. Raises `Cancelled`."""
        while True:
            answer = (await self._console.ask(QUESTION)).strip()
            found = _NUMBER.fullmatch(answer)
            if found:
                story = await self.existing(int(found[1]))
            else:
                story = self._typed_story(await self._text(answer))
            if story is not None:
                return story

    async def existing(self, number: int) -> Issue | None:
        """Return the issue as it is now; None, after a sentence why, if it cannot be planned."""
        try:
            issue = await self._issues.issue(number)
            check(issue)
        except Gone:
            refused = f"There is no #{number} in {self._policy.repository}."
        except StoryUnusable as error:
            refused = str(error)
        else:
            why = unplannable(issue, self._policy)
            if not why:
                return issue
            refused = f"#{number} {why}"
        self._say(refused)
        return None

    async def _text(self, first: str) -> str:
        """Return the whole of what is wanted, of which `first` was typed first; an empty text if nothing was typed."""
        if first.casefold() in {"e", "edit"}:
            try:
                return await self._console.edit("", ".md")
            except EditorUnusable as error:
                self._say(str(error))
                return ""
        if not first or "\n" in first:
            return first
        lines = [first]
        self._console.show(Text("Details, as many lines as you like; an empty line ends them."))
        while line := (await self._console.ask(MORE)).rstrip():
            lines.append(line)
        return "\n".join(lines)

    def _typed_story(self, text: str) -> Issue | None:
        if not text.strip():
            return None
        try:
            title, body = split(text)
            now = self._now()
            story = Issue(0, title, body, frozenset({self._policy.names.story}), self._policy.account, now, now)
            check(story)
        except (Misconfigured, StoryUnusable) as error:
            self._say(str(error))
            return None
        return story

    def _say(self, sentence: str) -> None:
        self._console.show(Text(printable(sentence)))


def unplannable(issue: Issue, policy: Policy) -> str:
    """Return why an existing issue cannot be planned at a terminal, as the rest of a sentence; empty if it can."""
    names = policy.names
    labels = names.read(issue.labels)
    if issue.is_pull_request:
        return "is a pull request, not a story."
    if not issue.open:
        return "is closed: reopen it first."
    if issue.locked:
        return "is locked: unlock it first."
    if barred := exclusion_reason(issue.labels, policy.exclude):
        return f"is left alone: {barred}."
    if Flag.PAUSED in labels.flags:
        return f"is paused: take '{names.of(Flag.PAUSED)}' off first."
    if Stage.AWAITING_APPROVAL in labels.stages and not labels.story:
        return "is a specification whose refactoring waits for a decision, not a story."
    if Stage.PLANNING in labels.stages:
        waits, planning = names.of(Stage.AWAITING_APPROVAL), names.of(Stage.PLANNING)
        return f"is planned by an agent: wait until it carries '{waits}', or take '{planning}' off if no planner runs."
    others = sorted(names.of(stage) for stage in labels.stages - {Stage.AWAITING_APPROVAL})
    return f"carries '{others[0]}': take that label off to have it planned (again)." if others else ""
