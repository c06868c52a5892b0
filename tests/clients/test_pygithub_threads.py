"""PyGithub: issues, labels, comments, pull requests, reviews and merges."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lab_scene import LETTERS, NAME, Scene
from pygithub_person import tell

pytest.importorskip("github", reason="PyGithub is not installed (make test-clients installs it)")
from github import GithubException, UnknownObjectException
from github.Repository import Repository


async def test_an_issue_with_labels_and_assignees(scene: Scene) -> None:
    def story(repo: Repository) -> None:
        repo.create_label("status:ready", "00ff00", "May be taken")
        issue = repo.create_issue("Add search", "By name.", assignee="ada", labels=["status:ready"])
        assert (issue.number, issue.user.login, [one.login for one in issue.assignees]) == (1, "ada", ["ada"])
        issue.add_to_labels("flag:paused", "story")
        issue.remove_from_labels("status:ready")
        assert {label.name for label in issue.get_labels()} == {"flag:paused", "story"}
        issue.set_labels("story")
        issue.edit(title="Add a search", state="closed", state_reason="not_planned")
        issue.update()
        assert (issue.title, issue.state, issue.state_reason) == ("Add a search", "closed", "not_planned")
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


async def test_the_comments_of_an_issue(scene: Scene) -> None:
    scene.lab.issue(NAME, "Add search", author="bob")

    def story(repo: Repository) -> None:
        issue = repo.get_issue(1)
        comment = issue.create_comment("First")
        comment.edit("First, edited")
        issue.create_comment("Second").delete()
        assert [one.body for one in issue.get_comments()] == ["First, edited"]
        assert list(issue.get_comments(since=datetime.now(UTC) + timedelta(hours=1))) == []
        assert issue.get_comment(comment.id).user.login == "ada"
        assert repo.get_issue(1).comments == 1

    await tell(scene, story)


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
        assert numbers(everything) == [1, 2, 3, 4, 5, 6, 7]
        assert numbers(everything.reversed) == [7, 6, 5, 4, 3, 2, 1]
        assert numbers(everything[2:5]) == [3, 4, 5]
        assert numbers(repo.get_issues(labels=["odd"])) == [5, 3, 1]
        assert numbers(repo.get_issues(state="closed", creator=repo.get_issue(1).user)) == [7]

    await tell(scene, story, per_page=2)


def numbers(issues: Iterable[Any]) -> list[int]:
    """Return the numbers of these issues."""
    return [issue.number for issue in issues]


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
    await tell(scene, lambda repo: open_it(repo, tip))
    await tell(scene, lambda repo: review_it(repo, tip), by="octo")
    await tell(scene, lambda repo: merge_it(repo, tip))
    assert not scene.repository.issues.require(1).open, "the merge closes what the pull request names"


def open_it(repo: Repository, tip: str) -> None:
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


def review_it(repo: Repository, tip: str) -> None:
    pull = repo.get_pull(2)
    remark: Any = {"path": "src/letters.txt", "line": 4, "side": "RIGHT", "body": "Why?"}
    review = pull.create_review(repo.get_commit(tip), "Hm", "REQUEST_CHANGES", [remark])
    assert (review.state, review.commit_id) == ("CHANGES_REQUESTED", tip)
    (inline,) = pull.get_single_review_comments(review.id)
    assert (inline.path, inline.line, inline.body) == ("src/letters.txt", 4, "Why?")
    pull.create_review_comment_reply(inline.id, "Because.")
    _, answer = pull.get_review_comments()
    assert (answer.body, answer.in_reply_to_id) == ("Because.", inline.id)
    assert pull.create_review(event="APPROVE").state == "APPROVED"


def merge_it(repo: Repository, tip: str) -> None:
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
