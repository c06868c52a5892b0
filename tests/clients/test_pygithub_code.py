"""PyGithub: the repository and its people, its code, what CI says of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from lab_scene import NAME, Scene
from pygithub_person import client, tell

pytest.importorskip("github", reason="PyGithub is not installed (make test-clients installs it)")
from github import GithubException, UnknownObjectException
from github.ContentFile import ContentFile
from github.Repository import Repository


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
        (workflow_run,) = repo.get_workflow_runs(branch=repo.get_branch("work"))
        assert (workflow_run.head_sha, workflow_run.conclusion) == (sha, "failure")
        (again,) = workflow_run.jobs()
        assert f"/{job.id}?" in again.logs_url()

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


def listed(repo: Repository, path: str) -> list[ContentFile]:
    """Return the entries of a directory."""
    found = repo.get_contents(path)
    assert isinstance(found, list)
    return list(found)


async def test_a_renamed_repository_is_found_under_its_old_name(scene: Scene) -> None:
    scene.lab.rename(NAME, "octo/other")

    def story(repo: Repository) -> None:
        assert repo.full_name == "octo/other"
        assert repo.create_issue("Still here").number == 1

    await tell(scene, story)
