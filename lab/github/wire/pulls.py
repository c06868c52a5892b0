"""Pull requests, reviews and inline comments as GitHub's JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.github.repositories.changes import ChangedFile
from lab.github.wire import repositories, threads
from lab.github.wire.site import Json, ServedRoot, node, stamp, stamp_or_none
from lab.github.world.pulls import InlineRecord, PullRecord, ReviewRecord
from lab.github.world.repository import RepositoryRecord


def simple(site: ServedRoot, repository: RepositoryRecord, pull: PullRecord) -> Json:
    """A pull request as it stands in a list."""
    thread = repository.pulls.thread(pull.number)
    seen_as_issue = threads.issue(site, repository, thread)
    kept = (
        *("node_id", "number", "title", "body", "user", "labels", "state", "locked", "active_lock_reason"),
        *("assignee", "assignees", "milestone", "created_at", "updated_at", "closed_at", "author_association"),
    )
    return {
        **{key: seen_as_issue[key] for key in kept},
        "user": site.actor(thread.author),
        **_urls(site, repository, pull),
        "id": pull.id,
        "draft": pull.draft,
        "merged_at": stamp_or_none(pull.merged_at),
        "merge_commit_sha": pull.merge_sha or pull.test_merge_sha,
        "requested_reviewers": [site.actor(login) for login in pull.requested],
        "requested_teams": [],
        "head": _end(site, repository, pull.head_branch, pull.head_sha, pull.fork),
        "base": _end(site, repository, pull.base_branch, pull.base_sha),
        "auto_merge": None,
    }


def full(
    site: ServedRoot,
    repository: RepositoryRecord,
    pull: PullRecord,
    commits: int,
    files: Sequence[ChangedFile],
    state: str,
) -> Json:
    """A pull request read singly, with what only git has: its number of commits, its files, its mergeable state."""
    return {
        **simple(site, repository, pull),
        "merged": pull.merged_at is not None,
        "merged_by": site.user(pull.merged_by),
        "mergeable": pull.mergeable,
        "rebaseable": pull.mergeable,
        "mergeable_state": state,
        "maintainer_can_modify": False,
        "comments": repository.pulls.thread(pull.number).comments,
        "review_comments": len(repository.pulls.inline_of(pull.number)),
        "commits": commits,
        "additions": sum(change.additions for change in files),
        "deletions": sum(change.deletions for change in files),
        "changed_files": len(files),
    }


def minimal(site: ServedRoot, repository: RepositoryRecord, pull: PullRecord) -> Json:
    """A pull request as a check run names it."""
    home = {"id": repository.facts.id, "url": site.api(repository), "name": repository.facts.name}
    return {
        "id": pull.id,
        "number": pull.number,
        "url": f"{site.api(repository)}/pulls/{pull.number}",
        "head": {"ref": pull.head_branch, "sha": pull.head_sha, "repo": home},
        "base": {"ref": pull.base_branch, "sha": pull.base_sha, "repo": home},
    }


def review(site: ServedRoot, repository: RepositoryRecord, record: ReviewRecord) -> Json:
    """One submitted review."""
    page = f"{_page(site, repository, record.number)}#pullrequestreview-{record.id}"
    url = f"{site.api(repository)}/pulls/{record.number}"
    return {
        "id": record.id,
        "node_id": node("PRR", record.id),
        "user": site.user(record.author),
        "body": record.body,
        "state": record.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": site.association(repository, record.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        **({} if record.state == "PENDING" else {"submitted_at": stamp(record.submitted_at)}),
        "commit_id": record.commit_id,
    }


def inline(site: ServedRoot, repository: RepositoryRecord, record: InlineRecord) -> Json:
    """One inline comment."""
    url = f"{site.api(repository)}/pulls/comments/{record.id}"
    page = f"{_page(site, repository, record.number)}#discussion_r{record.id}"
    pull = f"{site.api(repository)}/pulls/{record.number}"
    place = record.place
    return {
        "url": url,
        "pull_request_review_id": record.review_id,
        "id": record.id,
        "node_id": node("PRRC", record.id),
        "diff_hunk": place.hunk,
        "path": place.path,
        "commit_id": record.commit_id,
        "original_commit_id": record.original_commit_id,
        "user": site.user(record.author),
        "body": record.body,
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "html_url": page,
        "pull_request_url": pull,
        "author_association": site.association(repository, record.author),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull}},
        **_lines(record),
        "reactions": threads.rollup(url),
        "subject_type": "file" if record.on_file else "line",
        **({} if record.in_reply_to is None else {"in_reply_to_id": record.in_reply_to}),
    }


def inline_of_review(site: ServedRoot, repository: RepositoryRecord, record: InlineRecord) -> Json:
    """Show one inline comment in its review: GitHub leaves out an outdated line there."""
    shown = inline(site, repository, record)
    return shown if shown["line"] is not None else {key: value for key, value in shown.items() if key != "line"}


def _lines(record: InlineRecord) -> Json:
    """Show the comment's present place (null once outdated), and its place when it was written."""
    place = record.place
    return {
        "start_line": None if record.line is None else place.start_line,
        "original_start_line": place.start_line,
        "start_side": None if place.start_line is None else place.side,
        "line": record.line,
        "original_line": place.line,
        "side": place.side,
        "position": None if record.line is None and not record.on_file else place.position,
        "original_position": place.position,
    }


def _urls(site: ServedRoot, repository: RepositoryRecord, pull: PullRecord) -> Json:
    api, page = site.api(repository), _page(site, repository, pull.number)
    url, issue = f"{api}/pulls/{pull.number}", f"{api}/issues/{pull.number}"
    statuses = f"{api}/statuses/{pull.head_sha}"
    links = {
        "self": url,
        "html": page,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": statuses,
    }
    return {
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": statuses,
        "_links": {name: {"href": href} for name, href in links.items()},
    }


def _page(site: ServedRoot, repository: RepositoryRecord, number: int) -> str:
    return f"{site.html(repository)}/pull/{number}"


def _end(site: ServedRoot, repository: RepositoryRecord, branch: str, sha: str, fork: str = "") -> Json:
    owner = fork.partition("/")[0] or repository.facts.owner
    repo = repositories.repository(site, repository)
    return {
        "label": f"{owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": site.actor(owner),
        "repo": {**repo, "full_name": fork, "owner": site.actor(owner), "fork": True} if fork else repo,
    }
