"""Sign-in of `start`: a token found or asked for, its permissions, and the reviewer's own identity, if any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from config.credentials import PASTED, TOKEN_ORIGIN
from config.environment import config_place
from config.settings import Settings
from console.doctor import account, repository
from console.doctor.finding import Finding, Machine, failed, healthy, only_passing, unanswered
from console.doctor.probes import visited_repository
from console.init.files import NewFile, addition
from console.manual import link
from console.start.draft import Draft
from console.start.questions import Nobody, NotReady, Person, ask, failures
from runtime.building.sign_in import git_server, with_gh_token
from runtime.output import show
from shared.errors import EngineError, Gone, Invisible, Misconfigured, Transient, Unauthorized
from shared.github.access import needed
from shared.models import Account
from shared.workflow import AGENTS, Role

_NAMES = {
    "contents": "Contents",
    "issues": "Issues",
    "pull_requests": "Pull requests",
    "checks": "Checks",
    "statuses": "Commit statuses",
    "actions": "Actions",
}
"""Permissions as GitHub's forms call them."""

WHOSE = "Whose token it is, the engine writes as: yours does for a first try, a machine account's is better."


def reviewers_own() -> str:
    """Return the purpose of a second account, and the page that says how to add it."""
    return (
        "The reviewer may have an account of its own. With one account for all, GitHub takes reviews as comments only, "
        "and nothing merges without you. It can be added at any time: "
        f"{link('docs/github-app.md#the-reviewers-own-identity')}"
    )


def signed_in(draft: Draft, environment: Mapping[str, str], person: Person) -> tuple[Draft, Mapping[str, str], Account]:
    """Return the draft and the environment with a token that was tried, and the token's account.

    Raises `NotReady` where there is none, and for one that lacks something; `Transient` where GitHub does not answer.
    """
    settings = draft.settings(environment)
    place = config_place(environment) / "github.token"
    if not draft.known and draft.before is None and place.is_file():
        draft = draft.choosing(token_file=place)
        settings = draft.settings(environment)
    with_token, origin = _existing_token(settings, environment)
    if with_token is not None:
        try:
            return draft, with_token, _check_token(draft.machine(with_token, quick=True), origin)
        except NotReady as error:
            if settings.github.token_file != place:
                raise
            show(str(error))  # one that was pasted earlier: another one takes its place
    show(how_to(settings.github.api_url, draft.choices.repository))
    if isinstance(person, Nobody):
        raise NotReady(f"Without a token nothing can be done: set {settings.github.token_env}, and start again.")
    for _ in range(2):
        token = ask(person, "Paste the token (it is not shown)", _fault_of_token, secret=True, otherwise=NotReady)
        with_token = {**environment, settings.github.token_env: token, TOKEN_ORIGIN: PASTED}
        try:
            me = _check_token(draft.machine(with_token, quick=True), "the token that you pasted")
        except NotReady as error:
            show(str(error))
            continue
        return _keep_token(draft, place, token), with_token, me
    raise NotReady("GitHub does not let this token in. Make another one, and start again.")


def _existing_token(settings: Settings, environment: Mapping[str, str]) -> tuple[Mapping[str, str] | None, str]:
    """The environment with a token that is there already, and where it was found; None where there is none."""
    github = settings.github
    if github.app is not None:
        return environment, "the GitHub App"
    if github.token_file is not None:
        return environment, str(github.token_file)
    if environment.get(github.token_env, "").strip():
        return environment, f"the variable {github.token_env}"
    known = with_gh_token(settings, environment)
    return (known, "`gh auth login`") if known.get(github.token_env) else (None, "")


def how_to(api_url: str, name: str) -> str:
    """Return where to make a token, and the permissions it needs, by their names on GitHub's form."""
    levels = needed(AGENTS)
    writes = ", ".join(_NAMES[one] for one, level in levels.items() if level == "write")
    reads = ", ".join(_NAMES[one] for one, level in levels.items() if level == "read" and one != "checks")
    server = git_server(api_url)
    return (
        "There is no token yet: none in GITHUB_TOKEN, none of `gh auth login`. Make one in the browser.\n"
        f"If {name} is private: a classic one with the scope repo (fine-grained ones cannot read Checks there):\n"
        f"  {server}/settings/tokens/new?scopes=repo&description=workflow-engine\n"
        f"If it is public: a fine-grained one for this repository alone; read and write: {writes}; read: {reads}:\n"
        f"  {server}/settings/personal-access-tokens/new\n"
        f"{WHOSE}"
    )


