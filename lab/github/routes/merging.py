"""Merging a pull request, and its base into it."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, invalid, not_found
from lab.github.merge_button import HEAD_MOVED, MergeOrder, bring_up_to_date, press

routes = Operations()


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
