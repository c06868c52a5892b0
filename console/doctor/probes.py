"""The examination: every probe in its order. A probe that breaks is a finding of its own, never the end.

The keys that sign the engine's comments: whether they are there, private, and the same everywhere. What `merge`
will mean in a repository, by what its base branch requires: said before anything waits for it. Whether a newer
engine is at work in the repository: what only that one can read, this one works around.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from config.credentials import signing_keys
from config.repository import RepositorySettings
from console.doctor import account, machine, programs, repository, suites, test_run
from console.doctor.account import reviews_alone
from console.doctor.finding import (
    AGAIN,
    Finding,
    Machine,
    RepositoryContext,
    failed,
    passed,
    skipped,
    unanswered,
    warned,
)
from console.history.fences import key_of
from console.manual import link
from planner_agent.pending import register
from planner_agent.register import VERSION as REGISTER_VERSION
from reviewer_agent.merge import merge_turns, update_turns
from runtime.building.assembly import Process, mirror_of
from runtime.building.sign_in import SignedIn, visiting
from shared.budget import ledger, ledger_lines
from shared.errors import EngineError, Misconfigured, Transient
from shared.git import history
from shared.git.append_only_log import newer_version
from shared.git.mirror import PROOF
from shared.github.branch_rules import MergeRules, Protection, merge_rules, protection
from shared.github.comments import Comments
from shared.github.people import People
from shared.lock.codec import FENCE_NAMESPACE, AckState
from shared.lock.comment import read_ack
from shared.lock.fence import read_fence
from shared.models import Account, Comment, Repository
from shared.process import CommandFailed
from shared.text.comment_signatures import UNSIGNED, Key, find
from shared.workflow import AGENTS, Role

REPORTING = "docs/troubleshooting.md#reporting-a-fault"
TOKENS = "docs/github-app.md#which-kind"

_TIPS_ALONE = ("--depth=1", "--filter=tree:0")
"""Messages are all that is read; a server that knows no filters sends the files too."""

_NAMED = 3
"""Refs that a sentence names; where there are more, the first by name."""


async def versions(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether this version can read the newest commit of each of the engine's own refs."""
    git = visit.git.at(visit.git.git_dir.with_name("versions.git"))
    await git.init()
    await git.fetch(visit.url, PROOF, f"+{FENCE_NAMESPACE}/*:{FENCE_NAMESPACE}/*", options=_TIPS_ALONE)
    tips = await history.tips_below(git, f"{FENCE_NAMESPACE}/")
    return [versions_finding({tip.ref: tip.message for tip in tips}, visit.name)]


def versions_finding(refs: Mapping[str, str], name: str) -> Finding:
    """Judge the newest commits of the engine's own refs (ref -> message)."""
    subject = "versions"
    unread = sorted(ref for ref, text in refs.items() if not _readable(ref, text))
    if not unread:
        return passed(subject, f"Everything below {FENCE_NAMESPACE}/ can be read.", name)
    more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
    sentence = f"This version cannot read {', '.join(unread[:_NAMED])}{more}: a newer engine is at work there."
    step = "Upgrade this agent; if no newer one is at work any more, delete these refs."
    return failed(subject, sentence, step, name)


def _readable(ref: str, text: str) -> bool:
    key = key_of(ref)
    if key is not None:
        return read_fence(key, "", text) is not None
    match ref:
        case ledger.REF:
            return ledger_lines.read(text) is not None or not newer_version(text, ledger_lines.VERSION)
        case register.REF:
            return register.read(text) is not None or not newer_version(text, REGISTER_VERSION)
        case merge_turns.REF:
            return merge_turns.MergeTurn.read(text) is not None
        case _ if ref.startswith(update_turns.PREFIX):
            return update_turns.UpdateTurn.read(text) is not None
        case _:
            return True


_WHO = {
    "never": "People merge what is approved",
    "approve": "The engine merges what is approved, after `/merge`",
    "auto": "The engine merges what is approved",
}


async def merge(visit: RepositoryContext) -> Sequence[Finding]:
    """Report who merges, by which method, and what each merge waits for."""
    github, branch = visit.me.github, visit.base_branch
    rules = await merge_rules(github, visit.name, branch)
    hidden = await protection(github, visit.name, branch) is Protection.UNKNOWN
    alone = reviews_alone(visit.machine.settings)
    return [merge_finding(visit.configured.merge, branch, rules, visit.name, alone=alone, hidden=hidden)]


def merge_finding(configured: str, branch: str, rules: MergeRules, name: str, *, alone: bool, hidden: bool) -> Finding:
    """`alone`: the reviewer's approval is that of another account, which counts. `hidden`: more may be required."""
    queue = ", through GitHub's merge queue" if rules.queue and configured != "never" else ""
    waits = list(_waits(rules, alone=alone))
    if hidden:
        waits.append("what the protection of the branch asks for, which only an administrator can see")
    sentence = f"merge: {configured}. {_WHO[configured]}{queue}."
    if waits:
        sentence += f" On {branch} each merge waits for {' and '.join(waits)}."
    if rules.up_to_date:
        sentence += f" A worker merges {branch} into a branch that is behind it."
    return passed("merge", sentence, name)


