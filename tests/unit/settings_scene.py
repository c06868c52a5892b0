"""Settings, read from a mapping."""

from __future__ import annotations

from typing import Any

from config.engine import GitHubSettings
from config.repository import RepositorySettings
from config.settings import Settings

REPOSITORY = RepositorySettings(name="owner/repo")

LAB = GitHubSettings(api_url="http://127.0.0.1:8080", write_interval_seconds=0)


def settings(**changes: Any) -> Settings:
    return Settings(**({"repositories": (REPOSITORY,), "sandbox": "none"} | changes))
