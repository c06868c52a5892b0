"""The tools of every phase of an item: its workspace and rules, its prompts, and a coder that edits its tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.to_thread

from config.repository_file import FILE
from shared.commands.discussion import NOTHING_SAID, Discussion, Listening, recorded
from shared.errors import Blocked, RunFailed
from shared.git import objects
from shared.git.patch_policy import matches
from shared.git.workspace import Workspace
from shared.llm.port import Coder, CoderCall, Request, RunLimits, RunOutcome, Usage
from shared.llm.role_router import ROLE_OF_CALL, lowered
from shared.lock.hold import Held
from shared.models import Issue
from shared.newest import Newest
from shared.retry.run_errors import RunEnded, completed
from shared.retry.run_limit import begin_run
from shared.specification import Settings, read
from shared.text.prompts import Prompts, Untrusted
from worker_agent.attached_images import AttachedImages, ImageFetcher, none_shown
from worker_agent.continued_sessions import ContinuedSessions
from worker_agent.failure_artifacts import LastRun, below_state, keep_last
from worker_agent.phase_commits import PhaseCommits, reader
from worker_agent.policy import Policy
from worker_agent.repository_rules import ItemRules, RepositoryRuleReader
from worker_agent.tdd.proof.layout import chosen_suites
from worker_agent.tdd.setup.hooks import Hooks
from worker_agent.tdd.setup.installed import Installed
from worker_agent.tdd.test_runs import TestRuns
from worker_agent.work_context import WorkContext

CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md")
"""Instruction files; read from the base commit only, so that no change can instruct its own author."""

CONVENTIONS_CHARS = 8000


@dataclass(frozen=True, slots=True)
class Attempt:
    """The number of an attempt, its round and its retry; see `shared.llm.port.Request`."""

    attempt: int = 1
    round: int = 0
    retry: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, or None if the cost is unknown, and the source of the figure."""

    usd: float | None
    source: str


