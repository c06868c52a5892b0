"""Construction of the assistant from the parts of a repository."""

from __future__ import annotations

from planner_agent.assistant.answer_call import AnswerCall
from planner_agent.assistant.assistant import AnsweringAccount, Assistant, Forge
from planner_agent.assistant.register import Register
from planner_agent.assistant.sources import Sources
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import mentioned_as, replies
from shared.llm.port import CoderCall
from shared.llm.role_router import ROLE_OF_CALL, has_role
from shared.reconcile.complete_inbox import CompleteInbox


def answering(parts: RepositoryAdapters, inbox: CompleteInbox) -> None:
    """Look for questions beside `inbox`, if the configuration asks for answers."""
    per_day, login = parts.configured.assistant.per_day, mentioned_as(parts)
    if not per_day or not login or parts.only is not None or not has_role(parts.roles, ROLE_OF_CALL[CoderCall.ANSWER]):
        return
    forge = Forge(parts.comments, parts.issues, parts.people, replies(parts), parts.new_issues)
    exclude = frozenset(parts.configured.labels.exclude)
    answering_account = AnsweringAccount(
        login,
        frozenset(parts.claimant.accounts),
        parts.claimant.agent,
        per_day,
        exclude,
        parts.clock,
        parts.server_time,
    )
    sources = Sources(parts.mirror, parts.base, parts.comments, parts.pulls, parts.people, parts.texts)
    register = Register(parts.fences, parts.mirror)
    assistant = Assistant(forge, answering_account, register, sources, AnswerCall(parts.coder, parts.limits))
    inbox.add_look("questions", assistant.look)
    parts.side_tasks.append(assistant.run)
