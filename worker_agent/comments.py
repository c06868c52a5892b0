"""The worker's sentences on an issue and about its run: pure functions from facts to Markdown.

Those of one room are there: `branch/comments.py`, `ci/ci_comments.py`, `feedback/status_text.py`,
`intake/intake_comments.py`; what a pull request says: `pull_request_body.py`; a failure: its error in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.commands.command_rules import offered
from shared.errors import Blocked, Misconfigured, NotAllowed
from shared.git.names import work_branch
from shared.github.status import Status, before_any_label, waiting_status
from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.text import neutralise, one_line, printable
from shared.workflow import Stage, Track
from shared.workflow.labels import Labels
from worker_agent.decide import NextStep
from worker_agent.errors import Aborted

OF_THE_MACHINE = frozenset({Misconfigured.category, NotAllowed.category, "WORKFLOW_ABORTED"})
"""Categories of failures that cannot be solved by changing the issue."""

BEGINNINGS: Mapping[str, str] = {
    NextStep.RED: "writing the tests",
    NextStep.GREEN: "writing the code",
    NextStep.REFACTOR: "tidying up the code",
    NextStep.CONFIRMED: "tidying up the code",
    NextStep.DECLINED: "tidying up the code",
    NextStep.FIX: "repairing what CI reports",
    NextStep.FEEDBACK: "answering the review",
    NextStep.TEXT: "bringing the change in line with the edited issue",
    NextStep.ANSWER: "posting its answers to the review",
    NextStep.CI: "reading what CI reports",
    NextStep.BASE: "merging the base branch",
    NextStep.ROUNDS: "handing over to a maintainer, after the last round of review",
}
"""The words for the work that an epoch begins with, by the fence's phase at `implementing`."""

_ATTEMPTED = frozenset({NextStep.RED, NextStep.GREEN})
"""The phases whose attempts the fence counts."""


def beginning(fence: Fence, *, most: int) -> str:
    """Return the words for the work of an epoch, for example "writing the tests, attempt 1 of 3"; empty if unknown.

    `most` is how many attempts the worker has; the fence counts those that are over.
    """
    if fence.stage is Stage.TESTING:
        return "watching CI"
    if fence.stage is not Stage.IMPLEMENTING:
        return ""
    phase = fence.phase or NextStep.RED
    what = BEGINNINGS.get(phase, "writing the change")
    return f"{what}, attempt {min(fence.attempt + 1, most)} of {most}" if phase in _ATTEMPTED else what


def branch(fence: Fence) -> str:
    """Return the name of an issue's work branch."""
    return fence.branch or work_branch(fence.key.number)


def commit_message(subject: str, *, fence: Fence, phase: str) -> str:
    """Return a commit message with the trailers by which phases are found again."""
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
    """Return the state of an item in one sentence; `more` is for programs."""
    return Status(sentence, _where(fence), _data(fence, **more), notes)


def tests_written(
    fence: Fence, new_tests: Sequence[str], left_out: Sequence[str], criterion: str, pictures: int
) -> Status:
    """Return the status after the red phase of one `criterion`, or of all of them.

    `left_out` gives the reason for each test that was not taken. `pictures` counts the images of the issue that no
    coder was shown.
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


def activated(fence: Fence, test: str, *, passes: bool) -> Status:
    """Return the status after a pending test was activated; `passes`: True if it needs no code."""
    then = "passes at once: its activation alone is published." if passes else "fails as it should. Implementing now."
    return progress(fence, f"The pending test was activated and {then}", test=test)


def attempt_failed(fence: Fence, limit: int, details: Sequence[str]) -> Status:
    """Return the status after an implementation that did not pass; another one may follow."""
    sentence = f"Attempt {fence.attempt} of {limit} did not pass the tests."
    return progress(fence, sentence, _list(details), error=list(details[:5]))


def refactoring_waits(fence: Fence, diff: str) -> Status:
    """Return the status while a refactoring with passing tests waits for a person's decision."""
    shown = "\n".join(f"    {line}" for line in printable(diff).splitlines())
    look = f"`git fetch origin {fence.key.ref} && git show {fence.work_head[:12]}`"
    return progress(
        fence,
        "Tests pass. A refactoring waits for your approval before the pull request is opened.",
        "**What to do:** comment `/approve` to take the refactoring, or `/reject <reason>` to continue without it. "
        f"The whole commit: {look}.\n\n{shown}",
        waiting={"why": "approval", "since": fence.at.isoformat()},
    )


