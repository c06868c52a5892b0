"""One repository: what it is, its labels, what may be done in it, and whether its git server is fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from config.repository import RepositorySettings
from console.doctor.finding import Finding, RepositoryContext, failed, passed, pushes_workflows, warned
from console.manual import link
from runtime.building.identity import git_identity
from shared.errors import NotAllowed
from shared.git.names import work_branch
from shared.git.probe import UnfitServer, try_server
from shared.github import item_changes
from shared.github.access import access, granted_to_app
from shared.github.branch_rules import Protection, missing_for_approvals, protection, refusing_pushes
from shared.github.label_board import LabelBoard
from shared.lock.write_permit import OperatorPermit
from shared.models import Repository

ORDER = OperatorPermit("doctor")

UNARCHIVE = "Remove it from the configuration, or take it out of the archive."
GUARANTEES = "docs/troubleshooting.md#what-the-git-server-must-guarantee"


def described(configured: RepositorySettings, repository: Repository) -> list[Finding]:
    """Report the state of the repository: there, archived, renamed, public."""
    name = repository.full_name
    if repository.archived:
        return [failed("repository", "It is archived: nothing can be changed there.", UNARCHIVE, name)]
    findings = [passed("repository", f"There; its default branch is {repository.default_branch}.", name)]
    if configured.name.casefold() != name.casefold():
        sentence = f"{configured.name} is called {name} now."
        findings = [warned("repository", sentence, "Write its new name into the configuration.", name)]
    if not repository.private:
        step = "Leave the defaults on: only the labels and commands of people with write access count."
        findings.append(warned("public", "Anybody can open issues and comment there.", step, name))
    return findings


async def labels(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether all labels of the engine are defined."""
    missing = await LabelBoard(visit.me.github, visit.configured.name, visit.configured.labels.names()).missing()
    if not missing:
        return [passed("labels", "All are defined.", visit.name)]
    sentence = f"{len(missing)} are missing: {', '.join(missing)}."
    return [
        warned(
            "labels",
            sentence,
            f"Run `{visit.machine.command(f'init {visit.configured.name}')}` to make them.",
            visit.name,
        )
    ]


