"""The posted texts about issues that are not begun: pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from shared.github.status import Status
from shared.models import Issue
from shared.text import neutralise, one_line
from worker_agent.intake.blockers import Link
from worker_agent.intake.same_files import Sharing

SHOWN, PATH_CHARS = 3, 120
"""The most files that are named in a sentence, and the most characters of each."""

LABEL_CHARS = 60


def doubtful(label_name: str, issue: Issue, on: int) -> Status:
    """Return the status for a text that may have been edited between a person's label and its first reading.

    `on` is the issue or its pull request, which has the label.
    """
    label = f"`{one_line(label_name, LABEL_CHARS)}`"
    place = f" on #{on}" if on != issue.number else ""
    sentence = (
        f"Not started: after {label} was set{place}, {issue.author.login}, without write access, may have edited the "
        f"text. Please read it, then remove {label}{place} and set it again."
    )
    return Status(sentence, data={"waiting": {"why": "approval"}})


def waiting_status(sharing: Sharing) -> Status:
    """Return the status of an issue that waits for another one, and begins by itself when that has ended."""
    shown = ", ".join(f"`{neutralise(one_line(path, PATH_CHARS))}`" for path in sharing.files[:SHOWN])
    more = len(sharing.files) - SHOWN
    files = f"{shown} and {more} more" if more > 0 else shown
    return Status(
        f"Waiting for #{sharing.on}: both name {files}. This begins by itself when that is merged or closed.",
        (),
        {"waiting": {"why": "same-files", "by": sharing.on}},
    )


def cycle_status(circle: Sequence[Link]) -> Status:
    """Return the status for a cycle: each issue depends on the next one, and the last one on the first."""
    first, *others = circle
    chain = "".join(f", #{link.one} on #{link.on}" for link in others[:-1])
    ways = ", or ".join(_taken_out(link, f"#{link.one}") for link in others)
    return Status(
        f"Waiting forever: this issue depends on #{first.on}{chain}, and #{others[-1].one} on this one.",
        (),
        {"waiting": {"why": "circular", "by": first.on}},
        f"**What to do:** {_taken_out(first, 'this issue')}, or {ways}.",
    )


def _taken_out(link: Link, place: str) -> str:
    """Return the advice for removing one link of the cycle."""
    if link.written:
        return f"take `Depends on #{link.on}` out of {place}"
    return f'remove the relationship "blocked by #{link.on}" from {place}'