def waiting_for_ci(fence: Fence) -> Status:
    """Return the status of an open pull request that waits for CI."""
    sentence = f"Tests pass. Waiting for CI on #{fence.pr} since {fence.at:%H:%M} UTC."
    return progress(fence, sentence, waiting={"why": "ci", "since": fence.at.isoformat()})


def edited(fence: Fence) -> Status:
    """Return the status after a person with write access edited the issue; nobody has to ask for the work again."""
    said = "The issue was edited by somebody with write access: from here on it is worked on as it reads now."
    if fence.stage is not Stage.TESTING or not fence.pr:
        return progress(fence, said)
    waits = waiting_for_ci(fence)
    return replace(waits, sentence=f"{said} {waits.sentence}")


def nothing_left(fence: Fence, base: str) -> Status:
    """Return the status if the base has the work already, so that there is no pull request to open."""
    return progress(fence, f"Done without a pull request: `{base}` has {fence.work_head[:12]} already.")


def handed_over(fence: Fence) -> Status:
    """Return the status when CI is green and review begins."""
    return progress(fence, f"CI is green; #{fence.pr} waits for review.")


def given_up(fence: Fence, error: Blocked, kept: str, names: Labels, attempts: Sequence[str] = ()) -> Status:
    """Return the status that asks for a maintainer; the advice depends on whether a pull request exists.

    `attempts` is what was tried before, one line of Markdown each.
    """
    again = f"set the label `{names.of(Stage.READY)}` on the issue again to start over"
    if fence.pr:
        further = f"set the label `{names.of(Stage.CHANGES_REQUESTED)}` on #{fence.pr} to continue on its branch"
        again = f"{further}; or close #{fence.pr} and {again}"
    left = f"{kept}; {error.kept}" if error.kept else kept
    todo = error.advice if "/retry" in error.advice else f"{_first(error)}then {again}."
    lines = [f"**What was kept:** {left}", f"**What to do:** {todo}"]
    lines += ["**What was tried:**\n\n" + "\n".join(f"- {one}" for one in attempts)] if attempts else []
    lines += [error.diagnosis] if error.diagnosis else []
    lines += [offered(Track.SPECIFICATION, fence.stage)]
    rows = (*_where(fence), ("Category", error.category), ("Failed runs", fence.failures or "none"))
    sentence = str(error).removeprefix(f"{error.category}: ")  # which has a row of its own
    return Status(sentence, rows, _data(fence, error=str(error), category=error.category), "\n\n".join(lines))


def _first(error: Blocked) -> str:
    """Return the advice for removing the cause, which is not always in the specification."""
    if error.category in OF_THE_MACHINE or (isinstance(error, Aborted) and not error.of_text):
        advice = error.advice or "Correct the configuration file of the agent, which `workflow-engine doctor` tries"
        return f"{advice.rstrip('.')}; "
    if error.advice:
        or_else = ", or" if error.advice.endswith(";") else f"{error.advice[-1]} Or"
        return f"{error.advice[:-1]}{or_else} correct the specification or the code; "
    return "correct the specification or the code, "


def passed_on(fence: Fence) -> Status:
    """Return the status while the next step waits for an agent of another role."""
    return progress(fence, f"Waiting for an agent with the role {fence.next_role}.")


def waiting(fence: Fence, sentence: str) -> Status:
    """Return the status after a failed run."""
    return waiting_status(fence, sentence, _where(fence), _data(fence))


