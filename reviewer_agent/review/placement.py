"""The places of a review's findings: on lines that exist in the diff, the rest in the summary (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewer_agent.review.answer import FindingAnswer
from reviewer_agent.review.patch import Patch

_ORDER = ("critical", "major", "minor", "remark")


@dataclass(frozen=True, slots=True)
class Placed:
    """Findings by place: `inline` ones have a path and line that GitHub accepts; both start with the most severe."""

    inline: tuple[FindingAnswer, ...]
    rest: tuple[FindingAnswer, ...]


def place(findings: Sequence[FindingAnswer], patch: Patch) -> Placed:
    """Divide findings by whether their line stands in the diff."""
    ordered = sorted(findings, key=lambda finding: _ORDER.index(finding.severity))
    inline = tuple(finding for finding in ordered if patch.has(finding.path, finding.line))
    return Placed(inline, tuple(finding for finding in ordered if finding not in inline))
