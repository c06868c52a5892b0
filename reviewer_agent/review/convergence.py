"""Limits of a later round, which may only raise faults in what changed since the round before (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from reviewer_agent.review.answer import FindingAnswer
from reviewer_agent.review.patch import Patch


@dataclass(frozen=True, slots=True)
class EarlierRounds:
    """Requests of earlier rounds: a text with an id at each finding, the ids, and the commit that was judged last.

    `threads` maps the id of a finding of ours to its inline comment, `own` are all such comments.
    """

    text: str = ""
    listed: tuple[str, ...] = ()
    sha: str = ""
    threads: Mapping[str, int] = field(default_factory=dict)
    own: frozenset[int] = frozenset()

    def settled(self, resolved: Collection[str], *, approved: bool) -> frozenset[int]:
        """Return our threads that need no further look; people's threads are theirs to resolve."""
        return self.own if approved else frozenset(self.threads[id] for id in resolved if id in self.threads)


NOTHING = EarlierRounds()
"""No request of an earlier round."""


def divided(
    findings: Sequence[FindingAnswer], shown: Patch, since: Patch | None
) -> tuple[tuple[FindingAnswer, ...], tuple[FindingAnswer, ...]]:
    """Divide findings into those that count and those that come too late: about lines of the round before.

    `shown` is the whole change, `since` its new part; None if there was no round before, or if it is not known any more
    what that saw: then every finding counts.
    """
    if since is None:
        return tuple(findings), ()
    counting = [finding for finding in findings if _is_new(finding, shown, since)]
    return tuple(counting), tuple(finding for finding in findings if finding not in counting)


def _is_new(finding: FindingAnswer, shown: Patch, since: Patch) -> bool:
    """Return whether it is on a line of the new diff or, if its line is in no diff, in a file changed since."""
    if since.has(finding.path, finding.line):
        return True
    return finding.path in since.paths and not shown.has(finding.path, finding.line)
