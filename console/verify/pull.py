"""The part of `verify` that asks GitHub: the claim in a pull request, its commits, and its specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.credentials import signing_keys
from config.settings import Settings
from runtime.building.assembly import Process, mirror_of
from runtime.building.sign_in import SignedIn, visiting
from shared.git import objects, proof_claim
from shared.git.mirror import Mirror
from shared.git.names import issue_of_branch
from shared.git.proof_claim import Claim, NoClaim
from shared.git.workspace import Workspace
from shared.github.errors import NotFound
from shared.github.issues import Issues
from shared.github.people import People, invisible_item
from shared.github.pulls import Pulls
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence
from shared.loop.real_clock import RealClock
from shared.models import PullRequest
from shared.pending import mark
from shared.specification import read
from shared.text.comment_signatures import CommentSignatures, Key, Keyring
from shared.workflow import Role
from worker_agent.attempt_history import commit_notes
from worker_agent.tdd.proof.old_tests import later_losses
from worker_agent.verify.clone import brought, cloned, later, placed
from worker_agent.verify.compare import Falsehood, History, contradicted
from worker_agent.verify.repeat import Ask
from worker_agent.verify.report import Report
from worker_agent.verify.visible import edited_issue, edited_table

NOT_RUN = frozenset({"signature", "history"})
"""Claims that, if false, mean that nobody vouches for the commits: then nothing is run, not even a set-up."""

UNSEEN = "nothing was run"


@dataclass(frozen=True, slots=True)
class Material:
    """All that an examination needs of GitHub; with it, nobody has to be signed in any more."""

    subject: str
    claim: Claim | None
    ask: Ask
    history: History
    mirror: Mirror
    space: Workspace
    found: tuple[Falsehood, ...]
    remarks: tuple[str, ...]


async def fetched(settings: Settings, environment: Mapping[str, str], number: int, place: Path) -> Material | Report:
    """Return the claim of pull request `number` and a clone below `place`; a report where there is nothing to examine.

    The token is gone from this machine's files when this returns, before any test is run. Raises
    `Misconfigured`, `Unauthorized`, `NotAllowed`, `Gone` and `Transient`.
    """
    scratch = settings.state_dir if settings.state_dir.is_dir() else None
    async with visiting(settings, environment, RealClock(), within=scratch) as (process, known):
        me = next(iter(known.values()))
        return await _Visit(process, me, settings.repositories[0].name).material(number, place)


class _Visit:
    """One repository, signed in."""

    def __init__(self, process: Process, me: SignedIn, name: str) -> None:
        self._process = process
        self._me = me
        self._name = name

    async def material(self, number: int, place: Path) -> Material | Report:
        try:
            pull = await Pulls(self._me.github, self._name).pull_request(number)
        except NotFound as error:
            raise await invisible_item(self._me.github, self._name, number) from error
        subject = f"{self._name}#{number}"
        keys = await self._keys()
        try:
            claim, signed = proof_claim.read(pull.body, keys)
        except NoClaim as error:
            return await self._unclaimed_pull(pull, subject, str(error), place)
        mirror = mirror_of(self._process, self._me.answers, self._name)
        mirror, space = await cloned(mirror.git, mirror.url, place)
        for commit in (claim.base, claim.head, pull.head_sha):
            if not await brought(mirror, commit):
                gone = Falsehood("history", f"The commit {commit[:12]} does not exist in {self._name}.")
                return Report(subject, claim.base, pull.head_sha, true=False, false=(gone,))
        found, remarks = _identity(claim, signed, pull)
        notes = await commit_notes(mirror, claim.issue, claim.head, keys)
        found += tuple(contradicted(claim, notes))
        if not notes:
            remarks += ("there are no notes that a key of this configuration signed: effort is not compared",)
        history, base = await placed(mirror, claim, pull.head_sha, pull.base_branch, merged=pull.merged)
        found += tuple(await _weakened_tests(space, claim.head, pull.head_sha))
        beforehand = (*found, *(Falsehood("history", why) for why in history.why))
        if any(one.what in NOT_RUN for one in beforehand):
            return Report(subject, base, pull.head_sha, true=False, false=beforehand, remarks=(*remarks, UNSEEN))
        remarks += await later(mirror, claim.head, pull.head_sha)
        if not history.same_base:
            remarks += (f"the base branch was merged since; examined on {base[:12]}, counts of it are not compared",)
        found += tuple(edited_table(pull.body, claim))
        issue = await Issues(self._me.github, self._name).issue(issue_of_branch(pull.head_branch) or claim.issue)
        found += tuple(edited_issue(issue, await _fence(mirror, issue.number)))
        waits = mark.read(issue.body, keys)
        ask = Ask(
            base,
            pull.head_sha,
            specification=read(issue.body),
            pending=waits.test if waits else "",
            claimed=claim.baseline,
        )
        return Material(subject, claim, ask, history, mirror, space, found, remarks)

    async def _unclaimed_pull(self, pull: PullRequest, subject: str, reason: str, place: Path) -> Material | Report:
        """A pull request of which the engine claims nothing: it is judged by its own difference."""
        mirror = mirror_of(self._process, self._me.answers, self._name)
        mirror, space = await cloned(mirror.git, mirror.url, place)
        tip = await mirror.tip(pull.base_branch)
        if tip is None or not await brought(mirror, pull.head_sha):
            gone = Falsehood("history", f"The commits of {subject} cannot be fetched from {self._name}.")
            return Report(subject, "", pull.head_sha, true=False, false=(gone,), claimed=False)
        base = (await mirror.git.run("merge-base", tip, pull.head_sha, ok=(0, 1))).text or tip
        issue = issue_of_branch(pull.head_branch)
        body = (await Issues(self._me.github, self._name).issue(issue)).body if issue else pull.body
        ask = Ask(base, pull.head_sha, specification=read(body))
        return Material(subject, None, ask, History(), mirror, space, (), (f"no claim: {reason}",))

    async def _keys(self) -> Keyring:
        repository = await People(self._me.github, self._name).repository()
        signing = tuple(Key.of(secret) for secret in signing_keys(self._process.settings.lock))
        return Keyring(repository.id, signing)


async def _weakened_tests(space: Workspace, claimed: str, head: str) -> list[Falsehood]:
    """Tests that commits after the claim took from, whoever pushed them."""
    await space.bring(claimed)
    await space.bring(head)
    changed = sorted({change.path for change in await space.changes(claimed, head)})
    before, after = [await objects.existing(space.git, one, changed) for one in (claimed, head)]
    found = later_losses(before, after)
    return [Falsehood("tests", f"After the claim: {sentence}") for sentence in found]


async def _fence(mirror: Mirror, number: int) -> Fence | None:
    """The worker's fence of an issue, which says with which text the work was begun; None when there is none."""
    key = ItemKey(Role.WORKER, number)
    oid = await mirror.refresh(key.ref)
    if oid is None:
        return None
    return read_fence(key, oid, (await mirror.git.run("log", "-1", "--format=%B", oid, "--")).text)


def _identity(
    claim: Claim, signed: CommentSignatures, pull: PullRequest
) -> tuple[tuple[Falsehood, ...], tuple[str, ...]]:
    """Check the author of the claim, and its issue: return the falsehoods and the remarks."""
    found: list[Falsehood] = []
    remarks: list[str] = []
    named = issue_of_branch(pull.head_branch)
    if named != claim.issue:
        told = "no issue's work branch" if named is None else f"the work branch of #{named}"
        found.append(Falsehood("history", f"The claim is about #{claim.issue}; '{pull.head_branch}' is {told}."))
    if signed is CommentSignatures.INVALID:
        found.append(Falsehood("signature", "The claim was not written by this engine, or was changed since."))
    elif signed is CommentSignatures.UNKNOWN_KEY:
        remarks.append("the claim is signed with a key that is not configured here, so nobody vouches for its words")
    return tuple(found), tuple(remarks)
