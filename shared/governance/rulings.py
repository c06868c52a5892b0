"""What a command means where it is given: the table (command, track, stage) -> effect or refusal (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shared.governance.commands import Verb
from shared.workflow import HALTED, TERMINAL, Stage, Track


class Effect(StrEnum):
    """What is done about a command."""

    DECIDE = "decide"
    """The agent that asked for the decision reads it itself."""
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"
    RESET_ATTEMPTS = "reset attempts"
    SPEC_REVIEW = "mark for a review of the specification"
    CLOSE_AND_RESET = "close and reset"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a command means nothing there, in one sentence."""

    sentence: str


Ruling = Effect | Refused

_AGAIN = HALTED | {Stage.WITHDRAWN}
_IN_WORK = frozenset({Stage.PLANNING, Stage.IMPLEMENTING, Stage.TESTING, Stage.IN_REVIEW})
_THING = {
    Track.STORY: "story",
    Track.SPECIFICATION: "issue",
    Track.PULL_REQUEST: "pull request",
}


def ruling(verb: Verb, track: Track, stage: Stage, *, edited: bool = False) -> Ruling:
    """What `verb` leads to at `stage` of `track`; defined for every combination.

    `edited` says that the text is not the one that was approved: only then does `/approve` answer a failure.
    """
    ruled = TABLE[verb, track, stage]
    return UNASKED if verb is Verb.APPROVE and ruled is Effect.RETRY and not edited else ruled


def fitting(track: Track, stage: Stage, *, paused: bool = False, edited: bool = False) -> tuple[Verb, ...]:
    """The commands that fit at `stage`, in the order in which they are offered.

    Of those that only pause, `/pause` is offered for what is in work, `/resume` for what is paused; `edited` as above.
    """
    return tuple(
        verb
        for verb in Verb
        if not isinstance(ruling(verb, track, stage, edited=edited), Refused)
        and (verb is Verb.RESUME) <= paused
        and (verb is Verb.PAUSE) <= (stage in _IN_WORK and not paused)
    )


_SAYS = {
    Verb.APPROVE: "approves it",
    Verb.REJECT: "`why` sends it back",
    Verb.EDIT: "`what should be different` asks for another version",
    Verb.PAUSE: "pauses it",
    Verb.RESUME: "goes on with it",
    Verb.STOP: "stops it; the branch is kept",
    Verb.RETRY: "goes on from where it stopped",
    Verb.RESET_ATTEMPTS: "does so with all attempts again",
    Verb.SPEC_REVIEW: "closes the pull request, and the issue waits until its text is corrected",
    Verb.CLOSE_AND_RESET: "closes the pull request, keeps its branch under another name and starts over",
    Verb.MERGE: "merges this commit when its checks are green",
}


def offered(track: Track, stage: Stage, *, edited: bool = False) -> str:
    """The sentence that lists exactly the commands that fit at `stage`; empty when none does."""
    told = "; ".join(f"`/{verb}` {_SAYS[verb]}" for verb in fitting(track, stage, edited=edited))
    return f"**Commands:** {told}." if told else ""


UNASKED = Refused("Its text is the one that was approved, so nothing waits for `/approve`: `/retry` goes on.")


def _refused(sentence: str) -> Refused:
    return Refused(sentence)


def _rule(verb: Verb, track: Track, stage: Stage) -> Ruling:
    match verb:
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


def _decision(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if track is Track.PULL_REQUEST:
        return _refused("A pull request is approved or sent back by a review on GitHub; `/merge` has it merged.")
    if stage is Stage.AWAITING_APPROVAL and (track is Track.STORY or verb is not Verb.EDIT):
        return Effect.DECIDE
    if verb is Verb.APPROVE and track is Track.SPECIFICATION and stage is Stage.FAILED:
        return Effect.RETRY
    return _refused(f"Nothing of this {_THING[track]} waits for a decision at '{stage}'.")


def _merge(track: Track, stage: Stage) -> Ruling:
    if track is not Track.PULL_REQUEST:
        return _refused("Only a pull request is merged: give the command there.")
    if stage is Stage.APPROVED:
        return Effect.DECIDE
    return _refused(f"It is merged by command once the engine's review approves it; it is at '{stage}'.")


def _interruption(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if stage in TERMINAL:
        return _refused(f"This {_THING[track]} has ended: there is nothing to {verb}.")
    if verb is Verb.PAUSE:
        return Effect.PAUSE
    if verb is Verb.RESUME:
        return Effect.RESUME
    return _refused("Nothing is being done here, so nothing can be stopped.") if stage in HALTED else Effect.STOP


def _retry(track: Track, stage: Stage) -> Ruling:
    if stage in _AGAIN:
        return Effect.RETRY
    if stage in {Stage.IMPLEMENTING, Stage.TESTING, Stage.PLANNING}:
        return Effect.RETRY  # what waits after a failed run waits no longer
    if track is Track.SPECIFICATION and stage in {Stage.REVIEWING, Stage.IN_REVIEW}:
        return _refused("Its pull request is in review: give the command there.")
    return _refused(f"Nothing has failed: this {_THING[track]} is at '{stage}'.")


def _recovery(verb: Verb, track: Track, stage: Stage) -> Ruling:
    if track is Track.STORY:
        return _refused(f"`/{verb}` is for specifications and pull requests; a failed story takes `/retry`.")
    if stage in _IN_WORK:
        return _refused(f"It is being worked on at '{stage}': give `/stop` first, then `/{verb}`.")
    if stage is Stage.DONE or stage is Stage.NEW:
        return _refused(f"There is nothing to recover at '{stage}'.")
    if verb is Verb.RESET_ATTEMPTS:
        return Effect.RESET_ATTEMPTS if stage in _AGAIN else _refused(f"No attempts are used up at '{stage}'.")
    if verb is Verb.SPEC_REVIEW:
        return Effect.SPEC_REVIEW
    return _refused("It has not been begun.") if stage is Stage.READY else Effect.CLOSE_AND_RESET


TABLE: Mapping[tuple[Verb, Track, Stage], Ruling] = {
    (verb, track, stage): _rule(verb, track, stage) for verb in Verb for track in Track for stage in Stage
}
"""Every combination."""