async def label_changes(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether labels that change together change in one request."""
    subject = f"label changes of {visit.me.account.login}"
    if why := await item_changes.refusal(visit.me.github, ORDER):
        step = "Nothing has to be done: each label is changed by itself, with some ten requests more for each item."
        return [warned(subject, f"GitHub refuses them by GraphQL: {why}", step, visit.name)]
    return [passed(subject, "Those that change together change in one request, by GraphQL.", visit.name)]


async def permissions(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether this identity may do what its agents do."""
    subject = f"permissions of {visit.me.account.login}"
    found = await access(visit.me.github, visit.configured.name, visit.roles, visit.base_branch, ORDER)
    who = ", ".join(sorted(visit.roles))
    if found.missing:
        sentence = f"The token lacks {', '.join(found.missing)}; {who} cannot work without."
        return [failed(subject, sentence, _step(visit, found.missing), visit.name)]
    if found.unclear:
        sentence = f"GitHub's answer does not tell whether the token has {', '.join(found.unclear)}."
        step = f"Look at the token's settings, and whether the branch {visit.base_branch} exists."
        return [warned(subject, sentence, step, visit.name)]
    return [passed(subject, f"Everything that {who} need.", visit.name), *await _of_app(visit, subject)]


def no_checks() -> str:
    """Return the next step for a private repository; GitHub offers fine-grained tokens no permission for checks."""
    return (
        "GitHub offers fine-grained tokens no permission for checks: for a private repository use a classic token with "
        f"the scope repo, or a GitHub App with Checks: read ({link('docs/github-app.md')}). "
        "All else works with a fine-grained one."
    )


def _step(visit: RepositoryContext, missing: Collection[str]) -> str:
    """Return the next step for missing permissions; a token that is neither classic nor an App's is fine-grained."""
    step = "Give the token these permissions; its account needs write access to the repository."
    fine_grained = visit.me.app is None and visit.me.github.scopes is None
    if not (fine_grained and visit.repository.private and "checks: read" in missing):
        return step
    return no_checks() if len(missing) == 1 else f"{step} {no_checks()}"


async def _of_app(visit: RepositoryContext, subject: str) -> Sequence[Finding]:
    """Report permissions of a GitHub App that it does not need, and those that it lacks for what is configured."""
    if visit.me.app is None:
        return []
    granted = await granted_to_app(visit.me.app, visit.configured.name)
    return app_findings(granted, subject, visit.name, pushes=pushes_workflows(visit.configured, visit.roles))


def app_findings(granted: Mapping[str, str], subject: str, name: str, *, pushes: bool) -> list[Finding]:
    """Judge an App's permissions (permission -> level): report those beyond need, and those that are missing.

    `pushes`: it is to push workflow files that a repair of CI has changed.
    """
    findings, beyond = [], []
    if "workflows" in granted and not pushes:
        beyond.append("workflows")
    if "administration" in granted:
        beyond.append("settings")
    if beyond:
        sentence = f"The App may change {' or '.join(beyond)}, which the engine never does here."
        findings.append(warned(subject, sentence, "Take these permissions from the App.", name))
    if pushes and granted.get("workflows") != "write":
        sentence = "ci.may_edit_workflows is on, but GitHub refuses a push of the App that changes a workflow file."
        step = "Give the App workflows: write, or switch ci.may_edit_workflows off."
        findings.append(warned(subject, sentence, step, name))
    return findings


async def git_server(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether the git server refuses wrong leases, pushes all or nothing, and takes refs of ours."""
    try:
        await try_server(visit.git, visit.url, git_identity(visit.me.account), ORDER)
    except UnfitServer as error:
        step = f"Ask who runs the server for what it must guarantee; no agent starts before: {link(GUARANTEES)}"
        return [failed("git server", str(error), step, visit.name)]
    except NotAllowed as error:
        step = "Give the token contents: write, and its account write access to the repository."
        return [failed("git server", f"A push to refs/ack/doctor/ is not allowed: {error}", step, visit.name)]
    sentence = "Takes refs below refs/ack/, refuses a wrong lease, and pushes all or nothing."
    return [passed("git server", sentence, visit.name)]


async def base_branch(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether the base branch is protected against a push by the engine's own accounts."""
    github, name, branch = visit.me.github, visit.configured.name, visit.base_branch
    found = await protection(github, name, branch)
    findings = [protection_finding(found, branch, visit.name)]
    lacking = await missing_for_approvals(github, name, branch) if found is Protection.PULL_REQUESTS else None
    findings += [] if lacking is None else [approvals_finding(lacking, branch, visit.name)]
    refusing = await refusing_pushes(github, name, work_branch(1))
    return [*findings, work_branches_finding(refusing, visit.name)] if refusing else findings


def work_branches_finding(refusing: Sequence[str], name: str) -> Finding:
    """Judge rules that hold for the engine's own branches as well."""
    sentence = f"Rules about {', '.join(refusing)} hold for auto/** too: what was paid for may not be pushed."
    step = "Except auto/** from these rules, or let the engine's account bypass them."
    return warned("work branches", sentence, step, name)


def approvals_finding(lacking: Sequence[str], branch: str, name: str) -> Finding:
    """Judge whether an approval is always of the commit that is merged."""
    subject = "approvals"
    if not lacking:
        return passed(subject, f"On {branch} an approval is of the commit that is merged.", name)
    settings = " and ".join(f"'{one}'" for one in lacking)
    sentence = f"On {branch} an approval may be of an older commit than what a person merges: {settings} is off."
    if len(lacking) > 1:
        sentence = sentence.replace(" is off.", " are off.")
    return warned(subject, sentence, f"Switch it on in the rules for {branch}.", name)


def protection_finding(found: Protection, branch: str, name: str) -> Finding:
    """Judge the protection of a branch."""
    subject = "branch protection"
    step = f"Protect {branch}: require pull requests, without exceptions for the engine's accounts."
    match found:
        case Protection.ABSENT:
            return failed(subject, f"There is no branch {branch}.", "Set base_branch to one that exists.", name)
        case Protection.NONE:
            return warned(subject, f"{branch} is not protected: the engine's accounts can push to it.", step, name)
        case Protection.PUSHABLE:
            sentence = f"{branch} is protected, but no rule asks for pull requests: a direct push may be possible."
            return warned(subject, sentence, step, name)
        case Protection.PULL_REQUESTS:
            return passed(subject, f"{branch} changes by pull requests only.", name)
        case Protection.UNKNOWN:
            return passed(subject, f"{branch} is protected; how, only an administrator can see.", name)
