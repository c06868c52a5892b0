"""githubkit, whose models come from GitHub's own description and refuse every answer of another shape."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import reduce
from typing import Any, TypeAlias

import pytest
from githubkit_story import STORY, Kept, Step
from judge import DESCRIPTION
from lab_scene import Scene
from seeded import NAME, Seeds, seed

from lab.github.routes import OPERATIONS

pytest.importorskip("githubkit", reason="githubkit is not installed (make test-clients installs it)")
from githubkit import AppInstallationAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.exception import RequestFailed

RENAMED = {"repos/compare-commits-with-basehead": "repos/compare-commits"}
"""Operations that githubkit calls otherwise."""

Client: TypeAlias = GitHub[Any]


@pytest.fixture
async def seeds(scene: Scene) -> Seeds:
    return await seed(scene)


@pytest.fixture
async def clients(scene: Scene, seeds: Seeds) -> AsyncIterator[Mapping[str, Client]]:
    """Yield clients of Ada, octo and the App; the App signs its own tokens and asks the lab for installation tokens."""
    app = AppInstallationAuthStrategy(seeds.app, seeds.private_key, seeds.installation)
    people = {login: TokenAuthStrategy(scene.tokens[login]) for login in ("ada", "octo")}
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(client(scene, strategy))
            for name, strategy in {**people, "app": app}.items()
        }


def client(scene: Scene, strategy: Any, *, http_cache: bool = False) -> Client:
    return GitHub(strategy, base_url=scene.lab.url, http_cache=http_cache, auto_retry=False, follow_redirects=True)


async def test_every_operation_answers_in_githubs_shape(
    scene: Scene, seeds: Seeds, clients: Mapping[str, Client]
) -> None:
    kept: dict[str, Any] = asdict(seeds)
    for step in STORY:
        await scene.lab.idle()
        model = await call(clients[step.by], step, kept)
        kept |= {name: reduce(getattr, path.split("."), model) for name, path in step.keeps.items()}
    assert {step.operation for step in STORY} == set(operation_ids().values())


async def call(client: Client, step: Step, kept: Mapping[str, Any]) -> Any:
    """Run one step and return the model of the answer, or None if it has no model."""
    template = next(path for (_, path), name in operation_ids().items() if name == step.operation)
    places = dict(zip(("owner", "repo"), NAME.split("/"), strict=True)) if "{owner}" in template else {}
    group, _, name = RENAMED.get(step.operation, step.operation).replace("-", "_").partition("/")
    method = getattr(getattr(client.rest, group), f"async_{name}")
    try:
        response = await method(**places, **filled(step.arguments, kept))
    except RequestFailed as refused:
        response = refused.response
    assert response.status_code == step.status, (step, response.text)
    if step.status >= 300 or not response.content or "json" not in response.headers.get("Content-Type", ""):
        return None
    return response.parsed_data


def filled(argument: Any, kept: Mapping[str, Any]) -> Any:
    """Return an argument with kept values in the places that ask for them."""
    if isinstance(argument, Kept):
        return kept[argument.name]
    if isinstance(argument, Mapping):
        return {name: filled(value, kept) for name, value in argument.items()}
    return [filled(one, kept) for one in argument] if isinstance(argument, list) else argument


def operation_ids() -> Mapping[tuple[str, str], str]:
    """Return method and path of every operation of the lab, with GitHub's name for it."""
    paths = json.loads(DESCRIPTION.read_bytes())["paths"]
    return {(o.method, o.template): paths[o.template][o.method.lower()]["operationId"] for o in OPERATIONS}


async def test_pages_are_turned_by_its_paginator(scene: Scene, clients: Mapping[str, Client]) -> None:
    for number in range(1, 8):
        scene.lab.issue(NAME, f"Issue {number}", author="bob")
    ada, (owner, repo) = clients["ada"], NAME.split("/")
    pages: AsyncIterator[Any] = ada.rest.paginate(
        ada.rest.issues.async_list_for_repo, owner=owner, repo=repo, per_page=3
    )
    assert [issue.number async for issue in pages] == [7, 6, 5, 4, 3, 2, 1]


async def test_its_cache_asks_whether_something_changed(scene: Scene, seeds: Seeds) -> None:
    scene.lab.issue(NAME, "Add search", author="bob")
    owner, repo = NAME.split("/")
    async with client(scene, TokenAuthStrategy(scene.tokens["ada"]), http_cache=True) as ada:
        for comments in (0, 0, 1):
            seen = await ada.rest.issues.async_get(owner, repo, 1, headers={"Cache-Control": "no-cache"})
            assert seen.parsed_data.comments == comments
            if scene.lab.exchanges and len(asked(scene)) == 2:
                scene.lab.comment(NAME, 1, "News", author="bob")
    assert asked(scene) == [200, 304, 200]


def asked(scene: Scene) -> list[int]:
    """Return the statuses of the lab's answers to all requests about one issue."""
    return [e.status for e in scene.lab.exchanges if e.template == "/repos/{owner}/{repo}/issues/{issue_number}"]
