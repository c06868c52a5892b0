"""A pull request whose CI is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from fakes.unasked import UnaskedChecks, UnaskedMirror
from fakes.worker_policy import worker_policy

from shared.github.base_branch import BaseBranch
from shared.models import Account, Check, CheckOutcome
from worker_agent.ci.ci_reader import CiReader

AT = datetime(2026, 1, 5, tzinfo=UTC)

HEAD, TIP = "a" * 40, "b" * 40

BOT = Account(99, "engine-bot")

JOB = Check("test", CheckOutcome.FAILED, "failure", job_id=7, conclusion="failure", run_id=1)


class Branches(UnaskedMirror):
    """The base, and a branch on which there is a new test."""

    async def refresh(self, ref: str) -> str | None:
        return TIP if ref == "refs/heads/main" else None

    async def paths(self, commit: str) -> tuple[str, ...]:
        return ("shop/cart.py",)

    async def diff(self, base: str, head: str) -> str:
        return "--- /dev/null\n+++ b/shop/test_cart.py\n+x\n"


@dataclass
class Ci(UnaskedChecks):
    """GitHub as far as CI needs it; `asked` holds the reads, in order."""

    checks: dict[str, tuple[Check, ...]] = field(default_factory=dict)
    log_text: str = ""
    needed: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    seconds: float = 0.0

    async def of(self, sha: str) -> tuple[Check, ...]:
        self.asked.append(f"checks {sha[:1]}")
        return self.checks.get(sha, ())

    async def ever(self, tip: str) -> bool:
        self.asked.append("ever")
        return True

    async def unstarted(self, sha: str) -> tuple[Check, ...]:
        self.asked.append("suites")
        return (Check("CI", CheckOutcome.FAILED, conclusion="startup_failure"),)

    async def required(self, branch: str) -> frozenset[str]:
        self.asked.append(f"required {branch}")
        return self.needed

    async def log(self, job_id: int) -> str:
        self.asked.append(f"log {job_id}")
        return self.log_text

    def reader(self, **policy: object) -> CiReader:
        rules = worker_policy("o/r", **{"base": BaseBranch("main"), **policy})
        return CiReader(self, Branches(), rules, lambda: self.seconds)
