"""Every sentence the worker posts: pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.commands.command_rules import offered
from shared.errors import Blocked, Misconfigured, NotAllowed
from shared.git.names import work_branch
from shared.github.status import Status
from shared.lock.record import Fence
from shared.models import PullRequest
from shared.text import neutralise, one_line, printable
from shared.workflow import Stage, Track
from shared.workflow.labels import Labels

OF_THE_MACHINE = frozenset({Misconfigured.category, NotAllowed.category, "WORKFLOW_ABORTED"})
"""Categories of failures about which nothing is to be done in the issue."""


def branch(fence: Fence) -> str:
    """The work branch of an issue."""
    return fence.branch or work_branch(fence.key.number)


def commit_message(subject: str, *, fence: Fence, phase: str) -> str:
    """A commit message with the trailers by which phases are found again."""
    trailers = {
        "Issue": f"#{fence.key.number}",
        "Agent": fence.agent,
        "Run": fence.nonce[:12],
        "Phase": phase,
        "Round": str(fence.round),
    }
    return f"{neutralise(one_line(subject, 100))}\n\n" + "".join(
        f"{name}: {value}\n" for name, value in trailers.items()
    )


def _where(fence: Fence) -> tuple[tuple[str, str], ...]:
    rows = [("Stage", fence.stage), ("Agent", fence.agent), ("Attempts", str(fence.attempt))]
    if fence.round:
        rows.append(("Review round", str(fence.round)))
    if fence.pr:
        rows.append(("Pull request", f"#{fence.pr}"))
    return tuple(rows)


def _data(fence: Fence, **more: object) -> dict[str, object]:
    return {"stage": fence.stage, "holder": fence.agent, "attempts": fence.attempt, **more}


def progress(fence: Fence, sentence: str, notes: str = "", **more: object) -> Status:
    """Where an item stands, in one sentence; `more` is for machines."""
    return Status(sentence, _where(fence), _data(fence, **more), notes)


def tests_written(
    fence: Fence, new_tests: Sequence[str], left_out: Sequence[str], criterion: str, pictures: int
) -> Status:
    """The red phase is done, of one `criterion` or of all; `left_out` says of each test that was not taken why.

    `pictures` counts the images of the issue that no coder was shown.
    """
    count = len(new_tests)
    names = ", ".join(f"`{one_line(name, 120)}`" for name in new_tests[:5])
    return Status(
        f"{count} new test{'s' * (count != 1)} written; failing as expected. Implementing now.",
        (
            *_where(fence),
            *((("Criterion", criterion),) if criterion else ()),
            ("New tests", names),
            *((("Images", f"{pictures}, not shown to the coder: put what matters into words"),) if pictures else ()),
        ),
        _data(fence, new_tests=list(new_tests)),
        f"Not used:\n{_list(left_out)}" if left_out else "",
    )


def attempt_failed(fence: Fence, limit: int, details: Sequence[str]) -> Status:
    """An implementation did not pass; another one follows or not."""
    sentence = f"Attempt {fence.attempt} of {limit} did not pass the tests."
    return Status(sentence, _where(fence), _data(fence, error=list(details[:5])), _list(details))


def refactoring_waits(fence: Fence, diff: str) -> Status:
    """Tests pass, and a person says whether the refactoring is published with them."""
    shown = "\n".join(f"    {line}" for line in printable(diff).splitlines())
    look = f"`git fetch origin {fence.key.ref} && git show {fence.work_head[:12]}`"
    return Status(
        "Tests pass. A refactoring waits for your approval before the pull request is opened.",
        _where(fence),
        _data(fence, waiting={"why": "approval", "since": fence.at.isoformat()}),
        "**What to do:** comment `/approve` to take the refactoring, or `/reject <reason>` to continue without it. "
        f"The whole commit: {look}.\n\n{shown}",
    )


def waiting_for_ci(fence: Fence) -> Status:
    """The pull request is open."""
    return Status(
        f"Tests pass. Waiting for CI on #{fence.pr} since {fence.at:%H:%M} UTC.",
        _where(fence),
        _data(fence, waiting={"why": "ci", "since": fence.at.isoformat()}),
    )


def edited(fence: Fence) -> Status:
    """Somebody who may write has edited the issue; nothing has to be asked for again."""
    said = "The issue was edited by somebody with write access: from here on it is worked on as it reads now."
    if fence.stage is not Stage.TESTING or not fence.pr:
        return progress(fence, said)
    waits = waiting_for_ci(fence)
    return replace(waits, sentence=f"{said} {waits.sentence}")


def nothing_left(fence: Fence, base: str) -> Status:
    """The base has the work already, so there is no pull request to open."""
    sentence = f"Done without a pull request: `{base}` has {fence.work_head[:12]} already."
    return Status(sentence, _where(fence), _data(fence))


def handed_over(fence: Fence) -> Status:
    """CI is green, review begins."""
    return Status(f"CI is green; #{fence.pr} waits for review.", _where(fence), _data(fence))


def given_up(fence: Fence, error: Blocked, kept: str, names: Labels, tries: Sequence[str] = ()) -> Status:
    """Needs a maintainer; what is proposed depends on whether there is a pull request to go on from.

    `tries` is what was tried before, one line of Markdown each.
    """
    again = f"set the label `{names.of(Stage.READY)}` on the issue again to start over"
    if fence.pr:
        further = f"set the label `{names.of(Stage.CHANGES_REQUESTED)}` on #{fence.pr} to continue on its branch"
        again = f"{further}; or close #{fence.pr} and {again}"
    left = f"{kept}; {error.kept}" if error.kept else kept
    todo = error.advice if "/retry" in error.advice else f"{_first(error)}then {again}."
    lines = [f"**What was kept:** {left}", f"**What to do:** {todo}"]
    lines += ["**What was tried:**\n\n" + "\n".join(f"- {one}" for one in tries)] if tries else []
    lines += [error.diagnosis] if error.diagnosis else []
    lines += [offered(Track.SPECIFICATION, fence.stage)]
    rows = (*_where(fence), ("Category", error.category), ("Failed runs", fence.failures or "none"))
    sentence = str(error).removeprefix(f"{error.category}: ")  # which has a row of its own
    return Status(sentence, rows, _data(fence, error=str(error), category=error.category), "\n\n".join(lines))


def _first(error: Blocked) -> str:
    """What is done about the cause, which is not always in the specification."""
    if error.category in OF_THE_MACHINE:
        advice = error.advice or "Correct the configuration file of the agent, which `workflow-engine doctor` tries"
        return f"{advice.rstrip('.')}; "
    if error.advice:
        or_else = ", or" if error.advice.endswith(";") else f"{error.advice[-1]} Or"
        return f"{error.advice[:-1]}{or_else} correct the specification or the code; "
    return "correct the specification or the code, "


def passed_on(fence: Fence) -> Status:
    """Another role has the next step."""
    return Status(f"Waiting for an agent with the role {fence.next_role}.", _where(fence), _data(fence))


def waiting(fence: Fence, sentence: str) -> Status:
    """A run failed and is repeated later, by whichever agent comes first then."""
    until = f"{fence.wait.until:%Y-%m-%d %H:%M} UTC" if fence.wait else "the next look"
    why = {"why": fence.wait.reason, "until": fence.wait.until.isoformat()} if fence.wait else {}
    told = f"Waiting until {until}, this uses no attempt: {one_line(sentence, 400)}"
    return Status(told, _where(fence), _data(fence, waiting=why, failures=fence.failures))


def unusable(fence: Fence, error: Misconfigured) -> Status:
    """The configuration lets nothing of this repository begin; the issue is as good as any other."""
    notes = (
        "**What to do:** correct the configuration file of the agent: `test_command`, or whatever it names. "
        "`workflow-engine doctor` tries it there. This issue then continues by itself within ten minutes, "
        "or at once with `/retry`; its text needs no change. No other issue here is started until then."
    )
    data = _data(fence, error=str(error), category=error.category, waiting={"why": "configuration"})
    return Status(f"Not started: {error}", (*_where(fence), ("Category", error.category)), data, notes)


def paused(fence: Fence) -> Status:
    """A person paused it."""
    return Status("Paused. Remove the label to continue.", _where(fence), _data(fence))


def withdrawn(
    fence: Fence,
    reason: str,
    names: Labels,
    *,
    pull_request: PullRequest | None = None,
    locked: bool = False,
    remains: bool | None = None,
) -> Status:
    """A person stopped it; how to go on depends on whether its pull request is still open, and it is `locked`.

    `remains`: whether its branch is still there, None when that is not known.
    """
    unlock = "unlock this issue, then " if locked else ""
    notes = f"**What to do:** {unlock}{_afterwards(fence, names, pull_request)}"
    kept = f" The branch `{branch(fence)}` is kept." if remains else ""
    return Status(f"Stopped: {reason}.{kept}", _where(fence), _data(fence), notes)


def ready_in_vain(fence: Fence, names: Labels, pull_request: PullRequest) -> Status:
    """Work that was stopped is asked for again, by a label that counts only without an open pull request."""
    return Status(
        f"`{names.of(Stage.READY)}` starts nothing here while #{pull_request.number} is open.",
        _where(fence),
        _data(fence, waiting={"why": "pull request open"}),
        f"**What to do:** {_afterwards(fence, names, pull_request)}",
    )


def opened_again(names: Labels) -> str:
    """The reply on a pull request that somebody has opened again without saying what for."""
    return (
        "This is open again, and no label says what is wanted, so the engine does nothing here.\n\n**What to do:** set "
        f"`{names.of(Stage.CHANGES_REQUESTED)}` here to have it changed, or `{names.of(Stage.REVIEWING)}` to have it "
        "reviewed as it is."
    )


def _afterwards(fence: Fence, names: Labels, pull_request: PullRequest | None) -> str:
    """The ways on from a stop."""
    ready = f"set `{names.of(Stage.READY)}` on this issue"
    if pull_request is not None and pull_request.open:
        asks, which = names.of(Stage.REVIEWING), f"on this issue and on #{pull_request.number}"
        review = f"set `{asks}` {which} to have it reviewed as it is"
        return f"{review}; or close it and {ready} to start again."
    return f"{ready} to start again."


def pull_request_closed(fence: Fence, names: Labels, *, remains: bool | None = True) -> Status:
    """A person closed the pull request without merging it; nothing is reopened, and it is asked how to go on.

    `remains`: whether its branch is still there, None when that is not known. GitHub reopens nothing without it.
    """
    where = branch(fence)
    changes, ready = names.of(Stage.CHANGES_REQUESTED), names.of(Stage.READY)
    kept = f" The branch `{where}` is kept." if remains else ""
    restored = ""
    if remains is False:
        kept = f" The branch `{where}` was deleted."
        restored = f"restore the branch `{where}` (#{fence.pr} has a button for it), then "
    steps = (
        f"{restored}reopen #{fence.pr} and set `{changes}` on it to have it changed, or "
        f"`{names.of(Stage.REVIEWING)}` to have it reviewed; or set `{ready}` on this issue to start over; "
        "or close this issue if it is not wanted any more."
    )
    return Status(
        f"Stopped: #{fence.pr} was closed without being merged.{kept}",
        _where(fence),
        _data(fence, waiting={"why": "pull request closed"}),
        f"**What to do:** {steps}",
    )


def _list(details: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(detail, 300)}" for detail in details[:10])
