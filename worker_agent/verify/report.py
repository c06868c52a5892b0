"""What an examination says, for people and for machines (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from shared.text import one_line
from worker_agent.verify.compare import Falsehood
from worker_agent.verify.repeat import Ask, Repeated

SENTENCE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Report:
    """`true` is the answer; `false` names what is not as claimed; the runs are counted as in `12 passed, 1 failed`."""

    subject: str
    base: str
    head: str
    true: bool
    false: tuple[Falsehood, ...] = ()
    on_base: str = ""
    red: str = ""
    green: str = ""
    proven: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, subject: str, ask: Ask, seen: Repeated, false: tuple[Falsehood, ...], remarks: tuple[str, ...] = ()
    ) -> Self:
        """What was seen, and what of it is not as claimed."""
        return cls(
            subject,
            ask.base,
            ask.head,
            true=not false,
            false=false,
            on_base=seen.baselines[0].one_line(),
            red=seen.red.one_line(),
            green=seen.green.one_line(),
            proven=tuple(seen.green_verdict.proven),
            remarks=remarks,
        )


def as_text(report: Report) -> str:
    """Lines for a terminal, without control characters; text made by tests is cut."""
    lines = [f"{report.subject}: {'true' if report.true else 'FALSE'}"]
    lines += [f"  {one_line(f'{one.what}: {one.sentence}', SENTENCE_CHARS)}" for one in report.false]
    if report.on_base:
        lines += [
            f"  base {report.base[:12]}: {report.on_base}",
            f"  the head's tests on the base: {report.red}",
            f"  head {report.head[:12]}: {report.green}",
            f"  red on the base and green on the head: {len(report.proven)}",
        ]
    lines += [f"  note: {remark}" for remark in report.remarks]
    return "\n".join(lines)
