"""The meaning of a command: the table (command, track, stage) -> effect or refusal (pure).

Besides the stage, the configuration, the argument of `/retry` or what blocks a merge may leave it without effect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shared.commands.command import Verb
from shared.text import one_line
from shared.workflow import HALTED, TERMINAL, Stage, Track


class Effect(StrEnum):
    """The effect of a command."""

    DECIDE = "decide"
    """No effect here: the agent that asked for the decision reads the command itself."""
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"
    RESET_ATTEMPTS = "reset attempts"
    SPEC_REVIEW = "mark for a review of the specification"
    CLOSE_AND_RESET = "close and reset"


@dataclass(frozen=True, slots=True)
class CommandRefused:
    """Reason why a command has no effect there, as one sentence."""

    sentence: str


Ruling = Effect | CommandRefused

_AGAIN = HALTED | {Stage.WITHDRAWN}
_IN_WORK = frozenset({Stage.PLANNING, Stage.IMPLEMENTING, Stage.TESTING, Stage.IN_REVIEW})
_THING = {
    Track.STORY: "story",
    Track.SPECIFICATION: "issue",
    Track.PULL_REQUEST: "pull request",
}


def ruling(verb: Verb, track: Track, stage: Stage, *, edited: bool = False, triage: bool = False) -> Ruling:
    """Return the effect of `verb` at `stage` of `track`, or the refusal; defined for every combination.

    `edited` is true if the text is not the one that was approved: only then does `/approve` answer a failure. With
    `triage`, an item that has not begun may have a planner's proposal, which `/approve` and `/reject` decide.
    """
    if triage and verb in {Verb.APPROVE, Verb.REJECT} and (track, stage) == (Track.SPECIFICATION, Stage.NEW):
        return Effect.DECIDE
    ruled = TABLE[verb, track, stage]
    return UNASKED if verb is Verb.APPROVE and ruled is Effect.RETRY and not edited else ruled


def fitting(track: Track, stage: Stage, *, paused: bool = False, without: Collection[Verb] = ()) -> tuple[Verb, ...]:
    """Return the commands that are offered at `stage`, in their order; `without` are those that have no effect here.

    `/pause` is offered only for what is in work, `/resume` only for what is paused. `/approve` is
    never offered after a failure, although it is taken there once the text was edited: `/retry` does the same.
    """
    return tuple(
        verb
        for verb in Verb
        if verb not in without
        and not isinstance(ruling(verb, track, stage), CommandRefused)
        and (verb is Verb.RESUME) <= paused
        and (verb is Verb.PAUSE) <= (stage in _IN_WORK and not paused)
    )


OF_THE_ISSUE = frozenset({Verb.SPEC_REVIEW, Verb.CLOSE_AND_RESET})
"""Commands on a pull request that concern its issue: without effect on one that the engine has not opened."""


_SAYS = {
    Verb.START: "begins the work",
    Verb.APPROVE: "approves it",
    Verb.REJECT: "`<reason>` asks for another version",
    Verb.EDIT: "`<what to change>` asks for another version",
    Verb.PAUSE: "pauses it",
    Verb.RESUME: "resumes it",
    Verb.STOP: "stops it and keeps the branch",
    Verb.RETRY: "continues where it stopped",
    Verb.RESET_ATTEMPTS: "continues with all attempts again",
    Verb.SPEC_REVIEW: "closes the pull request for the issue's text to be corrected",
    Verb.CLOSE_AND_RESET: "closes the pull request, keeps its branch under another name and starts over",
    Verb.MERGE: "merges this commit when its checks pass",
}


def offered(track: Track, stage: Stage, *, without: Collection[Verb] = ()) -> str:
    """Return the sentence that lists exactly the commands that fit at `stage`; empty if none does."""
    told = "; ".join(f"`/{verb}` {_SAYS[verb]}" for verb in fitting(track, stage, without=without))
    return f"**Commands:** {told}." if told else ""


UNASKED = CommandRefused("The issue's text is already approved; use `/retry` to continue.")


def _rule(verb: Verb, track: Track, stage: Stage) -> Ruling:
    match verb:
        case Verb.START:
            return _start(track, stage)
        case Verb.APPROVE | Verb.REJECT | Verb.EDIT:
            return _decision(verb, track, stage)
        case Verb.MERGE:
            return _merge(track, stage)
        case Verb.PAUSE | Verb.RESUME | Verb.STOP:
            return _interruption(verb, track, stage)
        case Verb.RETRY:
            return _retry(track, stage)
        case Verb.RESET_ATTEMPTS | Verb.SPEC_REVIEW | Verb.CLOSE_AND_RESET:  # pragma: no branch
            return _recovery(verb, track, stage)


def _start(track: Track, stage: Stage) -> Ruling:
    if stage in _AGAIN:
        return CommandRefused("It was begun before: use `/retry` to continue.")
    if stage in TERMINAL:
        return CommandRefused(f"This {_THING[track]} is finished.")
    if track is Track.STORY:
        return CommandRefused("A story needs no command: a planner plans it as soon as one is free.")
    if stage is Stage.NEW:
        return Effect.START
    return CommandRefused(f"This {_THING[track]} is at '{stage}' already.")


def _decision(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if track is Track.PULL_REQUEST:
        return CommandRefused(
            "Use a GitHub review to approve a pull request or to request changes; `/merge` merges it."
        )
    if stage is Stage.AWAITING_APPROVAL and (track is Track.STORY or verb is not Verb.EDIT):
        return Effect.DECIDE
    if verb is Verb.APPROVE and track is Track.SPECIFICATION and stage is Stage.FAILED:
        return Effect.RETRY
    return CommandRefused(f"This {_THING[track]} is at '{stage}': there is nothing to approve or reject.")


def _merge(track: Track, stage: Stage) -> Ruling:
    if track is not Track.PULL_REQUEST:
        return CommandRefused("Give `/merge` on the pull request.")
    if stage is Stage.APPROVED:
        return Effect.DECIDE
    return CommandRefused(f"It can be merged by command once the engine's review approves it; it is at '{stage}'.")


def _interruption(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if stage in TERMINAL:
        return CommandRefused(f"This {_THING[track]} is finished: there is nothing to {verb}.")
    if verb is Verb.PAUSE:
        return Effect.PAUSE
    if verb is Verb.RESUME:
        return Effect.RESUME
    return CommandRefused("Nothing is running here, so there is nothing to stop.") if stage in HALTED else Effect.STOP


def _retry(track: Track, stage: Stage) -> Ruling:
    if stage in _AGAIN:
        return Effect.RETRY
    if stage in {Stage.IMPLEMENTING, Stage.TESTING, Stage.PLANNING}:
        return Effect.RETRY  # what waits after a failed run waits no longer
    if track is Track.SPECIFICATION and stage in {Stage.REVIEWING, Stage.IN_REVIEW}:
        return CommandRefused("Its pull request is in review: give the command there.")
    return CommandRefused(f"Nothing has failed: this {_THING[track]} is at '{stage}'.")


def _recovery(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if track is Track.STORY:
        return CommandRefused(f"`/{verb}` works on issues and pull requests only; use `/retry` for a failed story.")
    if stage in _IN_WORK:
        return CommandRefused(f"It is in progress ('{stage}'): give `/stop` first, then `/{verb}`.")
    if stage is Stage.DONE or stage is Stage.NEW:
        return CommandRefused(f"There is nothing to recover at '{stage}'.")
    if verb is Verb.RESET_ATTEMPTS:
        return Effect.RESET_ATTEMPTS if stage in _AGAIN else CommandRefused(f"No attempts are used up at '{stage}'.")
    if verb is Verb.SPEC_REVIEW:
        return Effect.SPEC_REVIEW
    return CommandRefused("It has not been begun.") if stage is Stage.READY else Effect.CLOSE_AND_RESET


TABLE: Mapping[tuple[Verb, Track, Stage], Ruling] = {
    (verb, track, stage): _rule(verb, track, stage) for verb in Verb for track in Track for stage in Stage
}
"""Every combination."""

BY_CONFIGURATION: Mapping[Verb, CommandRefused] = {
    Verb.MERGE: CommandRefused("Maintainers merge here (`merge: never` is configured): use the merge button."),
    Verb.APPROVE: CommandRefused("Plans are approved at a terminal here: run `planner-agent` for this repository."),
}
"""Refusals of commands that the configuration leaves to people."""

NOT_CLEARED: Mapping[str, str] = {
    "flagged": "a flag asks for a maintainer; remove it first",
    "resolved": "a merge conflict was resolved in it; check that and remove the flag first",
    "barred": "a label forbids merging; remove it first",
    "unseen": "this commit has no review by the engine",
    "requested": "changes are requested; whoever asked for them approves or dismisses that first",
    "own_order": "somebody else than its requester has to ask for the merge",
    "checks_red": "its checks fail; it is merged when they pass",
    "checks_missing": "this commit has no CI checks; at least one must pass",
    "checks_running": "its checks are running; it is merged when they pass",
    "checks_awaited": "required checks are missing; it is merged when they pass",
    "base_red": "the checks of the base branch fail; it is merged when they pass",
    "base_running": "the checks of the base branch are running; it is merged when they pass",
    "required": "the base branch requires more than it has; the status comment says what",
    "conflict": "it conflicts with the base branch",
    "refused": "GitHub refused the merge; it is tried again by itself",
    "queued": "it is in GitHub's merge queue already",
    "stopped": "its issue is gone, or was closed, paused or taken back",
    "edited": "its issue was edited after its text was approved",
    "blocked": "its issue is blocked by another open issue",
    "head_moved": "commits were pushed that nobody has reviewed",
}
"""Obstacles that a person's `/merge` does not clear, by the reason in an approved pull request's status comment."""


def not_merged(data: Mapping[str, Any]) -> str:
    """Return why a `/merge` has no effect now, from the status comment's machine-readable data; or empty."""
    waiting = data.get("waiting")
    reason = NOT_CLEARED.get(str(waiting.get("why", ""))) if isinstance(waiting, Mapping) else None
    return f"not merged yet: {reason}" if reason else ""


_WANTED = re.compile(r"backend=(\S+)")


def requested_backend(verb: Verb, text: str, backends: Collection[str]) -> str | CommandRefused:
    """Return the backend that a command asks for, empty for the usual one; `backends` are the configured ones."""
    if verb is not Verb.RETRY or not text:
        return ""
    found = _WANTED.fullmatch(text)
    if found is None:
        return CommandRefused(f"`/retry` takes nothing but `backend=NAME`, and '{one_line(text, 40)}' is not that")
    return configured_backend(found[1], backends)


def configured_backend(backend: str, backends: Collection[str]) -> str | CommandRefused:
    """Return `backend` if it is one of the configured ones, else a refusal."""
    if backend in backends:
        return backend
    known = ", ".join(sorted(backends))
    return CommandRefused(f"no backend '{one_line(backend, 40)}' is configured for this repository: there is {known}")


def reviewed_again(head: str) -> str:
    """Return the phase of a reviewer's fence after a person's retry: this very `head` is to be reviewed again."""
    return f"again-{head[:12]}"


NOT_BEGUN = "nothing of it was begun, so there is nothing to retry with another backend"