def _waits(rules: MergeRules, *, alone: bool) -> Iterator[str]:
    """The same words as in the status comment of a pull request that waits."""
    people = rules.approvals - alone
    if people > 0:
        yield "1 approval of a person" if people == 1 else f"{people} approvals of people"
    if rules.code_owners:
        yield "the approval of a code owner of each file"
    if rules.last_push and not alone:
        yield "an approval by somebody who did not push last"
    if rules.conversations:
        yield "every conversation to be resolved"


SUBJECT = "key agreement"

OTHERS = 0o077
"""Permission bits that let others at a file."""


async def key_files(machine: Machine) -> Sequence[Finding]:
    """Report whether the key files can be read, by us alone."""
    lock, init = machine.settings.lock, machine.command(f"init {machine.settings.repositories[0].name}")
    if not lock.key_files:
        step = f"Run `{init}`, or name a key file in lock.key_files; copy it to every machine."
        return [warned("key files", "No key is configured: the engine's marker alone is trusted.", step)]
    try:
        ids = [Key.of(secret).id for secret in signing_keys(lock)]
    except Misconfigured as error:
        return [failed("key files", str(error), _key_step(lock.key_files, init))]
    found = [open_finding(file, file.stat().st_mode) for file in lock.key_files if file.stat().st_mode & OTHERS]
    return found or [passed("key files", f"Readable by this account alone; key ids {', '.join(ids)}, the first signs.")]


def _key_step(files: Sequence[Path], init: str) -> str:
    """Return the next step for key files that cannot be used; `init` makes the first one, and only where none is."""
    copied = "copy it from another machine of this repository"
    if not files[0].exists():
        return f"{copied.capitalize()}, or run `{init}`."
    if not all(file.exists() for file in files):
        return f"{copied.capitalize()}, or take it out of lock.key_files."
    return f"Let this account read it, or {copied}; where there is no other one, move it away and run `{init}`."


def open_finding(file: Path, mode: int) -> Finding:
    """A key file that others may open."""
    step = f"Keep it for this account alone: chmod 600 {shlex.quote(str(file))}"
    return warned("key files", f"{file} has mode {mode & 0o777:04o}: others can use it.", step)


