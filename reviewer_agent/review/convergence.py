"""What a later round may still raise: faults in what changed since the round before, nothing else (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from reviewer_agent.review.answer import FindingAnswer
from reviewer_agent.review.patch import Patch


@dataclass(frozen=True, slots=True)
class EarlierRounds:
    """What was asked for before: as a text with an id at each finding, the ids, and which commit was judged last.

    `threads` maps the id of a finding of ours to the inline comment that it is, `own` are all such comments.
    """

    text: str = ""
    listed: tuple[str, ...] = ()
    sha: str = ""
    threads: Mapping[str, int] = field(default_factory=dict)
    own: frozenset[int] = frozenset()

    def settled(self, resolved: Collection[str], *, approved: bool) -> frozenset[int]:
        """The threads of ours that nobody has to look at any more; people's are theirs to resolve."""
        return self.own if approved else frozenset(self.threads[id] for id in resolved if id in self.threads)


NOTHING = EarlierRounds()
"""Nobody has asked for anything."""


def divided(
    findings: Sequence[FindingAnswer], shown: Patch, since: Patch | None
) -> tuple[tuple[FindingAnswer, ...], tuple[FindingAnswer, ...]]:
    """The findings that count, and those that come too late: about lines that stood there in the round before.

    `shown` is the whole change, `since` what of it is new; None where there was no round before, or nobody
    knows any more what it saw: then every finding counts.
    """
    if since is None:
        return tuple(findings), ()
    counting = [finding for finding in findings if _is_new(finding, shown, since)]
    return tuple(counting), tuple(finding for finding in findings if finding not in counting)


def _is_new(finding: FindingAnswer, shown: Patch, since: Patch) -> bool:
    """On a line of the new diff; without a line of the whole one, the file at least has changed since."""
    if since.has(finding.path, finding.line):
        return True
    return finding.path in since.paths and not shown.has(finding.path, finding.line)
