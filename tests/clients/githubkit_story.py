"""One story that calls every operation of the lab once or more, as a table of githubkit's method calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seeded import PROTECTED


@dataclass(frozen=True)
class Kept:
    """A placeholder in an argument for the value that an earlier step, or a seed, kept under this name."""

    name: str


@dataclass(frozen=True)
class Step:
    """One call by one identity. `keeps` maps names to attributes of the model that is answered."""

    operation: str
    arguments: Mapping[str, Any]
    by: str
    status: int
    keeps: Mapping[str, str] = field(default_factory=dict)


def step(
    operation: str, *, by: str = "ada", status: int = 200, keeps: Mapping[str, str] | None = None, **arguments: Any
) -> Step:
    """Return a step as the table writes it; an argument whose name is taken here ends with an underscore."""
    return Step(
        operation, {name.removesuffix("_"): value for name, value in arguments.items()}, by, status, keeps or {}
    )


def issue(operation: str, **rest: Any) -> Step:
    """Return a step about the story's first issue."""
    return step(operation, issue_number=Kept("issue"), **rest)


def pull(operation: str, **rest: Any) -> Step:
    """Return a step about the story's pull request."""
    return step(operation, pull_number=Kept("pull"), **rest)


ACCOUNTS = (
    step("meta/root"),
    step("users/get-authenticated"),
    step("users/get-by-username", username="octo"),
    step("rate-limit/get"),
    step("repos/get"),
    step("repos/list-collaborators"),
    step("repos/get-collaborator-permission-level", username="ada"),
    step("apps/get-authenticated", by="app"),
    step("apps/get-repo-installation", by="app"),
    step(
        "apps/create-installation-access-token",
        by="app",
        status=201,
        installation_id=Kept("installation"),
        permissions={"issues": "read"},
    ),
)

GIT = (
    step("git/create-blob", status=201, content="aGk=", encoding="base64", keeps={"blob": "sha"}),
    step("git/get-commit", commit_sha=Kept("main"), keeps={"root": "tree.sha"}),
    step(
        "git/create-tree",
        status=201,
        base_tree=Kept("root"),
        tree=[{"path": "hi.txt", "mode": "100644", "type": "blob", "sha": Kept("blob")}],
        keeps={"tree": "sha"},
    ),
    step("git/get-tree", tree_sha=Kept("tree"), recursive="1"),
    step(
        "git/create-commit",
        status=201,
        message="Add hi.txt",
        tree=Kept("tree"),
        parents=[Kept("main")],
        keeps={"commit": "sha"},
    ),
    step("git/create-ref", status=201, ref="refs/heads/auto/issue-1", sha=Kept("main")),
    step("git/update-ref", ref="heads/auto/issue-1", sha=Kept("commit")),
    step("git/get-ref", ref="heads/auto/issue-1"),
    step("git/list-matching-refs", ref="heads/auto"),
    step("repos/list-commits", sha="auto/issue-1", per_page=2),
    step("repos/get-commit", ref="auto/issue-1"),
    step("repos/compare-commits-with-basehead", basehead="main...auto/issue-1"),
    step("repos/get-content", path="hi.txt", ref="auto/issue-1"),
    step("repos/get-content", path="src"),
    step("git/delete-ref", status=204, ref="heads/auto/issue-1"),
    step("repos/list-branches"),
    step("repos/get-branch", branch="main"),
    step("repos/get-branch", branch=PROTECTED),
    step("repos/get-branch-rules", branch=PROTECTED),
    step("repos/get-branch-protection", by="octo", branch=PROTECTED),
    step("repos/get-status-checks-protection", by="octo", branch=PROTECTED),
)

ISSUES = (
    step("issues/create-label", status=201, name="a label", color="00ff00", description="One of ours"),
    step("issues/update-label", name="a label", new_name="story", color="0000ff"),
    step("issues/get-label", name="story"),
    step("issues/list-labels-for-repo"),
    step(
        "issues/create",
        status=201,
        title="Add search",
        body="By name.",
        labels=["story"],
        assignees=["octo"],
        keeps={"issue": "number"},
    ),
    step("issues/create", status=201, title="Index the names", keeps={"part": "number", "part_id": "id"}),
    issue("issues/get"),
    step("issues/list-for-repo", labels="story", sort="updated", direction="desc"),
    issue("issues/add-labels", labels=["status:ready", "flag:paused"]),
    issue("issues/remove-label", name="flag:paused"),
    issue("issues/set-labels", labels=["story", "status:ready"]),
    issue("issues/list-labels-on-issue"),
    issue("issues/add-assignees", status=201, assignees=["ada"]),
    issue("issues/remove-assignees", assignees=["octo"]),
    issue("issues/create-comment", status=201, body="First", keeps={"comment": "id"}),
    step("issues/get-comment", comment_id=Kept("comment")),
    step("issues/update-comment", comment_id=Kept("comment"), body="First, edited"),
    step("reactions/create-for-issue-comment", status=201, comment_id=Kept("comment"), content="+1"),
    issue("issues/list-comments"),
    step("issues/list-comments-for-repo", sort="updated", direction="desc"),
    step("issues/delete-comment", status=204, comment_id=Kept("comment")),
    issue("issues/add-sub-issue", status=201, sub_issue_id=Kept("part_id")),
    issue("issues/list-sub-issues"),
    issue("issues/list-dependencies-blocked-by"),
    issue("issues/list-events"),  # before anything is closed: the description has no such event here
    issue("issues/update", title="Add a search", state="closed", state_reason="completed"),
    issue("issues/update", state="open"),
    issue("issues/list-events-for-timeline"),
    step("issues/delete-label", status=204, name="story"),
)

