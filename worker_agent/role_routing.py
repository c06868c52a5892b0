"""The role of each of the worker's steps, and the steps that an agent leaves to agents of other roles (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from shared.llm.port import CoderCall
from shared.llm.role_router import has_role
from shared.lock.claim import Intent
from shared.lock.record import Fence
from shared.workflow import Stage
from worker_agent.decide import Action, NextStep
from worker_agent.policy import Policy

_CALLS = {
    Action.WRITE_TESTS: CoderCall.WRITE_TESTS,
    Action.IMPLEMENT: CoderCall.IMPLEMENT,
    Action.REFACTOR: CoderCall.REFACTOR,
    Action.FIX_CI: CoderCall.FIX_CI,
    Action.ADDRESS_REVIEW: CoderCall.IMPLEMENT,
}
_BEGINS: Mapping[str, CoderCall] = {
    NextStep.RED: CoderCall.WRITE_TESTS,
    NextStep.GREEN: CoderCall.IMPLEMENT,
    NextStep.REFACTOR: CoderCall.REFACTOR,
    NextStep.FIX: CoderCall.FIX_CI,
    NextStep.FEEDBACK: CoderCall.IMPLEMENT,
    NextStep.TEXT: CoderCall.IMPLEMENT,
}


def passed_on(action: Action, policy: Policy) -> str:
    """Return the role that a step is left to because this agent does not play it; empty if the agent takes the step."""
    call = _CALLS.get(action)
    role = "" if call is None else policy.runs.role_of_call[call]
    return "" if not role or has_role(policy.runs.roles, role) else role


def refusal(intent: Intent, fence: Fence | None, policy: Policy) -> str:
    """Return the reason why another role has the next step, else an empty text. The fence's role goes first."""
    if intent.stage is not Stage.IMPLEMENTING or not policy.runs.roles:
        return ""
    continues = fence is not None and (fence.stage, fence.phase) == (intent.stage, intent.phase)
    named = fence.next_role if fence is not None and continues else ""
    call = _BEGINS.get(intent.phase or NextStep.RED)
    role = named or ("" if call is None else policy.runs.role_of_call[call])
    return "" if not role or has_role(policy.runs.roles, role) else f"its next step is for the role {role}"
