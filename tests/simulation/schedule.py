"""One schedule: a world, a seed, a few agents and one issue, from the label `ready` to rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence
from shared.models import Account
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from worker_agent.expected_labels import expected_labels

from .agent import Agent
from .checks import violations
from .github import BOT, PERSON, GitHub
from .holders import last_active
from .identity import NEW, OLD, Identity, Nonces, Plan
from .journal import Journal
from .kernel import Kernel
from .people import People, foreign_fence
from .process import Fate, Process
from .protocol import FIRST_FORMAT, PRODUCTION, Protocol
from .records import Item, Versions
from .reviewer import Reviewer
from .rules import ISSUE, stages_of
from .weather import Weather
from .worker import Worker
from .worlds import HEAL, LIMIT, RESTARTS, World

WORKER_KEY = ItemKey(Role.WORKER, ISSUE)
SAME, NONE, MIXED = Keyring(99, (OLD,)), Keyring(99), Keyring(99, (NEW, OLD))
WATCH_SECONDS = 120.0
STABLE_SECONDS = 120.0
"""Seconds for which a final state must have lasted, with no request on its way."""
TIDY_SECONDS = 4500.0
"""Seconds of waiting, after it and the last move of a fence, for comments that still say that somebody is at work."""


@dataclass(frozen=True, slots=True)
class Variation:
    """Differences from production: another copy of the lock, or a bug around it."""

    lock: Protocol = PRODUCTION
    labels_decide: bool = False
    frozen_fence: bool = False


ORDINARY = Variation()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one schedule; `digest` differs when anything did."""

    events: int
    counts: Counter[str]
    violations: tuple[str, ...]
    digest: tuple[object, ...]
    story: tuple[str, ...] = ()


