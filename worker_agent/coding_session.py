"""A session of a model and the tests on one item: edits happen in `tree`, test runs in clean checkouts only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from shared.commands.discussion import NOTHING_SAID, Discussion, Listening, recorded
from shared.errors import Blocked, RunFailed
from shared.git.patch_policy import matches
from shared.git.workspace import Workspace
from shared.llm.port import Coder, CoderCall, Request, RunOutcome, Usage
from shared.llm.role_router import ROLE_OF_CALL, lowered
from shared.lock.hold import Held
from shared.models import Issue
from shared.newest import Newest
from shared.retry.run_errors import RunEnded, completed
from shared.retry.run_limit import begin_run
from shared.specification import read
from shared.text.prompts import Prompts, Untrusted
from worker_agent.attached_images import AttachedImages, ImageFetcher, none_shown
from worker_agent.continued_sessions import ContinuedSessions
from worker_agent.failure_artifacts import LastRun, below_state, keep_last
from worker_agent.known_runs import KnownRuns
from worker_agent.patch_check import policy_of
from worker_agent.phase_commits import PhaseCommits, reader, texts
from worker_agent.policy import Policy
from worker_agent.prompt_inputs import bounded
from worker_agent.repository_rules import FILE, ItemRules, RepositoryRuleReader
from worker_agent.tdd.judging.files import is_test_file
from worker_agent.tdd.proof.base_run_cache import BaseRuns
from worker_agent.tdd.proof.change import load
from worker_agent.tdd.proof.execution import NOTHING_OVER, Execution, Overlay
from worker_agent.tdd.proof.layout import Layout
from worker_agent.tdd.proof.subject import Run, pinned_by
from worker_agent.tdd.proof.suites import chosen_suites
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.tdd.setup.hooks import Hooks
from worker_agent.tdd.setup.installed import Installed
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
class _Made:
    """The trees that one call made of the commit `start`, by the attempt and its topic."""

    call: CoderCall
    start: str
    trees: dict[tuple[Attempt, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The parts of a session that it can do without; without `base_runs`, each process runs the suite of a base once.

    `listening` selects the comments of an issue that coders are told, `image_fetcher` fetches its images for them,
    `hooks` run around each run of a coder, `rules` are those that repositories have of their own. With `continued`,
    calls continue the program's own session of the last call of their kind.
    """

    listening: Listening | None = None
    image_fetcher: ImageFetcher | None = None
    hooks: Hooks | None = None
    rules: RepositoryRuleReader | None = None
    continued: ContinuedSessions | None = None
    base_runs: BaseRuns = field(default_factory=lambda: BaseRuns(None))


