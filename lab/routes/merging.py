"""Whether a pull request is merged, and merging it."""

from __future__ import annotations

from lab.call import Call, Operations, Reply
from lab.merge_button import MergeOrder, press
from lab.refusals import invalid, not_found

routes = Operations()


@routes.get("/pulls/{pull_number}/merge", "pull_requests")
async def check_merged(call: Call) -> Reply:
    """204 when it is merged, 404 when not."""
    if call.repository.pulls.require(call.number("pull_number")).merged_at is None:
        raise not_found()
    return Reply(204)


@routes.write("PUT", "/pulls/{pull_number}/merge", "contents")
async def merge(call: Call) -> Reply:
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
