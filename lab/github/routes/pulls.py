"""Pull requests: list, create, read, change, merge; their files and commits."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, custom, invalid, no_rights, not_found
from lab.github.merge_button import COMMITS_READ, HEAD_MOVED, MergeOrder, bring_up_to_date, mergeable, press, state
from lab.github.repositories.pull_refs import hide_merge, show_head
from lab.github.routes.commits import diff_or_patch
from lab.github.wire import commits as commit_wire
from lab.github.wire import pulls as wire
from lab.github.wire.site import Json
from lab.github.world.pulls import PullRecord

routes = Operations()


@routes.get("/pulls", "pull_requests")
async def list_pulls(call: ApiCall) -> Reply:
    """Pull requests by state, head (`owner:branch`) and base, newest first unless asked otherwise."""
    pulls, wanted = call.repository.pulls, call.choice("PullRequest", "state", ("open", "closed", "all"))
    head, base = call.query.get("head"), call.query.get("base")
    owner = call.repository.facts.owner

    def fits(pull: PullRecord) -> bool:
        of_head = head in {None, f"{pull.fork.partition('/')[0] or owner}:{pull.head_branch}"}
        of_state = wanted == "all" or pulls.thread(pull.number).open == (wanted == "open")
        return of_head and of_state and base in {None, pull.base_branch}

    found = pulls.records.seen(call.stale, fits)
    sort = call.choice("PullRequest", "sort", ("created", "updated", "popularity", "long-running"))
    default = ("desc", "asc") if sort == "created" else ("asc", "desc")
    field = "updated_at" if sort == "updated" else "created_at"
    descending = call.choice("PullRequest", "direction", default) == "desc"
    found.sort(key=lambda pull: (getattr(pulls.thread(pull.number), field), pull.number), reverse=descending)
    return call.list(wire.simple, found)


@routes.write("POST", "/pulls", "pull_requests", role="read", creates=True)
async def create_pull(call: ApiCall) -> Reply:
    """A pull request between two branches; 422 when there is one, or nothing to pull."""
    title, body = call.text("PullRequest", "title"), call.optional_text("PullRequest", "body")
    head, base = await _end(call, "head"), await _end(call, "base")
    repository, draft = call.repository, call.fields.get("draft") is True
    new = await repository.bare.log(base[1], head[1], 1)
    if any(pull.base_branch == base[0] for pull in repository.pulls.opened_from(head[0])):
        raise custom("PullRequest", f"A pull request already exists for {repository.facts.owner}:{head[0]}.")
    if not new:
        raise custom("PullRequest", f"No commits between {base[0]} and {head[0]}")
    thread = repository.issues.open(call.login, title, body, is_pull=True)
    pull = repository.pulls.open(thread, head, base, draft=draft)
    await show_head(repository, pull)
    return created(await _show(call, pull))


@routes.get("/pulls/{pull_number}", "pull_requests")
async def get_pull(call: ApiCall) -> Reply:
    """One pull request, or its diff or patch. The first look finds mergeability unknown, the next one known."""
    pull = call.pull()
    if (text := await diff_or_patch(call, pull.base_sha, pull.head_sha)) is not None:
        return text
    if pull.asked and pull.merged_at is None:
        await mergeable(call.repository, pull)
    elif not pull.asked:
        call.repository.pulls.records.change(pull.number, asked=True)
    return Reply(body=await _show(call, call.repository.pulls.require(pull.number)))


@routes.write("PATCH", "/pulls/{pull_number}", "pull_requests", role="read")
async def update_pull(call: ApiCall) -> Reply:
    """Change title, body, state and base, whichever are given."""
    pull, issues = call.pull(), call.repository.issues
    author = call.repository.pulls.thread(pull.number).author
    if author != call.login and not call.trusted:
        raise no_rights()
    title, body = call.optional_text("PullRequest", "title"), call.optional_text("PullRequest", "body")
    wanted = call.optional_text("PullRequest", "state")
    if wanted not in {None, "open", "closed"}:
        raise invalid("PullRequest", "state")
    if title is not None or body is not None:
        issues.edit(pull.number, call.login, title=title, body=body)
    if "base" in call.fields:
        branch, sha = await _end(call, "base")
        call.repository.pulls.records.change(pull.number, base_branch=branch, base_sha=sha)
        call.repository.pulls.forget_mergeable(pull.number)
    if wanted == "closed":
        issues.close(pull.number, call.login)
        await hide_merge(call.repository, pull.number)
    elif wanted == "open":
        await _reopen(call, pull)
    return Reply(body=await _show(call, call.repository.pulls.require(pull.number)))


@routes.get("/pulls/{pull_number}/files", "pull_requests")
async def list_files(call: ApiCall) -> Reply:
    """The files that the pull request changes."""
    pull = call.pull()
    files = await call.repository.bare.changed_files(pull.base_sha, pull.head_sha)
    return call.page(files, lambda one: call.show(commit_wire.changed_file, one, pull.head_sha))


@routes.get("/pulls/{pull_number}/commits", "pull_requests")
async def list_commits(call: ApiCall) -> Reply:
    """The commits of the pull request, oldest first, at most 250."""
    pull = call.pull()
    found = await call.repository.bare.log(pull.base_sha, pull.head_sha, COMMITS_READ)
    return call.list(commit_wire.commit, found[::-1])


@routes.get("/pulls/{pull_number}/merge", "pull_requests")
async def check_merged(call: ApiCall) -> Reply:
    """204 when it is merged, 404 when not."""
    if call.pull().merged_at is None:
        raise not_found()
    return Reply(204)


@routes.write("PUT", "/pulls/{pull_number}/merge", "contents", creates=True)
async def merge(call: ApiCall) -> Reply:
    """Merge by the wanted method, if the head still is the wanted one."""
    order = MergeOrder(
        method=call.optional_text("PullRequest", "merge_method") or "merge",
        sha=call.optional_text("PullRequest", "sha"),
        title=call.optional_text("PullRequest", "commit_title"),
        message=call.optional_text("PullRequest", "commit_message"),
    )
    if order.method not in {"merge", "squash", "rebase"}:
        raise invalid("PullRequest", "merge_method")
    sha = await press(call.repository, call.number("pull_number"), order, call.account)
    return Reply(body={"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


@routes.write("PUT", "/pulls/{pull_number}/update-branch", "contents", "pull_requests")
async def update_branch(call: ApiCall) -> Reply:
    """Merge the base branch into the head branch; accepted at once, and here carried out at once too."""
    pull = call.pull()
    expected = call.optional_text("PullRequest", "expected_head_sha")
    if expected not in {None, pull.head_sha}:
        raise Refusal(422, HEAD_MOVED)
    await bring_up_to_date(call.repository, pull, call.account)
    url = f"{call.site.api(call.repository)}/pulls/{pull.number}"
    return Reply(202, {"message": "Updating pull request branch.", "url": url}, {"Location": url})


async def _end(call: ApiCall, name: str) -> tuple[str, str]:
    """The branch that `head` or `base` names, with its commit; the owner may stand before it."""
    owner, _, branch = call.text("PullRequest", name).rpartition(":")
    known = owner.lower() in {"", call.repository.facts.owner.lower()}
    sha = await call.repository.bare.sha(f"refs/heads/{branch}") if known else None
    if sha is None:
        raise invalid("PullRequest", name)
    return branch, sha


async def _reopen(call: ApiCall, pull: PullRecord) -> None:
    head = await call.repository.bare.sha(f"refs/heads/{pull.head_branch}")
    base = await call.repository.bare.sha(f"refs/heads/{pull.base_branch}")
    reason = ""
    if pull.merged_at is not None:
        reason = "The pull request cannot be reopened."
    elif head is None or base is None:
        reason = f"The {pull.head_branch if head is None else pull.base_branch} branch has been deleted."
    elif await call.repository.bare.merge_base(pull.head_sha, head) != pull.head_sha:
        reason = f"The {pull.head_branch} branch was force-pushed or recreated."
    if reason or head is None or base is None:
        raise custom("PullRequest", f"state cannot be changed. {reason}", "state")
    call.repository.issues.reopen(pull.number, call.login)
    await show_head(call.repository, call.repository.pulls.move_head(pull.number, head, base))


async def _show(call: ApiCall, pull: PullRecord) -> Json:
    bare = call.repository.bare
    commits = await bare.log(pull.base_sha, pull.head_sha, COMMITS_READ)
    files = await bare.changed_files(pull.base_sha, pull.head_sha)
    return call.show(wire.full, pull, len(commits), files, await state(call.repository, pull))