def unusable(fence: Fence, error: Misconfigured) -> Status:
    """Return the status of an issue whose repository cannot be worked on because of its configuration."""
    notes = (
        "**What to do:** correct the configuration file of the agent: `test_command`, or whatever it names. "
        "`workflow-engine doctor` tries it there. This issue then continues by itself within ten minutes, "
        "or at once with `/retry`; its text needs no change. No other issue here is started until then."
    )
    data = _data(fence, error=str(error), category=error.category, waiting={"why": "configuration"})
    return Status(f"Not started: {error}", (*_where(fence), ("Category", error.category)), data, notes)


def paused(fence: Fence) -> Status:
    """Return the status of an item that a person paused."""
    return progress(fence, "Paused. Remove the label to continue.")


def withdrawn(
    fence: Fence,
    reason: str,
    names: Labels,
    *,
    pull_request: PullRequest | None = None,
    issue: Issue | None = None,
    remains: bool | None = None,
) -> Status:
    """Return the status after a person stopped the work.

    The advice depends on whether its pull request is still open, and whether the `issue` is closed or locked.
    `remains`: True if its branch still exists, None if that is unknown.
    """
    notes = f"**What to do:** {before_any_label(issue)}{_afterwards(names, pull_request)}"
    kept = f" The branch `{branch(fence)}` is kept." if remains else ""
    return progress(fence, f"Stopped: {reason}.{kept}", notes)


def ready_in_vain(fence: Fence, names: Labels, pull_request: PullRequest) -> Status:
    """Return the status if `ready` was set on stopped work; that label counts only without an open pull request."""
    sentence = f"`{names.of(Stage.READY)}` starts nothing here while #{pull_request.number} is open."
    notes = f"**What to do:** {_afterwards(names, pull_request)}"
    return progress(fence, sentence, notes, waiting={"why": "pull request open"})


def opened_again(names: Labels) -> str:
    """Return the reply on a pull request that a person opened again without asking for anything."""
    return (
        "This is open again, and no label says what is wanted, so the engine does nothing here.\n\n**What to do:** set "
        f"`{names.of(Stage.CHANGES_REQUESTED)}` here to have it changed, or `{names.of(Stage.REVIEWING)}` to have it "
        "reviewed as it is."
    )


def _afterwards(names: Labels, pull_request: PullRequest | None) -> str:
    """Return how to continue after a stop."""
    ready = f"set `{names.of(Stage.READY)}` on this issue"
    if pull_request is not None and pull_request.open:
        asks, which = names.of(Stage.REVIEWING), f"on this issue and on #{pull_request.number}"
        review = f"set `{asks}` {which} to have it reviewed as it is"
        return f"{review}; or close it and {ready} to start again."
    return f"{ready} to start again."


def pull_request_closed(fence: Fence, names: Labels, *, remains: bool | None = True) -> Status:
    """Return the status after a person closed the pull request unmerged: nothing is reopened; people are asked.

    `remains`: True if its branch still exists, None if that is unknown. GitHub reopens no pull request without it.
    """
    branch_name = branch(fence)
    changes, ready = names.of(Stage.CHANGES_REQUESTED), names.of(Stage.READY)
    kept = f" The branch `{branch_name}` is kept." if remains else ""
    restored = ""
    if remains is False:
        kept = f" The branch `{branch_name}` was deleted."
        restored = f"restore the branch `{branch_name}` (#{fence.pr} has a button for it), then "
    steps = (
        f"{restored}reopen #{fence.pr} and set `{changes}` on it to have it changed, or "
        f"`{names.of(Stage.REVIEWING)}` to have it reviewed; or set `{ready}` on this issue to start over; "
        "or close this issue if it is not wanted any more."
    )
    sentence = f"Stopped: #{fence.pr} was closed without being merged.{kept}"
    return progress(fence, sentence, f"**What to do:** {steps}", waiting={"why": "pull request closed"})


def _list(details: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(detail, 300)}" for detail in details[:10])
