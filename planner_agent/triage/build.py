"""Construction of the triage from the parts of a repository."""

from __future__ import annotations

from planner_agent.agent import Planner
from planner_agent.triage.agent import Triaging
from planner_agent.triage.answers import Answers, Sources
from planner_agent.triage.backlog import Backlog
from planner_agent.triage.proposal import TriageKind
from planner_agent.triage.proposal_call import ProposalCall
from planner_agent.triage.register import Register
from planner_agent.triage.work import Work
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import reader
from shared.github.ports import CompleteInbox
from shared.loop.claims import Claims
from shared.scheduling.agent_contract import Agent
from shared.workflow import Role


def triaging(parts: RepositoryAdapters, planner: Planner, inbox: CompleteInbox) -> Agent:
    """Return the planner, with proposals if the configuration asks for them; working on one item it makes none."""
    triage = parts.configured.triage
    if not triage.per_day or parts.only is not None:
        return planner
    labels = {kind: str(getattr(triage.labels, kind)) for kind in TriageKind}
    register = Register(parts.fences, parts.mirror)
    backlog = Backlog(parts.issues, register, parts.account, triage.per_day, parts.clock)
    asking = ProposalCall(parts.coder, parts.limits)
    work = Work(parts.issues, parts.status, backlog, asking, parts.account, labels)
    sources = Sources(
        parts.issues, parts.new_issues, reader(parts), parts.labels, parts.status, parts.port, parts.names
    )
    rooms = backlog, work, Answers(sources, labels)
    claims = Claims(Role.PLANNER, parts.port, parts.claimant, parts.budget_check)
    return Triaging(planner, claims, inbox, parts.issues, rooms, parts.server_time)
