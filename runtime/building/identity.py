"""The identity that claims in a repository, or acts there by hand: accounts, and the keys that sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import structlog

from runtime.building.sign_in import pace_of, siblings_of
from shared.git.command import Identity
from shared.lock.breaker import FenceCircuitBreaker
from shared.lock.claimant import Claimant, LockTimes
from shared.lock.fence import Fence
from shared.models import Account
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Stage

if TYPE_CHECKING:
    from runtime.building.github_adapters import GitHubAdapters
    from runtime.building.process import Process


log = structlog.get_logger()

_OF_STAGES: Mapping[Stage, str] = {
    Stage.PLANNING: "writing the plan",
    Stage.IN_REVIEW: "reviewing it",
    Stage.APPROVED: "looking whether it can be merged",
}


def git_identity(account: Account) -> Identity:
    """Return the author of an account's commits, by the address that GitHub links to it."""
    return Identity(account.login, f"{account.id}+{account.login}@users.noreply.github.com")


def claimant_of(process: Process, adapters: GitHubAdapters) -> Claimant:
    """Return the claimant that an agent process is in one repository."""
    lock = process.settings.lock
    signing = tuple(Key.of(secret) for secret in process.secrets.signing())
    keys = Keyring(adapters.repository.id, signing, outgoing=process.outgoing)
    terms = LockTimes(lock.timeout, lock.self_fence, lock.heartbeat, lock.settle)
    siblings = siblings_of(process, adapters.account)
    accounts = siblings | {adapters.account.id}
    pacing = pace_of(process).pacing

    def delay() -> float:
        return pacing.delay(process.clock.boot())

    def read_up_to(number: int) -> int:
        return max((one.id for one in adapters.comments.known(number) or ()), default=0)

    return Claimant(
        agent=process.agent.id,
        accounts=accounts,
        keys=keys,
        nonces=process.agent,
        times=terms,
        other_accounts=siblings,
        delay=delay,
        doing=beginning,
        read_up_to=read_up_to,
        breaker=FenceCircuitBreaker(f"{process.agent.id} {adapters.repository.id}", _fence_reporter(process, adapters)),
    )


def _fence_reporter(process: Process, adapters: GitHubAdapters) -> Callable[[str, float], None]:
    """Return the function that reports refused fences: a warning, a line when they are accepted again, and a metric."""
    refusing = process.telemetry.health.refusing

    def tell(reason: str, seconds: float) -> None:
        if not reason:
            refusing.pop(adapters.repository.full_name, None)
            log.info("fences_accepted", repo=adapters.repository.full_name)
            return
        if adapters.repository.full_name not in refusing:
            step = "let this account create, move and delete refs/ack/*, or wait until the git server answers again"
            log.warning(
                "fences_refused", outcome="retrying", repo=adapters.repository.full_name, error=reason, next_step=step
            )
        refusing[adapters.repository.full_name] = seconds

    return tell


def beginning(fence: Fence) -> str:
    """Return the text, for example "writing the plan"; empty if nothing is known. The worker has its own."""
    return _OF_STAGES.get(fence.stage, "")
