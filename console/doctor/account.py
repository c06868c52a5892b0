"""The identities on GitHub: who signs in, with what kind of token, and whether the clocks agree."""

from __future__ import annotations

from collections.abc import Sequence

from config.settings import Settings
from console.doctor.finding import Finding, RepositoryContext, failed, passed, pushes_workflows, skipped, warned
from shared.github.client import GitHub
from shared.models import Account
from shared.workflow import Role

_APP = "[bot]"
"""The end of an App's login; nobody else can take such a one."""

_NARROWER = "Use a GitHub App for this repository alone, or a fine-grained token where it is public."
"""Fine-grained tokens have no permission for checks: https://github.com/github/rest-api-description/issues/4290."""

DRIFT_SECONDS = 30.0
"""A local clock further from GitHub's deserves a word; no decision depends on it."""


def signed_in(account: Account, roles: frozenset[Role]) -> Finding:
    """Report the account that acts for these agents."""
    return passed("token", f"GitHub takes {account.login} for the {_names(roles)}.")


def two_accounts(settings: Settings, accounts: Sequence[Account]) -> Finding:
    """Report whether the reviewer's account differs from the writer's. `accounts`: one for each identity."""
    subject = "second account"
    step = "For approvals that count for GitHub give the reviewer an account of its own (github.reviewer_...)."
    if not reviews_alone(settings):
        sentence = "One account writes and reviews: GitHub takes its reviews as comments only."
        return warned(subject, sentence, step)
    if len(accounts) < 2:
        return skipped(subject, "Only one identity was examined.", "Mend what failed of the other one, and try again.")
    if accounts[0].id == accounts[1].id:
        return warned(subject, f"Both tokens belong to {accounts[0].login}: its reviews are comments only.", step)
    unknown = {one.id for one in accounts} - set(settings.github.accounts)
    if unknown and any(one.login.endswith(_APP) for one in accounts):
        sentence = "GitHub does not tell what an App may do: its labels and remarks count for nothing."
        numbers = ", ".join(str(one.id) for one in accounts)
        return failed(subject, sentence, f"Name both accounts: github: {{accounts: [{numbers}]}}.")
    return passed(subject, f"{accounts[1].login} reviews what {accounts[0].login} writes.")


def reviews_alone(settings: Settings) -> bool:
    """Return whether the reviewer has a token or an App of its own."""
    return settings.github.reviewer_token_file is not None or settings.github.reviewer_app is not None


def clock(github: GitHub) -> Finding:
    """Report whether this machine's clock is near GitHub's; call it after an answer has come."""
    return clock_finding(github.clock.now() - github.server_time.timestamp())


def clock_finding(ahead_seconds: float) -> Finding:
    """Judge the difference of the clocks, in seconds that this machine's is ahead of GitHub's."""
    if abs(ahead_seconds) <= DRIFT_SECONDS:
        return passed("clock", "Agrees with GitHub's.")
    direction = "ahead of" if ahead_seconds > 0 else "behind"
    sentence = f"This machine's clock is {abs(ahead_seconds):.0f} s {direction} GitHub's; the order of locks is not."
    return warned("clock", sentence, "Let a time service set it (timedatectl set-ntp true): logs and Apps need it.")


_WORKFLOW = "workflow"
"""The scope with which a classic token may push changes of workflow files."""


async def scopes(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether a classic token has exactly the scopes that are needed; other kinds of token have none."""
    held = visit.me.github.scopes
    if held is None:
        return []
    pushes = pushes_workflows(visit.configured, visit.roles)
    return [scopes_finding(held, private=visit.repository.private, name=visit.name, pushes=pushes)]


def scopes_finding(held: frozenset[str], *, private: bool, name: str, pushes: bool = False) -> Finding:
    """The scopes of a classic token, judged; `pushes`: it is to push changed workflow files."""
    subject, enough = "token scopes", {"repo"} if private else {"repo", "public_repo"}
    said = ", ".join(sorted(held)) or "none"
    if not held & enough:
        step = f"Give it the scope {' or '.join(sorted(enough))}, or use a GitHub App."
        return failed(
            subject, f"The classic token has the scopes {said}, which do not open this repository.", step, name
        )
    if pushes and _WORKFLOW not in held:
        sentence = (
            "ci.may_edit_workflows is on, but GitHub refuses a push with this token that changes a workflow file."
        )
        step = f"Give it the scope {_WORKFLOW}, or switch ci.may_edit_workflows off."
        return warned(subject, sentence, step, name)
    beyond = held - enough - ({_WORKFLOW} if pushes else set())
    if beyond:
        sentence = f"The classic token may more than the engine needs: {', '.join(sorted(beyond))}."
        return warned(subject, sentence, _NARROWER, name)
    sentence = f"The classic token ({said}) opens every repository of its account."
    return warned(subject, sentence, _NARROWER, name)


def _names(roles: frozenset[Role]) -> str:
    return ", ".join(role for role in (Role.PLANNER, Role.WORKER, Role.REVIEWER) if role in roles)