class Schedule:
    """Everything of one schedule; `run` is called once."""

    def __init__(self, world: World, seed: int, variation: Variation = ORDINARY, *, told: bool = False) -> None:
        rng = Random(seed)
        self.kernel = Kernel()
        self.variation = variation
        self.journal = Journal([] if told else None)
        self.github = GitHub(rng, world.commit, Weather(rng, world.special), frozen_fence=variation.frozen_fence)
        self.fate = Fate(self.kernel, rng, world, self.github, self.journal)
        self.finished_at = -1.0
        self.crashes = 0
        self.live: list[Agent] = []
        self.world = world
        self.plan = self._draw_plan(rng)
        self._missing = 0
        self._senders = 0
        self._fence: tuple[str, Fence | None] = ("", None)

    def run(self) -> Outcome:
        """Let it happen and judge it."""
        self._open_issue()
        self._man()
        self.kernel.at(HEAL, self._heal)
        self.kernel.at(WATCH_SECONDS, self._watch)
        self.kernel.run(LIMIT)
        found = violations(self, self.world)
        self.journal.counts["fence refused a zombie's push"] += self.github.refused_zombies
        self.journal.counts.update(self.github.weather.met)
        for agent in self.live:
            agent.process.end()
        journal, refs = self.journal, self.github.refs
        digest = (
            self.kernel.events,
            self.kernel.now,
            tuple(sorted(journal.counts.items())),
            tuple(sorted(refs.items())),
        )
        return Outcome(self.kernel.events, journal.counts, tuple(found), digest, tuple(journal.told or ()))

    @property
    def fence(self) -> Fence | None:
        """The worker's fence as it is now."""
        oid = self.github.refs.get(WORKER_KEY.ref, "")
        if oid != self._fence[0]:
            self._fence = oid, read_fence(WORKER_KEY, oid, self.github.messages.get(oid, ""))
        return self._fence[1]

    # Drawing

    def _draw_plan(self, rng: Random) -> Plan:
        long, endless = rng.random() < (0.7 if self.world.special.long_runs else 0.07), rng.random() < 0.3
        return Plan(
            red=60 + 120 * rng.random(),
            green=(3000 if endless else 1900) + 300 * rng.random() if long else 60 + 360 * rng.random(),
            fix=60 + 120 * rng.random(),
            ci=30 + 90 * rng.random(),
            ci_breaks=rng.random() < 0.15,
            review=60 + 240 * rng.random() if rng.random() < 0.2 or self.world.special.one_thread else 0.0,
            parks=self.world.special.parks,
            deletes_branch=rng.random() < 0.5,
            log_characters=rng.choice((20_000, 70_000))
            if rng.random() < (0.7 if self.world.special.limited else 0.003)
            else 0,
            labels_decide=self.variation.labels_decide,
        )

    def _open_issue(self) -> None:
        self.github.items[ISSUE] = Versions(Item(frozenset(), True))
        self.github.add_label(ISSUE, str(Stage.READY), PERSON)
        rng = self.fate.rng
        if rng.random() < 0.005:
            junk = ("not a fence", "x\n\nEngine-Fence: 1\nAck-Id: many\n", "x\n\nEngine-Fence: 1\nAck-Id: 3\n")
            foreign_fence(self.fate, WORKER_KEY.ref, junk[rng.randrange(3)])

    def _man(self) -> None:
        rng = self.fate.rng
        mode = rng.random()
        rings = (SAME,) * 4 if mode < 0.7 else (NONE,) * 4 if mode < 0.85 else (MIXED, SAME, SAME, MIXED)
        People(self.fate, rings[0] is not NONE, self.plan.seconds)
        special, together = self.world.special, rng.random() < 0.5
        for number in range(2 + (rng.random() < 0.5) + (rng.random() < 0.1) + special.old_agents):
            first = 0.0 if special.in_step else rng.random() * (2 if together else 60)
            old = number < special.old_agents
            self._start(self._identity(f"worker-{number}", number + 1, rings[number % 4], first_format=old), first)
        if self.plan.review:
            self._start(self._identity("reviewer-0", 99, rings[0]), rng.random() * 60)
        if rng.random() < 0.1:
            self.kernel.at(rng.random() * self.plan.seconds * 1.2, self._signal)
        if special.copied:
            self.kernel.at(rng.random() * self.plan.seconds * 1.2, self._copy)

    def _identity(self, name: str, serial: int, keys: Keyring, *, first_format: bool = False) -> Identity:
        account = BOT
        if self.world.special.own_edits:
            account = Account(BOT.id + serial % 9, f"engine-{serial % 9}[bot]")
        return Identity(name, Nonces(serial), keys, account, first_format)

    # Lives

    def _start(self, identity: Identity, first: float) -> None:
        self._senders += 1
        process = Process(self.fate, identity.name, self._senders, lambda: self._fall(agent))
        self.journal.agents[self._senders] = identity.name
        self.journal.identities[self._senders] = identity
        self.journal.started[self._senders] = self.kernel.now + first
        lock = FIRST_FORMAT if identity.first_format else self.variation.lock
        duty = (Reviewer if identity.name.startswith("reviewer") else Worker)(lock)
        agent = Agent(self.fate, lock, identity, process, duty, self.plan)
        self.live.append(agent)
        self.journal.say(self.kernel.now, identity.name, "starts")
        process.spawn(agent.run(first))

    def _fall(self, agent: Agent) -> None:
        """Let the agent die here; some time later it is started again, perhaps without its state directory."""
        now, rng, journal = self.kernel.now, self.fate.rng, self.journal
        agent.believes_no_more()
        agent.process.end()
        journal.ended[agent.process.sender] = now
        self.live.remove(agent)
        self.crashes += 1
        self._missing += 1
        journal.counts["crash"] += 1
        journal.last_alive[agent.identity.name] = now
        identity = agent.identity
        if rng.random() < 0.4:
            journal.counts["crash that lost the state directory"] += 1
            serial = 1000 + self.crashes
            name = f"{identity.name.partition('-r')[0]}-r{serial}"
            identity = replace(identity, name=name, nonces=Nonces(serial))
        journal.say(now, agent.identity.name, "crashes")
        shortest, longest = RESTARTS
        self.kernel.at(now + shortest + (longest - shortest) * rng.random(), self._return, identity)

    def _return(self, identity: Identity) -> None:
        self._missing -= 1
        self._start(identity, self.fate.rng.random() * 5)

    def _signal(self) -> None:
        """Restart an agent as planned: the lease is released, then the process ends."""
        if not self.live:
            return
        agent = self.live[self.fate.rng.randrange(len(self.live))]
        self.journal.counts["stop by a signal"] += 1
        self.journal.say(self.kernel.now, agent.identity.name, "is asked to stop")
        agent.shut_down()
        self._missing += 1
        self.kernel.at(self.kernel.now + 30, self._replace, agent)

    def _replace(self, agent: Agent) -> None:
        self._missing -= 1
        if agent in self.live:
            agent.process.end()
            self.journal.ended[agent.process.sender] = self.kernel.now
            self.live.remove(agent)
            self._start(agent.identity, self.fate.rng.random() * 5)

    def _copy(self) -> None:
        """Copy a state directory to another machine while the agent on the first one goes on."""
        holders = [agent for agent in self.live if agent.held is not None] or self.live
        if holders:
            agent = holders[0]
            self.journal.acts.append((self.kernel.now, "state directory copied", 0))
            self.journal.counts["state directory copied"] += 1
            self.journal.say(self.kernel.now, agent.identity.name, "is copied")
            copied = replace(agent.identity, nonces=agent.identity.nonces.copy(500))
            self._start(copied, self.fate.rng.random() * 600)

    # The end

    def _heal(self) -> None:
        self.fate.world = self.world.healed()
        self.github.commit = 0.0
        self.journal.say(self.kernel.now, "the world", "heals")

    def _watch(self) -> None:
        now = self.kernel.now
        if not self.at_rest():
            self.finished_at = -1.0
        elif self.finished_at < 0:
            self.finished_at = now
        elif now - self.finished_at >= STABLE_SECONDS and not self.fate.flying and not self._missing:
            told = not any(last_active(self))
            last = self.github.pushes[-1].at if self.github.pushes else 0.0
            self.kernel.over = told or now - max(self.finished_at, HEAL, last) >= TIDY_SECONDS
        self.kernel.at(now + WATCH_SECONDS, self._watch)

    def at_rest(self) -> bool:
        """Return whether the issue is in a final state, and nobody holds it."""
        if any(agent.held is not None for agent in self.live):
            return False
        item, fence = self.github.items[ISSUE].now, self.fence
        if ISSUE in self.github.gone:
            return True
        if not item.open:
            return not self.plan.review or fence is None or fence.stage is not Stage.REVIEWING or not self._merged()
        stages = stages_of(item.labels)
        if fence is not None and fence.stage is Stage.WITHDRAWN:
            return Stage.READY not in stages
        if not stages and (fence is None or fence.stage is Stage.REVIEWING):
            return self._withdrawn()
        if fence is None and any(oid is None for _, _, oid in self.journal.ref_acts):
            return stages == {Stage.REVIEWING} and not self.plan.review
        if fence is None or fence.stage is not Stage.REVIEWING:
            return False
        # A person who asks again while the pull request is open is told nothing here: its labels lead on.
        return stages == {Stage.READY} or (stages == {expected_labels(fence).issue} and not self.plan.review)

    def _withdrawn(self) -> bool:
        return any(what == "withdrawn by a person" for _, what, _ in self.journal.acts)

    def _merged(self) -> bool:
        return any(pull.merged for pull in self.github.pulls.values())