class CodingSession:
    """The tools of every phase: a coder on a throw-away tree, and a bench for clean checkouts."""

    def __init__(
        self,
        phase_commits: PhaseCommits,
        coder: Coder,
        bench: TestBench,
        prompts: Prompts,
        policy: Policy,
        options: SessionOptions | None = None,
    ) -> None:
        options = options or SessionOptions()
        self._listening = options.listening
        self._image_fetcher = options.image_fetcher
        self._hooks = options.hooks
        self._rules = options.rules
        self._continued = options.continued
        self._base_runs = options.base_runs
        self.phase_commits = phase_commits
        self._coder = coder
        self.bench = bench
        self._prompts = prompts
        self.policy = policy
        self._runs = KnownRuns()
        self._spent: Newest[int, list[Usage]] = Newest()
        self._whole: Newest[int, int] = Newest()

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
        return self._rules.of((await texts(space, base, (FILE,))).get(FILE))

    async def labels(self, base: str) -> tuple[str, ...]:
        """Return the labels for the pull request of an item that began on `base`. Raises `Misconfigured`."""
        if self._rules is None:
            return self.policy.pulls.labels
        (content,) = await self.phase_commits.mirror.contents(base, (FILE,))
        return self._rules.of(content).labels

    async def _conventions(self, space: Workspace, base: str, more: Sequence[str], paths: Sequence[str]) -> str:
        """Return the instruction files of the base, the usual ones first."""
        wanted = [*CONVENTIONS, *(path for path in paths if matches(path, tuple(more)))]
        found = await texts(space, base, dict.fromkeys(wanted))
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
        made = memory.get(_Made)
        if made is None or (made.call, made.start) != (call, start):
            made = _Made(call, start)
        if (turn, work.topic) in made.trees:
            return made.trees[turn, work.topic]
        await begin_run(work.held, more=recorded(work.held.fence, work.discussion))
        tree_root = await work.space.reset_tree(start)
        installed = await self.bench_of(work).equip(tree_root, work.suites[0].directory)
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
        memory.keep(made).trees[turn, work.topic] = tree
        return tree

    def bench_of(self, work: WorkContext) -> TestBench:
        """Return the bench for an item; its set-up takes the files of the commit that the item began on."""
        export = partial(work.space.export, work.held.fence.base or work.base)
        if self._rules is None:
            return self.bench.based(export)
        return self.bench.based(export).setting_up(work.rules.setup_command)

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

    def take_suite_runs(self, number: int) -> int:
        """Return how often a whole suite ran for an item in this process since the last call of this method."""
        return self._whole.pop(number, 0)

    async def test(
        self, work: WorkContext, commit_or_tree: str, over: Overlay = NOTHING_OVER, *, since: str = ""
    ) -> TestRun:
        """Run all tests of exactly this commit or tree in a fresh checkout; once per tree.

        `since` is the commit or tree that others answer for; everything that differs from it was made by the engine.
        Files that control the run have the version that they had in `since`. Raises `PatchRefused` before set-up or
        tests run anything of a tree that the patch policy refuses.
        """
        tree = await work.space.tree_of(commit_or_tree)
        over = replace(over, files={**await self._pinned_files(work, since or work.base, tree), **over.files})
        return await self._run_tests(work, tree, over, None, None, since=since)

    def _count_whole(self, work: WorkContext) -> None:
        self._whole[work.issue.number] = self._whole.get(work.issue.number, 0) + 1

    async def test_base(self, work: WorkContext, commit: str = "") -> TestRun:
        """Return the test run of the item's base, or of another commit of its base branch: run once on this machine."""
        tree = await work.space.tree_of(commit or work.base)
        key = (tree, self._commands(work), "base")
        known = self._runs.find(key)
        if known is None:
            execution = self._execution(work)
            about = (*self._commands(work), self.bench_of(work).circumstances)

            async def run() -> TestRun:
                self._count_whole(work)
                return await execution.run(tree)

            known = self._runs.keep(key, await self._base_runs.of(tree, about, run))
        return known

    def runs(self, work: WorkContext) -> Run:
        """Return the function that runs the tests of trees for a proof; only runs of damaged code are not cached."""

        async def run(tree: str, over: Overlay, selection: Selection | None, deadline: float | None) -> TestRun:
            return await self._run_tests(work, tree, over, selection, deadline)

        return run

    async def _run_tests(
        self,
        work: WorkContext,
        commit_or_tree: str,
        over: Overlay,
        selection: Selection | None,
        deadline: float | None,
        since: str = "",
    ) -> TestRun:
        tree = await work.space.tree_of(commit_or_tree)
        key = (tree, self._commands(work), over.digest, selection)
        known = self._runs.find(key)
        if known is None:
            policy = policy_of(work.specification, work.allowed)
            since = since or await self.phase_commits.history.judged_from(work.held.fence, work.base)
            await self.phase_commits.judge(work.held.fence, work.space, since, tree, policy)
            if selection is None:
                self._count_whole(work)
            known = await self._execution(work).run(tree, over, selection, deadline)
            if deadline is None:  # damaged code is run once
                known = self._runs.keep(key, known)
        return known

    async def _pinned_files(self, work: WorkContext, since: str, tree: str) -> dict[str, bytes | None]:
        """Return the pinned versions of files that control the run: a tree cannot choose them itself."""
        change = await load(work.space, since, tree, Layout(work.suites, work.rules.code.test_files), ())
        return pinned_by(change, work.specification)

    def _execution(self, work: WorkContext) -> Execution:
        return Execution(self.bench_of(work), work.suites, work.space, work.specification.files)

    def _commands(self, work: WorkContext) -> tuple[str, ...]:
        return tuple(f"{suite.directory}: {suite.choice.test_command}" for suite in work.suites)

    async def test_files(self, work: WorkContext, commit_or_tree: str) -> dict[str, bytes]:
        """Return the test files of a commit or tree that differ from the item's base, with their content there."""
        changed = {change.path for change in await work.space.changes(work.base, commit_or_tree)}
        return await texts(work.space, commit_or_tree, {path for path in changed if is_test_file(path)})