def _fault_of_token(token: str) -> str:
    if not token:
        return "Without a token nothing can be done: paste one, or set GITHUB_TOKEN and start again."
    usable = token.isascii() and token.isprintable() and " " not in token
    return "" if usable else "That is no token: it has blanks or characters that no token has."


def _keep_token(draft: Draft, place: Path, token: str) -> Draft:
    """The token in a file of its own, which the configuration names; one that is there already is replaced."""
    place.unlink(missing_ok=True)
    NewFile(place, lambda: f"{token}\n").write()
    if draft.known or draft.before is not None:
        for_later = addition(draft.before or "", "github", "token_file", place)
        show(f"Kept in {place}. For later, in {draft.path}: {for_later}")
        return draft
    show(f"Kept in {place}, readable by you alone.")
    return draft.choosing(token_file=place)


def _check_token(machine: Machine, origin: str, role: Role | None = None) -> Account:
    """Return the token's account; raises `NotReady` naming what it lacks, `Transient` where GitHub does not answer."""
    roles = AGENTS if role is None else frozenset({role})
    found, me = anyio.run(_examine_token, machine, roles)
    if not healthy(found) or me is None:
        raise Transient(failures(found)) if only_passing(found) else NotReady(failures(found))
    show(f"{me.login}, by {origin}: may do all that {'the agents need' if role is None else f'a {role} needs'}.")
    return me


async def _examine_token(machine: Machine, roles: frozenset[Role]) -> tuple[Sequence[Finding], Account | None]:
    """Return the doctor's findings about an identity and its permissions, and its account."""
    try:
        async with visited_repository(machine, roles) as visit:
            found = repository.described(visit.configured, visit.repository)
            if healthy(found):
                found += [*await repository.permissions(visit), *await account.scopes(visit)]
            return found, visit.me.account
    except Invisible as error:
        return [failed("repository", str(error), "Correct one of the two, and start again.")], None
    except (Unauthorized, Misconfigured) as error:
        return [failed("token", str(error), "Put a token there that GitHub takes, and start again.")], None
    except Gone as error:
        step = "Correct the address of the server's API (--api-url, or github.api_url), and start again."
        return [failed("GitHub", str(error), step)], None
    except Transient as error:
        return [unanswered("GitHub", str(error))], None
    except EngineError as error:
        return [failed("GitHub", str(error), "Start again when it answers.")], None


def reviewer(draft: Draft, environment: Mapping[str, str], person: Person, writer: Account) -> Draft:
    """The draft with the reviewer's token where the person has one; raises `NotReady` for one that lacks something."""
    settings = draft.settings(environment)
    given = draft.choices.reviewer_token_file
    if account.reviews_alone(settings):
        origin = str(settings.github.reviewer_token_file or "an App")
        me = _check_token(draft.machine(environment, quick=True), origin, Role.REVIEWER)
        if me.id == writer.id:
            raise NotReady(f"The reviewer's token belongs to {me.login} as well: it has to be another account's.")
        return draft
    if draft.known or draft.before is not None or given is not None:
        return draft
    show(reviewers_own())
    place = config_place(environment) / "reviewer.token"
    answer = ask(person, "Token of the reviewer's own account (Enter: leave it out)", _fault_if_any, secret=True)
    if not answer:
        show("Left out: one account for all.")
        return draft
    place.unlink(missing_ok=True)
    NewFile(place, lambda: f"{answer}\n").write()
    try:
        return reviewer(draft.choosing(reviewer_token_file=place), environment, person, writer)
    except NotReady:
        place.unlink()
        raise


def _fault_if_any(token: str) -> str:
    return _fault_of_token(token) if token else ""
