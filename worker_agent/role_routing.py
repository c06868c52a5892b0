"""Which role a worker's step is for, and what an agent does that is restricted to some roles (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from shared.llm.port import Call
from shared.llm.role_router import plays
from shared.lock.claim import Intent
from shared.lock.record import Fence
from shared.workflow import Stage
from worker_agent.decide import Action, Phase
from worker_agent.policy import Policy

_CALLS = {
    Action.WRITE_TESTS: Call.WRITE_TESTS,
    Action.IMPLEMENT: Call.IMPLEMENT,
    Action.REFACTOR: Call.REFACTOR,
    Action.FIX_CI: Call.FIX_CI,
    Action.ADDRESS_REVIEW: Call.IMPLEMENT,
}
_BEGINS: Mapping[str, Call] = {
    Phase.RED: Call.WRITE_TESTS,
    Phase.GREEN: Call.IMPLEMENT,
    Phase.REFACTOR: Call.REFACTOR,
    Phase.FIX: Call.FIX_CI,
    Phase.FEEDBACK: Call.IMPLEMENT,
    Phase.TEXT: Call.IMPLEMENT,
}


def passed_on(action: Action, policy: Policy) -> str:
    """The role that a step is left to because this agent does not play it; empty when the agent takes it."""
    call = _CALLS.get(action)
    role = "" if call is None else policy.phases[call]
    return "" if not role or plays(policy.plays, role) else role


def refusal(wish: Intent, fence: Fence | None, policy: Policy) -> str:
    """Why an item is left to an agent of another role; empty when it is not. The fence's own word goes first."""
    if wish.stage is not Stage.IMPLEMENTING or not policy.plays:
        return ""
    continues = fence is not None and (fence.stage, fence.phase) == (wish.stage, wish.phase)
    named = fence.next_role if fence is not None and continues else ""
    call = _BEGINS.get(wish.phase or Phase.RED)
    role = named or ("" if call is None else policy.phases[call])
    return "" if not role or plays(policy.plays, role) else f"its next step is for the role {role}"
