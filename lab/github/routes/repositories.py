"""Operations on a repository, its collaborators, its branches and their protection."""

from __future__ import annotations

from urllib.parse import quote

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found, redirected
from lab.github.wire import commits as commit_wire
from lab.github.wire import repositories as wire
from lab.github.world.repository import Protection

routes = Operations()

LEVEL_OF = {"pull": "read", "triage": "write", "push": "write", "maintain": "admin", "admin": "admin"}
"""GitHub's five roles as the lab's three levels."""

_HEADS = "refs/heads/"


@routes.get("")
async def get_repository(call: ApiCall) -> Reply:
    """The repository, with the caller's permissions."""
    return Reply(body=call.show(wire.repository, viewer=call.login))


@routes.get("/collaborators")
async def list_collaborators(call: ApiCall) -> Reply:
    """List people with more than read access, for those who may write; the owner is no outside collaborator."""
    facts = call.repository.facts
    if not call.trusted:
        raise Refusal(403, "Must have push access to view repository collaborators.")
    affiliation = call.choice("Collaborator", "affiliation", ("all", "direct", "outside"))
    least = LEVEL_OF[call.choice("Collaborator", "permission", tuple(LEVEL_OF))]
    logins = [*([] if affiliation == "outside" else [facts.owner]), *facts.collaborators]
    found = [login for login in dict.fromkeys(logins) if facts.reaches(login, least)]
    accounts = [call.site.world.account(login) for login in found]
    return call.list(wire.collaborator, accounts)


@routes.get("/collaborators/{username}/permission")
async def get_permission(call: ApiCall) -> Reply:
    """Return a person's current permission."""
    account = call.site.world.find_account(call.match["username"])
    if account is None:
        raise not_found()
    return Reply(body=call.show(wire.permission, account))


@routes.get("/branches", "contents")
async def list_branches(call: ApiCall) -> Reply:
    """All branches by name, or only those that are (not) `protected`."""
    heads = await call.repository.bare.refs(_HEADS)
    protected, guarded = call.query.get("protected"), call.repository.facts.protections
    named = {ref.removeprefix(_HEADS): sha for ref, sha in heads.items()}
    found = [head for head in named.items() if protected in {None, str(head[0] in guarded).lower()}]
    return call.page(found, lambda head: call.show(wire.short_branch, *head))


@routes.read_as_admin("/branches/{branch}/protection/required_status_checks")
async def get_required_checks(call: ApiCall) -> Reply:
    """The checks that a branch requires; 404 when it requires none."""
    name, protection = await _protection(call)
    if not protection.checks:
        raise Refusal(404, "Required status checks not enabled")
    return Reply(body=call.show(wire.required_checks, name, protection))


@routes.read_as_admin("/branches/{branch}/protection")
async def get_protection(call: ApiCall) -> Reply:
    """Return the protection of a branch; 404 when it has none."""
    name, protection = await _protection(call)
    return Reply(body=call.show(wire.protection, name, protection))


@routes.get("/branches/{branch}", "contents")
async def get_branch(call: ApiCall) -> Reply:
    """One branch with its newest commit; 301 to its present name when it was renamed."""
    facts, asked = call.repository.facts, call.match["branch"]
    if asked in facts.former_branches and await call.repository.bare.sha(f"{_HEADS}{asked}") is None:
        place = f"/repositories/{facts.id}/branches/{quote(facts.former_branches[asked], safe='')}"
        raise redirected("GET", f"{call.site.root}{place}")
    name, sha = await _branch(call)
    commit = call.show(commit_wire.commit, await call.repository.bare.commit(sha))
    return Reply(body=call.show(wire.branch, name, commit))


@routes.get("/rules/branches/{branch}")
async def list_rules(call: ApiCall) -> Reply:
    """The rules that hold for a branch, whether it exists or not."""
    return call.page(wire.rules(call.repository, call.match["branch"]), lambda rule: rule)


async def _protection(call: ApiCall) -> tuple[str, Protection]:
    name, _ = await _branch(call)
    found = call.repository.facts.protections.get(name)
    if found is None:
        raise Refusal(404, "Branch not protected")
    return name, found


async def _branch(call: ApiCall) -> tuple[str, str]:
    name = call.match["branch"]
    sha = await call.repository.bare.sha(f"{_HEADS}{name}")
    if sha is None:
        raise Refusal(404, "Branch not found")
    return name, sha
