"""Construction of a planner from the parts of its repository; the second half of `__main__`.

After each look, the planner's lists let the next pending test get its issue.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from planner_agent.agent import Planner
from planner_agent.assistant.answer_call import AnswerCall, Sources
from planner_agent.assistant.assistant import AnsweringAccount, Assistant
from planner_agent.assistant.question import QUESTIONS
from planner_agent.pending.opening import Opening, Wanted, Writer
from planner_agent.pending.register import PENDING_TESTS
from planner_agent.policy import Approval, Policy, PreapprovedPlan
from planner_agent.ports import Forge
from planner_agent.reconcile_rules import rules
from planner_agent.register import Register
from planner_agent.story import create_story
from planner_agent.triage.agent import Triaging, Work
from planner_agent.triage.answers import Answers
from planner_agent.triage.backlog import TRIAGED, Backlog
from planner_agent.triage.proposal import ProposalCall, TriageKind
from runtime.arguments import Arguments
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import commanded, mentioned_as, reader, replies
from shared.errors import Misconfigured
from shared.llm.port import CoderCall
from shared.llm.role_router import ROLE_OF_CALL, has_role
from shared.reconcile.complete_inbox import CompleteInbox
from shared.scheduling.agent_contract import Agent
from shared.workflow import UNLABELLED, Track, stages

DECIDED_ROUNDS = 1000
"""Maximum times that a plan may have been sent back before one decided at a terminal takes its place."""


def build(parts: RepositoryAdapters, preapproved_plan: PreapprovedPlan | None = None) -> Agent:
    """Build the planner of one repository; with `preapproved_plan` it carries out what was decided at a terminal."""
    policy = policy_of(parts)
    if preapproved_plan is not None:
        policy = replace(policy, preapproved_plan=preapproved_plan, approval=Approval.GIVEN, rounds=DECIDED_ROUNDS)
    inbox = _inbox(parts)
    if preapproved_plan is None and parts.configured.tdd.pending.globs:
        inbox.add_look("pending tests", _opening(parts).look)
    forge = forge_of(parts, inbox)
    _add_assistant(parts, inbox, forge)
    planner = Planner(forge, parts.claims, parts.git.mirror, parts.coder, policy)
    parts.status.write_by_leases(planner.holding)
    if preapproved_plan is not None:
        return planner
    return commanded(parts, _with_triage(parts, planner, forge), inbox)


def _inbox(parts: RepositoryAdapters) -> CompleteInbox:
    """Return the lists of stories and specifications: the last specification to close ends its story."""
    specified = [stage for stage in stages(Track.SPECIFICATION) if stage not in UNLABELLED]
    followed = rules(parts.github.names, parts.closing, parts.status)
    return parts.inbox([parts.github.names.story, *specified], followed, lambda item: not item.is_pull_request)


def forge_of(parts: RepositoryAdapters, inbox: CompleteInbox | None = None) -> Forge:
    """Return the planner's side of GitHub."""
    github = parts.github
    return Forge(
        inbox=inbox or _inbox(parts),
        issues=github.issues,
        comments=github.comments,
        people=github.people,
        labels=github.labels,
        status=parts.status,
        texts=parts.texts,
        closing=parts.closing,
        replies=replies(parts),
    )


def _add_assistant(parts: RepositoryAdapters, inbox: CompleteInbox, forge: Forge) -> None:
    """Let each look of the planner find questions, if the configuration has them answered."""
    github, git, roles = parts.github, parts.git, parts.process.roles
    per_day, login = parts.configured.assistant.per_day, mentioned_as(parts)
    if not per_day or not login or parts.only is not None or not has_role(roles, ROLE_OF_CALL[CoderCall.ANSWER]):
        return
    account = AnsweringAccount(
        login,
        frozenset(parts.claimant.accounts),
        parts.claimant.agent,
        per_day,
        frozenset(parts.configured.labels.exclude),
        parts.process.clock,
        github.server_time,
    )
    sources = Sources(git.mirror, parts.base, github.comments, github.pulls, github.people, parts.texts)
    register = Register(QUESTIONS, git.fences, git.mirror)
    asking = AnswerCall(parts.coder, parts.limits)
    assistant = Assistant(forge, parts.new_issues, account, register, sources, asking)
    inbox.add_look("questions", assistant.look)
    parts.side_tasks.append(assistant.run)


def _with_triage(parts: RepositoryAdapters, planner: Planner, forge: Forge) -> Agent:
    """Return the planner, with proposals if the configuration asks for them; working on one item it makes none."""
    github, git = parts.github, parts.git
    triage = parts.configured.triage
    if not triage.per_day or parts.only is not None:
        return planner
    labels = {kind: str(getattr(triage.labels, kind)) for kind in TriageKind}
    register = Register(TRIAGED, git.fences, git.mirror)
    backlog = Backlog(github.issues, register, github.account, triage.per_day, parts.process.clock)
    work = Work(forge, backlog, ProposalCall(parts.coder, parts.limits), github.account, labels)
    answers = Answers(forge, parts.new_issues, reader(parts), parts.port, github.names, labels)
    return Triaging(planner, forge, backlog, work, answers, github.server_time)


def _opening(parts: RepositoryAdapters) -> Opening:
    """Build the opening of issues about pending tests."""
    github, git, claimant = parts.github, parts.git, parts.claimant
    repository = parts.configured
    pending = repository.tdd.pending
    wanted = Wanted(
        pending.globs,
        pending.order,
        pending.open_at_once,
        repository.max_attempts,
        parts.base,
        github.names,
        repository.labels.include[:1],
    )
    writer = Writer(claimant.agent, github.account, claimant.keys, github.server_time, parts.process.clock.boot)
    return Opening(github.issues, git.mirror, Register(PENDING_TESTS, git.fences, git.mirror), writer, wanted)


def policy_of(parts: RepositoryAdapters) -> Policy:
    """Return the planner's policy from the configuration."""
    repository = parts.configured
    return Policy(
        repository=repository.name,
        account=parts.github.account,
        base=parts.base,
        names=parts.github.names,
        include=frozenset(repository.labels.include),
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        approval=Approval(repository.approval),
        limits=parts.limits,
        take_assigned=repository.take_assigned_issues,
        only=parts.only,
    )


_HOW_TO_APPROVE = {
    "auto": "",
    "comment": "Its plan is posted there; comment /approve to have the specifications created.\n",
    "terminal": "Its plan is posted there; to approve it, run `planner-agent {repository}` at a terminal "
    "and give the number.\n",
}
"""Text that is printed about a story that was just opened, by the key `approval`."""


async def prepare(parts: RepositoryAdapters, arguments: Arguments) -> RepositoryAdapters:
    """Open the story of `--story`, print its address, and plan it alone; `--yes` approves the plan in advance."""
    if arguments.story is None:
        return parts
    if len(parts.process.settings.repositories) > 1:
        raise Misconfigured("The configuration names several repositories: say for which one, as owner/repo.")
    story = await create_story(parts.github.issues, arguments.story, parts.github.names.story)
    sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
    if not arguments.yes:
        sys.stdout.write(_HOW_TO_APPROVE[parts.configured.approval].format(repository=parts.configured.name))
    sys.stdout.flush()
    approval = "auto" if arguments.yes else parts.configured.approval
    return replace(parts, only=story.number, configured=parts.configured.model_copy(update={"approval": approval}))
