"""Every sentence about a proposal: pure functions from facts to what the status comment says."""

from __future__ import annotations

from planner_agent.triage.proposal import Proposal, TriageKind, recorded
from shared.errors import Blocked
from shared.github.status import Status
from shared.text import one_line
from shared.workflow import Stage

DECIDED = "this proposal was decided already"
"""The outcome of a second decision on a proposal."""

NO_PROPOSAL = "there is no proposal here"
"""The outcome of a decision on an issue that has no proposal, or that came before it."""

_SEEMS = {
    TriageKind.BUG: "a bug",
    TriageKind.FEATURE: "a feature request",
    TriageKind.QUESTION: "a question",
    TriageKind.DUPLICATE: "a duplicate of #{}",
    TriageKind.VAGUE: "too vague to act on",
}
_LOGIN_CHARS = 60


def proposed(proposal: Proposal, label: str) -> Status:
    """Return the status of a proposal, and how a person accepts it; the words of the model are made harmless."""
    notes = [f"**Why:** {proposal.reason}"]
    if proposal.missing:
        notes.append(f"**What is missing:** {proposal.missing}")
    notes.append(
        f"To set the label `{label}`, comment `/approve`; `/reject` leaves the issue as it is (both need write "
        "access). Without an answer nothing happens. A model made this proposal from the issue's text and the titles "
        "of other issues."
    )
    return Status(f"Proposal: this seems to be {_seems(proposal)}.", data=_data(proposal), notes="\n\n".join(notes))


def accepted(proposal: Proposal, label: str, login: str) -> Status:
    """Return the status of an accepted proposal, whose label is set; what can be worked on is offered."""
    then = "Comment `/start` to have it implemented." if proposal.kind in {TriageKind.BUG, TriageKind.FEATURE} else ""
    sentence = f"Accepted by {one_line(login, _LOGIN_CHARS)}: labelled `{label}`, as {_seems(proposal)}."
    return Status(sentence, data=_data(proposal, decided="accepted"), notes=then)


def rejected(proposal: Proposal, login: str) -> Status:
    """Return the status of a rejected proposal, whose issue is left alone for good."""
    sentence = f"The proposal was rejected by {one_line(login, _LOGIN_CHARS)}: this issue is left as it is."
    return Status(sentence, data=_data(proposal, decided="rejected"))


def overtaken(why: str) -> Status:
    """Return the status of an issue to which something has happened since it was looked at."""
    return Status(f"Nothing is proposed here: {why}.", data={"stage": Stage.WITHDRAWN})


def failed(error: Blocked) -> Status:
    """Return the status of an issue without a proposal, which will not get one either."""
    return Status(f"Nothing is proposed here: {one_line(str(error), 400)}", data={"stage": Stage.WITHDRAWN})


def _seems(proposal: Proposal) -> str:
    return _SEEMS[proposal.kind].format(proposal.duplicate_of)


def _data(proposal: Proposal, **more: str) -> dict[str, object]:
    return {"stage": Stage.WITHDRAWN, "triage": recorded(proposal) | more}
