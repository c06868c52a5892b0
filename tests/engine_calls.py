"""The operations that the engine calls; all others are for foreign clients, such as `gh`, `hub` and PyGithub."""

from __future__ import annotations

from lab.github.http.call import REPOSITORY, Operation

_HERE = """
GET
GET /installation
GET /collaborators/{username}/permission
GET /issues
POST /issues
GET /issues/{issue_number}
PATCH /issues/{issue_number}
GET /issues/{issue_number}/events
GET /issues/{issue_number}/dependencies/blocked_by
GET /issues/{issue_number}/comments
POST /issues/{issue_number}/comments
GET /issues/comments
GET /issues/comments/{comment_id}
PATCH /issues/comments/{comment_id}
DELETE /issues/comments/{comment_id}
GET /issues/{issue_number}/labels
POST /issues/{issue_number}/labels
DELETE /issues/{issue_number}/labels/{name}
POST /issues/{issue_number}/assignees
DELETE /issues/{issue_number}/assignees
GET /labels
POST /labels
GET /labels/{name}
PATCH /labels/{name}
DELETE /labels/{name}
GET /pulls
POST /pulls
GET /pulls/{pull_number}
PATCH /pulls/{pull_number}
PUT /pulls/{pull_number}/merge
GET /pulls/{pull_number}/reviews
POST /pulls/{pull_number}/reviews
GET /pulls/{pull_number}/comments
POST /pulls/{pull_number}/comments/{comment_id}/replies
POST /pulls/{pull_number}/requested_reviewers
GET /commits/{ref}/check-runs
GET /commits/{ref}/check-suites
GET /commits/{ref}/status
GET /check-runs/{check_run_id}/annotations
GET /actions/runs
GET /actions/jobs/{job_id}/logs
POST /actions/runs/{run_id}/rerun-failed-jobs
GET /branches/{branch}
GET /branches/{branch}/protection
GET /rules/branches/{branch}
DELETE /git/refs/{ref}
GET /git/trees/{tree_sha}
GET /contents/{path}
"""

_LINES = [line.partition(" ") for line in _HERE.strip().split("\n")]

ENGINE = frozenset(
    {
        "GET /user",
        "GET /users/{username}",
        "GET /rate_limit",
        "GET /app",
        "POST /app/installations/{installation_id}/access_tokens",
        *(f"{method} {REPOSITORY}{path}" for method, _, path in _LINES),
    }
)
"""Method and path of each operation that an agent, `init`, `doctor` or a console command calls."""


GRAPHQL = "POST /graphql"
"""The way to GitHub's merge queue, which the description of the REST API does not have."""


def for_others(operations: list[Operation]) -> list[str]:
    """The operations that only foreign clients use, as method and path."""
    return [name for one in operations if (name := f"{one.method} {one.template}") not in ENGINE]
