"""The model: its defaults, its strictness, and its rules across keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from settings_scene import LAB, REPOSITORY, settings

from config.engine import GitHubSettings
from config.observability import EventSettings
from config.repository import LabelSettings, RepositorySettings
from config.settings import Settings
from shared.workflow import Stage
from shared.workflow.labels import Flag


def test_the_defaults_are_the_documented_ones() -> None:
    found = Settings(repositories=(REPOSITORY,)).model_dump(mode="json")
    (repository,) = found.pop("repositories")
    assert repository == {
        "name": "owner/repo",
        "base_branch": None,
        "poll_interval": 30,
        "llm_backend": "claude",
        "test_command": None,
        "test_report": None,
        "working_directory": "",
        "suites": [],
        "test_files": [],
        "old_tests": "justified",
        "local_suite": "full",
        "setup_command": None,
        "quality_commands": None,
        "labels": {
            "include": [],
            "exclude": ["blocked", "do-not-automate"],
            "status_prefix": "status:",
            "flag_prefix": "flag:",
            "story": "story",
        },
        "ladder": [],
        "own_rules": True,
        "ceilings": {"in_work": None, "open_pull_requests": None},
        "hooks": {
            "after_create": None,
            "before_run": None,
            "after_run": None,
            "before_remove": None,
            "timeout_seconds": 300,
        },
        "start": {"assigned": False, "mentioned": False, "labels": []},
        "priority_labels": ["priority:critical", "priority:high", "priority:medium", "priority:low"],
        "pr_labels": ["automated"],
        "pr_title": "{title}",
        "docs_url": None,
        "reviewers": [],
        "assign": None,
        "take_assigned_issues": False,
        "approval": "comment",
        "approval_timeout_hours": 24,
        "refactor": "auto",
        "merge": "never",
        "merge_method": "squash",
        "commit_trailers": [],
        "merge_max_lines": 800,
        "merge_cooling_minutes": 0,
        "merge_by_requester": True,
        "merge_blocking_labels": ["do-not-merge"],
        "delete_branch": True,
        "after_merge": "off",
        "max_attempts": 3,
        "max_turns": 50,
        "run_timeout_minutes": 45,
        "stall_timeout_minutes": 25,
        "ci": {"interval": 30, "timeout": 600, "max_retries": 3, "none_is_green": False, "may_edit_workflows": False},
        "titles": {"attempts": False},
        "review": {"max_rounds": 3, "max_commits": 10, "second_pass": True, "hide_outdated": False},
        "feedback": {"bots": []},
        "tdd": {
            "cycles": "whole-spec",
            "damages": 20,
            "pending": {"globs": [], "order": "globs", "open_at_once": 1},
        },
        "assistant": {"per_day": 0},
        "triage": {
            "per_day": 0,
            "labels": {
                "bug": "bug",
                "feature": "enhancement",
                "question": "question",
                "duplicate": "duplicate",
                "vague": "needs-info",
            },
        },
    }
    home = Path("~/.workflow-engine").expanduser()
    assert found == {
        "state_dir": str(home),
        "work_dir": str(home / "workspaces"),
        "claude_cli": "claude",
        "codex_cli": "codex",
        "qwen_cli": "qwen",
        "mini_cli": "mini",
        "gh_cli": "gh",
        "github": {
            "token_env": "GITHUB_TOKEN",
            "token_file": None,
            "reviewer_token_file": None,
            "app": None,
            "reviewer_app": None,
            "accounts": [],
            "api_url": "https://api.github.com",
            "share": None,
            "write_interval_seconds": 1,
        },
        "lock": {"timeout": 1800, "self_fence": 1500, "heartbeat": 300, "settle": 5, "key_files": []},
        "budgets": {
            "run": 5,
            "issue": 25,
            "day": 100,
            "week": 500,
            "warn": 0.8,
            "unknown_run": 15,
            "scope": "repository",
        },
        "prices": {},
        "sandbox": "bubblewrap",
        "sandbox_readable": [],
        "sandbox_limits": {
            "memory_gib": 4,
            "processes": 512,
            "disk_gib": 10,
            "files": 500_000,
            "cpu_minutes": 240,
        },
        "roles": {},
        "phases": {},
        "llm": {
            "models": {},
            "record": None,
            "scenario": None,
            "vendor_tools": [],
            "resume_seconds": None,
            "resume_tokens": 100_000,
        },
        "stop_seconds": 28,
        "telemetry": {"otlp_endpoint": None},
        "notify": {
            "mention": [],
            "webhook": None,
            "webhook_secret_file": None,
            "smtp": None,
            "sender": None,
            "to": [],
        },
        "events": {"url": None, "retention_days": 90},
        "health": {"host": "127.0.0.1", "port": 9464},
        "webhook": {
            "host": "127.0.0.1",
            "port": None,
            "secret_env": "WORKFLOW_ENGINE_WEBHOOK_SECRET",
            "secret_file": None,
        },
        "max_concurrent": 1,
        "max_per_repository": 3,
        "cooldown": 10,
        "in_work_per_account": None,
        "quiet_hours": [],
        "max_iterations": 0,
    }


def test_work_trees_follow_the_state_directory() -> None:
    assert settings(state_dir=Path("/srv/engine")).work_dir == Path("/srv/engine/workspaces")


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        settings().max_concurrent = 5  # type: ignore[misc]  # that it is refused is the point


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("owner/repo", True),
        ("o/r", True),
        ("my-org/my.repo_1", True),
        ("enterprise_managed/repo", True),
        ("owner", False),
        ("owner/", False),
        ("/repo", False),
        ("a/b/c", False),
        ("owner/..", False),
        ("owner/repo.git", False),
        ("https://github.com/owner/repo", False),
        ("owner/re po", False),
        ("-rf/repo", False),
        ("owner/repo\n", False),
        ("o" * 40 + "/repo", False),
    ],
)
@pytest.mark.fault(3)
def test_a_repository_is_owner_slash_repo(name: str, good: bool) -> None:
    if good:
        assert RepositorySettings(name=name).name == name
    else:
        with pytest.raises(ValidationError, match="write owner/repo"):
            RepositorySettings(name=name)


@pytest.mark.fault(47)
@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://api.github.com", "https://api.github.com"),
        ("https://ghe.example.org/api/v3/", "https://ghe.example.org/api/v3"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("api.github.com", None),
        ("ftp://api.github.com", None),
        ("https://", None),
        ("https://user:secret@api.github.com", None),
        ("https://api.github.com?x=1", None),
        ("https://api.github.com:port", None),
        ("https://[::1", None),
    ],
)
def test_the_api_root(url: str, kept: str | None) -> None:
    if kept is not None:
        assert GitHubSettings(api_url=url).api_url == kept
    else:
        with pytest.raises(ValidationError, match="not the root of a GitHub API"):
            GitHubSettings(api_url=url)


@pytest.mark.fault(2)
def test_one_repository_is_configured_once_whatever_its_case() -> None:
    with pytest.raises(ValidationError, match=r"'Owner/Repo' is already configured as repositories\[0\]"):
        settings(repositories=(REPOSITORY, RepositorySettings(name="Owner/Repo")), github=LAB)


def test_stages_and_flags_must_be_told_apart() -> None:
    alike = RepositorySettings(name="a/b", labels=LabelSettings(status_prefix="auto:", flag_prefix="AUTO:"))
    with pytest.raises(ValidationError, match=r"repositories\[0\].labels.flag_prefix: must differ"):
        settings(repositories=(alike,))


def test_the_configured_prefixes_spell_the_labels() -> None:
    names = LabelSettings(status_prefix="bot/", flag_prefix="bot-flag/", story="idea").names()
    assert names.of(Stage.READY) == "bot/ready"
    assert names.of(Flag.PAUSED) == "bot-flag/paused"
    assert names.read(["Idea"]).story


def test_secret_values_are_not_printed() -> None:
    shown = settings(events=EventSettings(url=SecretStr("postgresql://u:hunter2@h/d")))
    assert "hunter2" not in f"{shown!r} {shown} {shown.model_dump_json()}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pr_title", "feat: "),
        ("pr_title", "{title} {body}"),
        ("pr_title", "{title}{title}"),
        ("commit_trailers", ("Signed-off-by Ada",)),
        ("commit_trailers", ("Signed-off-by: Ada\nx",)),
        ("docs_url", "javascript:alert(1)"),
        ("docs_url", "https://example.org/) [x](y"),
    ],
)
def test_templates_trailers_and_addresses_are_looked_at(key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=key):
        RepositorySettings.model_validate({"name": "owner/repo", key: value})


def test_a_title_template_and_trailers_are_taken() -> None:
    trailers = ("Signed-off-by: Ada <ada@example.org>", "Co-authored-by: Grace <grace@example.org>")
    found = RepositorySettings(name="owner/repo", pr_title="{type}: {title} (#{number})", commit_trailers=trailers)
    assert (found.pr_title, found.commit_trailers) == ("{type}: {title} (#{number})", trailers)


def test_the_backends_of_a_ladder_are_among_those_that_are_looked_for() -> None:
    configured = {"name": "ada/directory", "ladder": ["haiku", {"backend": "codex"}]}
    settings = Settings.model_validate({"repositories": [configured, {"name": "ada/other"}]}, strict=False)
    first, other = settings.repositories
    assert settings.backends() == settings.backends(first) == {"claude", "codex"}
    assert settings.backends(other) == {"claude"}
