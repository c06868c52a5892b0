"""What `merge` will mean in a repository, by what its base branch requires: said before anything waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from console.doctor.account import reviews_alone
from console.doctor.context import RepositoryContext
from console.doctor.finding import Finding, passed
from shared.github.merge_rules import BranchRules, MergeRules
from shared.github.protection import Protection, protection

_WHO = {
    "never": "People merge what is approved",
    "approve": "The engine merges what is approved, after `/merge`",
    "auto": "The engine merges what is approved",
}


async def merge(visit: RepositoryContext) -> Sequence[Finding]:
    """Who merges, how, and what each merge waits for."""
    github, branch = visit.me.github, visit.base_branch
    rules = await BranchRules(github, visit.name).of(branch)
    hidden = await protection(github, visit.name, branch) is Protection.UNKNOWN
    alone = reviews_alone(visit.machine.settings)
    return [merge_finding(visit.configured.merge, branch, rules, visit.name, alone=alone, hidden=hidden)]


def merge_finding(configured: str, branch: str, rules: MergeRules, where: str, *, alone: bool, hidden: bool) -> Finding:
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
    return passed("merge", sentence, where)


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
