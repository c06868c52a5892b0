"""PyGithub as a person of a scene. It is synchronous: it runs in a thread beside the lab's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lab_scene import NAME, Scene

pytest.importorskip("github", reason="PyGithub is not installed (make test-clients installs it)")
from github import Auth, Github
from github.Repository import Repository

Story = Callable[[Repository], None]


@contextmanager
def client(scene: Scene, login: str, *, per_page: int = 30) -> Iterator[Github]:
    """Yield PyGithub as `login`, without pauses and retries; it builds its objects from every answer."""
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