async def agreement(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether the newest comments of our account were signed with keys that we have."""
    try:
        known = frozenset(Key.of(secret).id for secret in signing_keys(visit.machine.settings.lock))
    except Misconfigured:
        step = "Do what the line `key files` says, and try again."
        return [skipped(SUBJECT, "The key files cannot be read.", step, visit.name)]
    newest = await Comments(visit.me.github, visit.configured.name).newest()
    ours = [comment for comment in newest if comment.author.id == visit.me.account.id]
    return [agreement_finding(ours, known, visit.me.github.server_time, visit.name)]


def agreement_finding(ours: Collection[Comment], known_ids: Collection[str], now: datetime, name: str) -> Finding:
    """Judge the key ids in our account's comments. `now` is server time."""
    acks = [comment for comment in ours if read_ack(comment) is not None]
    step = "Give all machines of this repository the same key files, then start their agents again."
    if foreign := _foreign(acks, known_ids):
        number, key = foreign[0]
        sentence = f"A lock on #{number} was signed with key {key}, which is not among lock.key_files."
        return failed(SUBJECT, sentence, step, name)
    if live := [ack.number for ack in acks if known_ids and _live_unsigned(ack, now)]:
        sentence = f"An agent without any key holds #{live[0]}: this machine does not see its lock."
        return failed(SUBJECT, sentence, step, name)
    if foreign := _foreign(ours, known_ids):
        number, key = foreign[0]
        sentence = f"A comment in #{number} was signed with key {key}, which is not among lock.key_files."
        step = "If that key was replaced, keep its file as the last of lock.key_files until the threads are closed."
        return warned(SUBJECT, sentence, step, name)
    return passed(SUBJECT, "Nothing in the newest comments was signed with a key that is missing here.", name)


def _foreign(comments: Collection[Comment], known: Collection[str]) -> list[tuple[int, str]]:
    """Number of the thread and key id of each comment that was signed with a key we do not have."""
    marks = [(comment.number, find(comment.body)) for comment in comments]
    ids = [(number, mark.fields["mac"].partition(".")) for number, mark in marks if mark is not None]
    return [(number, id) for number, (id, dot, _) in ids if dot and id not in known]


def _live_unsigned(comment: Comment, now: datetime) -> bool:
    ack, mark = read_ack(comment), find(comment.body)
    if ack is None or mark is None or ack.state is not AckState.ACTIVE or mark.fields["mac"] != UNSIGNED:
        return False
    return now - comment.updated_at < timedelta(seconds=ack.ttl_seconds)


OF_MACHINE: tuple[Callable[[Machine], Awaitable[Sequence[Finding]]], ...] = (
    machine.configuration,
    machine.state_directory,
    machine.swept,
    machine.disk,
    machine.git_version,
    machine.boot_clock,
    key_files,
    programs.sandbox,
    programs.coding_backends,
)
"""Probes that need no GitHub."""

Probe = Callable[[RepositoryContext], Awaitable[Sequence[Finding]]]

OF_REPOSITORY: tuple[Probe, ...] = (
    repository.labels,
    repository.base_branch,
    merge,
    repository.git_server,
    versions,
    suites.tests,
    test_run.ci,
    test_run.test_run,
)
"""Probes whose result is the same for every identity."""

OF_IDENTITY: tuple[Probe, ...] = (
    repository.permissions,
    repository.label_changes,
    account.scopes,
    agreement,
)
"""Probes whose result depends on the identity."""


async def findings_of(context: Machine, roles: frozenset[Role] = AGENTS) -> list[Finding]:
    """Return all findings for these agents, on this machine and on GitHub."""
    found: list[Finding] = []
    for probe in OF_MACHINE:
        found += await _safely(probe.__name__.replace("_", " "), "", probe(context))
    accounts: list[Account] = []
    for number, group in enumerate(identities(context, roles)):
        found += await _identity(context, group, accounts, first=number == 0)
    if roles == AGENTS and accounts:
        found.append(account.two_accounts(context.settings, accounts))
    return found


def identities(context: Machine, roles: frozenset[Role]) -> list[frozenset[Role]]:
    """The agents that share an account: the reviewer may have one of its own."""
    alone = roles & {Role.REVIEWER} if account.reviews_alone(context.settings) else frozenset()
    return [group for group in (roles - alone, alone) if group]


async def _identity(context: Machine, roles: frozenset[Role], accounts: list[Account], *, first: bool) -> list[Finding]:
    """One identity in all repositories; its account is added to `accounts`."""
    found: list[Finding] = []
    try:
        async with acting(context, roles) as (process, known):
            me = next(iter(known.values()))
            accounts.append(me.account)
            found.append(account.signed_in(me.account, roles))
            if first:
                found.append(account.clock(me.github))
            for name, signed in known.items():
                found += await _repository(context, process, name, signed, roles, first=first)
    except Transient as error:
        found.append(unanswered("token", str(error)))
    except EngineError as error:
        found.append(failed("token", str(error), f"Set a token that may do this, and try again: {link(TOKENS)}"))
    return found


def acting(
    context: Machine, roles: frozenset[Role]
) -> AbstractAsyncContextManager[tuple[Process, Mapping[str, SignedIn]]]:
    """Sign in as these agents, from a directory in the state directory, or in the system's own if that is unusable."""
    state_dir = context.settings.state_dir
    within = state_dir if state_dir.is_dir() and machine.writable(state_dir) else None
    return visiting(context.settings, context.environment, context.clock, min(roles), within=within)


async def _repository(
    context: Machine, process: Process, name: str, me: SignedIn, roles: frozenset[Role], *, first: bool
) -> list[Finding]:
    configured = next(one for one in context.settings.repositories if one.name == name)
    try:
        current = await People(me.github, name).repository()
    except Misconfigured as error:
        step = "Correct its name, or give the token access to it, and try again."
        return [failed("repository", str(error), step, name)]
    except Transient as error:
        return [unanswered("repository", str(error), name)]
    except EngineError as error:
        return [failed("repository", str(error), AGAIN, name)]
    found = repository.described(configured, current) if first else []
    if current.archived:
        sentence = "Nothing can be tried in an archived repository."
        return [*found, skipped("everything else", sentence, repository.UNARCHIVE, current.full_name)]
    visit = visit_of(context, process, me, roles, configured, current)
    for probe in (*OF_IDENTITY, *OF_REPOSITORY) if first else OF_IDENTITY:
        found += await _safely(probe.__name__.replace("_", " "), current.full_name, probe(visit))
    return found


@asynccontextmanager
async def visited_repository(context: Machine, roles: frozenset[Role]) -> AsyncIterator[RepositoryContext]:
    """Give the only configured repository, seen by the identity that acts for `roles`; raises what GitHub answers."""
    (configured,) = context.settings.repositories
    async with acting(context, roles) as (process, known):
        (me,) = known.values()
        repository = await People(me.github, configured.name).repository()
        yield visit_of(context, process, me, roles, configured, repository)


def visit_of(
    context: Machine,
    process: Process,
    me: SignedIn,
    roles: frozenset[Role],
    configured: RepositorySettings,
    repository: Repository,
) -> RepositoryContext:
    """Return one repository as `me` sees it, with a git that signs in as `me`."""
    mirror = mirror_of(process, me.answers, repository.full_name)
    return RepositoryContext(context, configured, roles, me, repository, mirror.git, mirror.url)


async def _safely(subject: str, name: str, probing: Awaitable[Sequence[Finding]]) -> Sequence[Finding]:
    """Return the findings of a probe, or a finding that it broke."""
    try:
        return await probing
    except Transient as error:
        return [unanswered(subject, f"It could not be tried: {error}", name)]
    except (EngineError, CommandFailed, OSError) as error:
        step = f"Mend what the sentence names; if nothing here is wrong, report it: {link(REPORTING)}"
        return [failed(subject, f"It could not be tried: {error}", step, name)]