@dataclass(slots=True)
class _CallTrees:
    """The trees that one call made of the commit `start`, by the attempt and its topic."""

    call: CoderCall
    start: str
    trees: dict[tuple[Attempt, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OptionalTools:
    """The tools that a repository can do without.

    `listening` selects the comments of an issue that coders are told, `image_fetcher` fetches its images for them,
    `hooks` run around each run of a coder, `rules` are those that repositories have of their own. With `continued`,
    calls continue the program's own session of the last call of their kind.
    """

    listening: Listening | None = None
    image_fetcher: ImageFetcher | None = None
    hooks: Hooks | None = None
    rules: RepositoryRuleReader | None = None
    continued: ContinuedSessions | None = None


class PhaseTools:
    """The tools of every phase: a coder on a throw-away tree, and test runs in clean checkouts."""

    def __init__(
        self,
        phase_commits: PhaseCommits,
        coder: Coder,
        test_runs: TestRuns,
        prompts: Prompts,
        policy: Policy,
        options: OptionalTools | None = None,
    ) -> None:
        options = options or OptionalTools()
        self._listening = options.listening
        self._image_fetcher = options.image_fetcher
        self._hooks = options.hooks
        self._rules = options.rules
        self._continued = options.continued
        self.phase_commits = phase_commits
        self._coder = coder
        self.test_runs = test_runs
        self._prompts = prompts
        self.policy = policy
        self._spent: Newest[int, list[Usage]] = Newest()

    async def tidy(self, numbers: Iterable[int]) -> None:
        """Clean up the disk if it is time; the items `numbers` are in work."""
        if self._continued is not None:
            self._continued.tidy()
        await self.phase_commits.tidy(numbers)

    def ended(self, held: Held) -> None:
        """Forget the sessions of an item whose lease has ended."""
        if self._continued is not None:
            self._continued.ended(held)

    def unshown(self, issue: Issue) -> int:
        """Return how many images of an issue's text no coder is shown, as far as that is known now."""
        fetcher = self._image_fetcher
        return none_shown(issue, NOTHING_SAID).unseen if fetcher is None else fetcher.without(issue)

    async def open(self, held: Held, issue: Issue) -> WorkContext:
        """Return the item's workspace and facts; raise `Misconfigured` if its tests cannot be run at all."""
        base = held.fence.base or await self.phase_commits.base(self.policy.base, held.fence)
        space = await self.phase_commits.open(held.fence)
        paths = await self.phase_commits.mirror.paths(base)
        rules = await self._rules_of(space, base)
        suites = chosen_suites(rules.code.suites, paths, await reader(space, base, paths))
        conventions = await self._conventions(space, base, rules.conventions, paths)
        said = await self._listening.of(issue) if self._listening is not None else NOTHING_SAID
        work = WorkContext(held, issue, read(issue.body), space, base, suites, conventions, rules=rules)
        return replace(work, discussion=said, pictures=await self._pictures(work, said, paths))

    async def _rules_of(self, space: Workspace, base: str) -> ItemRules:
        """Return the rules of the commit that an item began on. Raises `Misconfigured`."""
        if self._rules is None:
            return ItemRules(self.policy.code)
        return self._rules.of((await objects.existing(space.git, base, (FILE,))).get(FILE))

    async def labels(self, base: str) -> tuple[str, ...]:
        """Return the labels for the pull request of an item that began on `base`. Raises `Misconfigured`."""
        if self._rules is None:
            return self.policy.pulls.labels
        (content,) = await self.phase_commits.mirror.contents(base, (FILE,))
        return self._rules.of(content).labels

    async def _conventions(self, space: Workspace, base: str, more: Sequence[str], paths: Sequence[str]) -> str:
        """Return the instruction files of the base, the usual ones first."""
        wanted = [*CONVENTIONS, *(path for path in paths if matches(path, tuple(more)))]
        found = await objects.existing(space.git, base, list(dict.fromkeys(wanted)))
        told = [found[name].decode("utf-8", "replace") for name in dict.fromkeys(wanted) if name in found]
        return "\n\n".join(told)[:CONVENTIONS_CHARS]

    async def _pictures(self, work: WorkContext, discussion: Discussion, paths: Sequence[str]) -> AttachedImages:
        if self._image_fetcher is None:
            return none_shown(work.issue, discussion)
        return await self._image_fetcher.of(work.issue, discussion, work.space.root / "images", paths)

    def prompt(self, name: str, work: WorkContext, **variables: str | Untrusted) -> str:
        """Render a prompt of this agent; text from strangers goes in as `Untrusted`."""
        return self._prompts.render(
            name, title=Untrusted(work.issue.title), specification=Untrusted(work.text), **variables
        )

    async def edit(self, work: WorkContext, call: CoderCall, start: str, turn: Attempt, prompt: str) -> str:
        """Let the model change the tree of commit `start`; return the tree object of the result.

        The tree of each attempt of a call on `start` is kept as long as the lease, until another call or start: if a
        write or a later attempt fails, no run is paid twice. Raises `RunFailed` or `RunEnded` if the run itself failed,
        `RunsUsedUp` if too many runs were begun.
        """
        memory = work.held.memory
        known = memory.get(_CallTrees)
        if known is None or (known.call, known.start) != (call, start):
            known = _CallTrees(call, start)
        if (turn, work.topic) in known.trees:
            return known.trees[turn, work.topic]
        await begin_run(work.held, more=recorded(work.held.fence, work.discussion))
        tree_root = await work.space.reset_tree(start)
        installed = await self.test_runs.bench_of(work).equip(tree_root, work.suites[0].directory)
        if self._hooks is not None:
            await self._hooks.before(work.space.root, tree_root, work.issue.number)
        shown = await work.pictures.lay(tree_root)
        request = replace(self._request(work, call, turn, prompt, tree_root), readable=installed.readable, images=shown)
        if work.allowed:  # the patch policy keeps the rest of what is protected
            request = replace(request, protected=())
        if self._continued is not None and (self._hooks is None or not self._hooks.follow):
            request = replace(request, continues=await self._continued.of(work, call, start))
        outcome = await self._run(work, request, start, installed)
        self._spent.setdefault(work.issue.number, []).append(outcome.usage)
        await self._settle(work, outcome, call, start)
        tree = await work.space.capture(start)
        if request.continues is not None:
            await anyio.to_thread.run_sync(request.continues.leave, tree)
        memory.keep(LastRun(work.space, start, tree, request, outcome))
        memory.keep(known).trees[turn, work.topic] = tree
        return tree

    def _request(self, work: WorkContext, call: CoderCall, turn: Attempt, prompt: str, tree_root: Path) -> Request:
        return Request(
            call=call,
            item=f"#{work.issue.number}",
            title=work.title,
            body=work.issue.body,
            role=ROLE_OF_CALL[call],
            prompt=prompt,
            tree=tree_root,
            attempt=turn.attempt,
            round=turn.round,
            retry=turn.retry,
            size=work.specification.size or "",
            ladder=work.rules.ladder,
            limits=bounded(lowered(self.policy.runs.limits_of(call), work.rules.limits), work.specification.settings),
        )

    async def _settle(self, work: WorkContext, outcome: RunOutcome, call: CoderCall, start: str) -> None:
        """Raise an error for a run that did not complete; its changes so far are kept on disk."""
        try:
            completed(outcome, call)
        except (RunFailed, RunEnded) as error:
            patch = await self.phase_commits.rescue(work.held.fence, work.space, start)
            left = [f"`{below_state(path)}`" for path in (patch, outcome.log) if path is not None]
            if left:
                error.kept = f"{' and '.join(left)} in the state directory of {work.held.fence.agent}"
            raise

    async def _run(self, work: WorkContext, request: Request, start: str, installed: Installed) -> RunOutcome:
        """Run the coder once, then remove our files from the tree; if the run is cut off, keep its changes on disk."""
        try:
            outcome = await self._coder.run(request)
        except anyio.get_cancelled_exc_class():
            installed.withdraw(work.space.tree / installed.directory)
            await self.phase_commits.rescue(work.held.fence, work.space, start)
            raise
        installed.withdraw(work.space.tree / installed.directory)
        if self._hooks is not None:
            await self._hooks.after(work.space.root, work.space.tree, work.issue.number)
        return outcome

    async def keep_last(self, held: Held, error: Blocked) -> None:
        """Keep the result of an item's last run on disk when the item is given up, and name the place in the error."""
        last = held.memory.take(LastRun)
        if last is None or error.kept or (last.start != held.fence.work_head and held.fence.work_head):
            return
        directory = self.phase_commits.kept(held.fence)
        if await keep_last(last, error, directory, self.phase_commits.keys.outgoing):
            error.kept = f"`{below_state(directory)}` in the state directory of {held.fence.agent}"

    def closing_text(self, held: Held, tree: str) -> str:
        """Return the coder's closing words of an item's last run; empty unless that run made `tree`."""
        last = held.memory.get(LastRun)
        return last.outcome.text if last is not None and last.tree == tree else ""

    def take_spent(self, number: int) -> Cost:
        """Return the cost of an item's runs since the last call of this method; unknown as soon as one of them is."""
        runs = self._spent.pop(number, [])
        known = [usage.cost_usd for usage in runs if usage.cost_usd is not None]
        sources = ", ".join(sorted({usage.cost_source for usage in runs}))
        return Cost(sum(known), sources) if len(known) == len(runs) else Cost(None, "unknown")


def bounded(limits: RunLimits, settings: Settings) -> RunLimits:
    """Return the configured limits of a run, lowered to those of a specification; it can raise none of them."""
    if settings.timeout_minutes is not None:
        limits = replace(limits, deadline_seconds=min(limits.deadline_seconds, settings.timeout_minutes * 60.0))
    if settings.max_budget_usd is not None:
        limits = replace(limits, budget_usd=min(limits.budget_usd, settings.max_budget_usd))
    return limits
