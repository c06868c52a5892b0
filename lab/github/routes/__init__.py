"""The operations of the API, one file per resource; a new one is a decorated function in the right file."""

from __future__ import annotations

from lab.github.http.call import Operation
from lab.github.routes import (
    accounts,
    actions,
    checks,
    comments,
    commits,
    git_data,
    graphql,
    issues,
    labels,
    pulls,
    repositories,
    review_comments,
    reviews,
    timeline,
)

OPERATIONS: list[Operation] = [
    *accounts.routes,
    *repositories.routes,
    *comments.routes,
    *labels.routes,
    *timeline.routes,
    *issues.routes,
    *reviews.routes,
    *review_comments.routes,
    *pulls.routes,
    *actions.routes,
    *checks.routes,
    *commits.routes,
    *git_data.routes,
]
"""All operations, in the order in which the router tries them: of two that match a path the longer comes first."""

BESIDE_REST: list[Operation] = [*graphql.routes]
"""Operations that are not in the REST description."""
