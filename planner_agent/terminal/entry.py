"""The planner with a person in front of it: the conversation before anything is written, the planner after it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from config.environment import editor, snapshot
from planner_agent.build import build, forge_of, policy_of
from planner_agent.drafting import Drafting
from planner_agent.observe import Listener
from planner_agent.ports import Forge
from planner_agent.preapproved_plan import PreapprovedPlan
from planner_agent.story import create_story
from planner_agent.terminal.console import Cancelled, Console
from planner_agent.terminal.screen import Screen
from planner_agent.terminal.session import Desk, Session
from runtime.arguments import Arguments
from runtime.building.assembly import Parts
from runtime.launch import LeftOff
from shared.items import Agent
from shared.specification import body_sha256

OK, CANCELLED = 0, 130
"""Exit codes of a conversation that led to nothing: the person said no, or left."""


@dataclass
class Terminal:
    """One conversation: `prepare` holds it, `build` makes the planner that carries out what was decided."""

    console: Console | None = None
    """Where the person sits; None is this process's own terminal."""
    _decided: PreapprovedPlan | None = None

    async def prepare(self, parts: Parts, arguments: Arguments) -> Parts:
        """Agree on a plan, then open its story, or take the one that there is, and work on it alone.

        Raises `LeftOff` when the person said no or left: then nothing was written.
        """
        forge = forge_of(parts)
        try:
            agreed = await Session(self.console or _screen(parts), _desk(parts, forge)).run()
        except Cancelled as error:
            raise LeftOff(str(error), CANCELLED) from None
        except anyio.get_cancelled_exc_class():  # a signal, which has its own exit code
            sys.stderr.write(f"{Cancelled()}\n")
            raise
        if agreed is None:
            raise LeftOff("Nothing was created.", OK)
        story = agreed.story
        if not story.number:  # without its label: a planner that polls may not begin it before it is claimed here
            story = await create_story(forge.issues, f"{story.title}\n{story.body}")
        self._decided = PreapprovedPlan(agreed.plan, body_sha256(story.title, story.body), parts.account.login)
        sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
        sys.stdout.flush()
        return replace(parts, only=story.number)

    def build(self, parts: Parts) -> Agent:
        """The planner of the story that was agreed on."""
        return build(parts, self._decided)


def _desk(parts: Parts, forge: Forge) -> Desk:
    policy = policy_of(parts)
    listener = Listener(forge, parts.claimant, policy)
    drafting = Drafting(forge.issues, listener, parts.mirror, parts.coder, policy)
    place = parts.settings.state_dir / "kept" / parts.configured.name.replace("/", "__") / "planner"

    def keep(raw: str) -> str:
        """Each answer has a name of its own, by GitHub's time."""
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = Path(place, f"{parts.server_time():%Y%m%dT%H%M%S}.txt")
        file.write_text(parts.outgoing.hide(raw), encoding="utf-8")
        return str(file)

    return Desk(forge.issues, listener, drafting, policy, keep, parts.server_time)


def _screen(parts: Parts) -> Screen:
    """This process's terminal; the person's editor gets their environment, without the engine's token."""
    environment = dict(snapshot())
    environment.pop(parts.settings.github.token_env, None)
    return Screen(editor(environment), environment)