PULLS = (
    step(
        "pulls/create",
        status=201,
        title="Add search",
        head="work",
        base="main",
        body="Closes #1",
        keeps={"pull": "number", "head": "head.sha"},
    ),
    step("pulls/list", head="octo:work", state="all"),
    pull("pulls/get"),
    pull("pulls/get"),
    pull("pulls/update", title="Add a search"),
    pull("pulls/list-files"),
    pull("pulls/list-commits"),
    pull("pulls/request-reviewers", status=201, reviewers=["octo"]),
    pull("pulls/list-requested-reviewers"),
    pull(
        "pulls/create-review",
        by="octo",
        event="REQUEST_CHANGES",
        body="Not yet",
        comments=[{"path": "work.txt", "line": 2, "side": "RIGHT", "body": "Why two?"}],
        keeps={"review": "id"},
    ),
    pull("pulls/list-reviews"),
    pull("pulls/list-comments-for-review", review_id=Kept("review")),
    pull(
        "pulls/create-review-comment",
        by="octo",
        status=201,
        body="And three?",
        commit_id=Kept("head"),
        path="work.txt",
        line=3,
        side="RIGHT",
        keeps={"remark": "id"},
    ),
    pull("pulls/create-reply-for-review-comment", status=201, comment_id=Kept("remark"), body="Because."),
    pull("pulls/list-review-comments"),
    pull("pulls/dismiss-review", by="octo", review_id=Kept("review"), message="Settled"),
    pull("pulls/create-review", by="octo", event="APPROVE"),
    pull("pulls/check-if-merged", status=404),
    pull("pulls/merge", merge_method="squash", sha=Kept("head")),
    pull("pulls/check-if-merged", status=204),
    step("pulls/create", status=201, title="Catch up", head="behind", base="main", keeps={"late": "number"}),
    step("pulls/update-branch", status=202, pull_number=Kept("late")),
)

CHECKS = (
    step("repos/create-commit-status", status=201, sha=Kept("main"), state="success", context="coverage"),
    step("repos/get-combined-status-for-ref", ref=Kept("main")),
    step("repos/list-commit-statuses-for-ref", ref=Kept("main")),
    step("checks/create", by="app", status=201, name="evidence", head_sha=Kept("main"), keeps={"check": "id"}),
    step(
        "checks/update",
        by="app",
        check_run_id=Kept("check"),
        status_="completed",
        conclusion="failure",
        output={
            "title": "Red",
            "summary": "One test fails",
            "annotations": [
                {
                    "path": "src/new.txt",
                    "start_line": 1,
                    "end_line": 1,
                    "annotation_level": "failure",
                    "message": "AssertionError",
                }
            ],
        },
    ),
    step("checks/get", check_run_id=Kept("check")),
    step("checks/list-annotations", check_run_id=Kept("check")),
    step("checks/list-for-ref", ref=Kept("main")),
    step("checks/list-suites-for-ref", ref=Kept("main")),
    step("actions/list-workflow-runs-for-repo", branch="main"),
    step("actions/get-workflow-run", run_id=Kept("run")),
    step("actions/list-jobs-for-workflow-run", run_id=Kept("run")),
    step("actions/get-job-for-workflow-run", job_id=Kept("job")),
    step("actions/download-job-logs-for-workflow-run", job_id=Kept("job")),
    step("actions/download-workflow-run-logs", run_id=Kept("run")),
    step("actions/list-repo-workflows"),
    step("actions/list-workflow-runs", workflow_id="ci.yml"),
    step("actions/get-workflow", workflow_id="ci.yml"),
    step("actions/list-workflow-run-artifacts", run_id=Kept("run")),
    step("actions/get-workflow-run-attempt", run_id=Kept("run"), attempt_number=1),
    step("actions/list-jobs-for-workflow-run-attempt", run_id=Kept("run"), attempt_number=1),
    step("actions/re-run-job-for-workflow-run", status=201, job_id=Kept("job")),
    step("actions/re-run-workflow-failed-jobs", status=201, run_id=Kept("run")),
    step("actions/re-run-workflow", status=201, run_id=Kept("run")),
)

STORY = (*ACCOUNTS, *GIT, *ISSUES, *PULLS, *CHECKS)
