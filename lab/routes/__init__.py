"""The operations of the API, one file per resource; a new one is a decorated function in the right file."""

from __future__ import annotations

from lab.call import Operation
from lab.routes import (
    accounts,
    actions,
    assignees,
    branches,
    checks,
    comments,
    commits,
    contents,
    issues,
    labels,
    merging,
    pulls,
    refs,
    repositories,
    reviews,
)

OPERATIONS: list[Operation] = [
    *accounts.routes,
    *repositories.routes,
    *comments.routes,
    *labels.routes,
    *assignees.routes,
    *issues.routes,
    *reviews.routes,
    *merging.routes,
    *pulls.routes,
    *actions.routes,
    *checks.routes,
    *commits.routes,
    *branches.routes,
    *refs.routes,
    *contents.routes,
]
"""In this order the router tries them: of two that match a path the longer one comes first."""
