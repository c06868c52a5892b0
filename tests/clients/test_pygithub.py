"""PyGithub against the lab. It is synchronous: it runs in a thread beside the lab's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from lab_scene import LETTERS, NAME, Scene

pytest.importorskip("github", reason="PyGithub is not installed (make test-clients installs it)")
from github import Auth, Github, GithubException, GithubObject, UnknownObjectException
from github.Repository import Repository

Story = Callable[[Repository], None]


@contextmanager
def client(scene: Scene, login: str, *, per_page: int = 30) -> Iterator[Github]:
    """PyGithub as `login`, without its pauses and repetitions; it builds its objects from all that is answered."""
    hub = Github(
        base_url=scene.lab.url,
        auth=Auth.Token(scene.tokens[login]),
        per_page=per_page,
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    try:
        yield hub
    finally:
        hub.close()


async def tell(scene: Scene, story: Story, *, by: str = "ada", per_page: int = 30) -> None:
    """Let `story` happen to the repository as PyGithub shows it to `by`."""

    def happen() -> None:
        with client(scene, by, per_page=per_page) as hub:
            story(hub.get_repo(NAME))

    await asyncio.to_thread(happen)


async def test_the_repository_and_its_people(scene: Scene) -> None:
    def story(repo: Repository) -> None:
        assert (repo.full_name, repo.default_branch, repo.private) == (NAME, "main", False)
        assert (repo.permissions.push, repo.permissions.admin) == (True, False)
        assert repo.owner.login == "octo"
        assert repo.get_collaborator_permission("ada") == "write"
        assert repo.get_collaborator_permission("bob") == "read"
        assert repo.created_at.tzinfo is UTC

    await tell(scene, story)


async def test_the_account_behind_the_token_and_its_limit(scene: Scene) -> None:
    def story() -> None:
        with client(scene, "ada") as hub:
            assert hub.get_user().login == "ada"
            assert hub.get_user("bob").type == "User"
            core = hub.get_rate_limit().resources.core
            assert (core.limit, core.used, core.remaining) == (5000, 2, 4998)
            assert hub.rate_limiting == (4998, 5000)
            assert core.reset > datetime.now(UTC)
            with pytest.raises(UnknownObjectException):
                hub.get_user("nobody")

    await asyncio.to_thread(story)


async def test_an_issue_with_labels_assignees_and_comments(scene: Scene) -> None:
    def story(repo: Repository) -> None:
        repo.create_label("status:ready", "00ff00", "May be taken")
        issue = repo.create_issue("Add search", "By name.", assignee="ada", labels=["status:ready"])
        assert (issue.number, issue.user.login, [one.login for one in issue.assignees]) == (1, "ada", ["ada"])
        issue.add_to_labels("flag:paused", "story")
        issue.remove_from_labels("status:ready")
        assert {label.name for label in issue.get_labels()} == {"flag:paused", "story"}
        issue.set_labels("story")
        comment = issue.create_comment("First")
        comment.edit("First, edited")
        issue.create_comment("Second").delete()
        assert [one.body for one in issue.get_comments()] == ["First, edited"]
        assert list(issue.get_comments(since=datetime.now(UTC) + timedelta(hours=1))) == []
        issue.edit(title="Add a search", state="closed", state_reason="not_planned")
        issue.update()
        assert (issue.title, issue.state, issue.state_reason, issue.comments) == (
            "Add a search",
            "closed",
            "not_planned",
            1,
        )
        assert {event.event for event in issue.get_events()} >= {
            "labeled",
            "unlabeled",
            "assigned",
            "renamed",
            "closed",
        }
        issue.remove_from_assignees("ada")
        assert repo.get_issue(1).assignees == []

    await tell(scene, story)
    assert scene.repository.issues.require(1).labels == ("story",)


async def test_labels_are_defined_changed_and_deleted(scene: Scene) -> None:
    def story(repo: Repository) -> None:
        label = repo.create_label("a b/c", "ff0000", "Spaces and slashes")
        label.edit("a", "00ff00", "Plain")
        assert (repo.get_label("a").color, repo.get_label("a").description) == ("00ff00", "Plain")
        with pytest.raises(GithubException) as refused:
            repo.create_label("A", "ffffff")
        assert refused.value.status == 422
        assert refused.value.data["errors"][0]["code"] == "already_exists"
        label = repo.get_label("a")
        label.delete()
        with pytest.raises(UnknownObjectException):
            repo.get_label("a")

    await tell(scene, story)


async def test_lists_are_filtered_sorted_and_turned_page_by_page(scene: Scene) -> None:
    for number in range(1, 8):
        scene.lab.issue(NAME, f"Issue {number}", author="bob", labels=("odd",) if number % 2 else ())
    scene.lab.close(NAME, 7, actor="octo")

    def story(repo: Repository) -> None:
        everything = repo.get_issues(state="all", sort="created", direction="asc")
        assert everything.totalCount == 7
        assert [issue.number for issue in everything] == [1, 2, 3, 4, 5, 6, 7]
        assert [issue.number for issue in everything.reversed] == [7, 6, 5, 4, 3, 2, 1]
        assert [issue.number for issue in everything[2:5]] == [3, 4, 5]
        assert [issue.number for issue in repo.get_issues(labels=["odd"])] == [5, 3, 1]
        assert [issue.number for issue in repo.get_issues(state="closed", creator="bob")] == [7]

    await tell(scene, story, per_page=2)


async def test_a_read_that_changed_nothing_is_not_made_again(scene: Scene) -> None:
    scene.lab.issue(NAME, "Add search", author="bob")

    def story(repo: Repository) -> None:
        issue = repo.get_issue(1)
        assert issue.update() is False
        issue.create_comment("News")
        assert issue.update() is True
        assert issue.comments == 1

    await tell(scene, story)
    statuses = [e.status for e in scene.lab.exchanges if e.template == "/repos/{owner}/{repo}/issues/{issue_number}"]
    assert statuses == [200, 304, 200]


async def test_a_pull_request_is_opened_discussed_reviewed_and_merged(scene: Scene) -> None:
    scene.lab.issue(NAME, "Make it loud", author="bob")
    tip = await scene.commit("work", {"src/letters.txt": LETTERS.replace("d\n", "D\n")})

    def open_it(repo: Repository) -> None:
        pull = repo.create_pull(base="main", head="work", title="Make it loud", body="Closes #1")
        assert (pull.number, pull.head.sha, pull.base.ref, pull.draft) == (2, tip, "main", False)
        pull.create_review_request(reviewers=["octo"])
        assert [user.login for user in pull.get_review_requests()[0]] == ["octo"]
        (file,) = pull.get_files()
        assert (file.filename, file.additions, file.deletions, file.status) == ("src/letters.txt", 1, 1, "modified")
        assert [commit.sha for commit in pull.get_commits()] == [tip]
        pull.edit(title="Make it louder")
        pull.as_issue().add_to_labels("status:reviewing")
        assert [label.name for label in repo.get_pull(2).labels] == ["status:reviewing"]

    def review_it(repo: Repository) -> None:
        pull = repo.get_pull(2)
        remark = {"path": "src/letters.txt", "line": 4, "side": "RIGHT", "body": "Why?"}
        review = pull.create_review(repo.get_commit(tip), "Hm", "REQUEST_CHANGES", [remark])  # type: ignore[list-item]
        assert (review.state, review.commit_id) == ("CHANGES_REQUESTED", tip)
        (inline,) = pull.get_single_review_comments(review.id)
        assert (inline.path, inline.line, inline.body) == ("src/letters.txt", 4, "Why?")
        pull.create_review_comment_reply(inline.id, "Because.")
        _, answer = pull.get_review_comments()
        assert (answer.body, answer.in_reply_to_id) == ("Because.", inline.id)
        assert pull.create_review(event="APPROVE").state == "APPROVED"

    def merge_it(repo: Repository) -> None:
        pull = repo.get_pull(2)
        pull.update()
        assert pull.mergeable is True
        assert pull.is_merged() is False
        with pytest.raises(GithubException) as refused:
            pull.merge(sha="0" * 40)
        assert refused.value.status == 409
        assert pull.merge(merge_method="squash", sha=tip, commit_title="Loud (#2)").merged is True
        assert pull.is_merged() is True
        assert repo.get_issue(1).state == "closed"
        assert repo.get_commit("main").commit.message.startswith("Loud (#2)")

    await tell(scene, open_it)
    await tell(scene, review_it, by="octo")
    await tell(scene, merge_it)


async def test_what_ci_says_of_a_commit(scene: Scene) -> None:
    sha = await scene.commit("work", {"a.txt": "a\n"})
    checks = scene.repository.checks
    job = checks.finish(checks.start(sha, "test", "work"), "failure", "Exit code 1", "Line 1\n")

    def story(repo: Repository) -> None:
        commit = repo.get_commit(sha)
        (run,) = commit.get_check_runs()
        assert (run.id, run.name, run.status, run.conclusion) == (job.id, "test", "completed", "failure")
        assert list(run.get_annotations()) == []
        commit.create_status("success", "https://example.org/lint", "Clean", "lint")
        combined = commit.get_combined_status()
        assert (combined.state, [status.context for status in combined.statuses]) == ("success", ["lint"])
        (workflow_run,) = repo.get_workflow_runs(branch="work")
        assert (workflow_run.head_sha, workflow_run.conclusion) == (sha, "failure")
        (again,) = workflow_run.jobs()
        assert again.logs_url().startswith(scene.lab.url)

    await tell(scene, story)


async def test_files_branches_and_refs(scene: Scene) -> None:
    tip = await scene.commit("work", {"a.txt": "a\n"})

    def story(repo: Repository) -> None:
        readme = repo.get_contents("README.md")
        assert not isinstance(readme, list)
        assert readme.decoded_content == b"# Thing\n"
        assert [(entry.type, entry.path) for entry in listed(repo, "src")] == [("file", "src/letters.txt")]
        assert {branch.name for branch in repo.get_branches()} == {"main", "work"}
        assert repo.get_branch("work").commit.sha == tip
        comparison = repo.compare("main", "work")
        assert (comparison.status, comparison.ahead_by, comparison.behind_by) == ("ahead", 1, 0)
        ref = repo.create_git_ref("refs/heads/auto/issue-1", tip)
        assert repo.get_git_ref("heads/auto/issue-1").object.sha == tip
        with pytest.raises(GithubException) as refused:
            repo.create_git_ref("refs/heads/auto/issue-1", tip)
        assert refused.value.data["message"] == "Reference already exists"
        ref.delete()
        assert list(repo.get_git_matching_refs("heads/auto/")) == []

    await tell(scene, story)


def listed(repo: Repository, path: str) -> list[GithubObject.GithubObject]:
    """The entries of a directory."""
    found = repo.get_contents(path)
    assert isinstance(found, list)
    return list(found)


async def test_a_renamed_repository_is_found_under_its_old_name(scene: Scene) -> None:
    scene.lab.rename(NAME, "octo/other")

    def story(repo: Repository) -> None:
        assert repo.full_name == "octo/other"
        assert repo.create_issue("Still here").number == 1

    await tell(scene, story)
