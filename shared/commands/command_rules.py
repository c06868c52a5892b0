"""The meaning of a command: the table (command, track, stage) -> effect or refusal (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from shared.commands.command import Verb
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
    Verb.SPEC_REVIEW: "closes the pull request until the issue's text is corrected",
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
