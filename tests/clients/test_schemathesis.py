"""schemathesis: requests generated from GitHub's description, right ones and wrong ones, for every operation.

Whoever fuzzes an API at things that do not exist tests only its 404. So the requests are aimed at
things that do, and an operation that was never answered with success fails the test.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fuzzed import API, Targets, make, targets
from judge import BARE_REFUSALS, REDIRECTS, Judge, description
from lab_scene import Scene, scene_at
from seeded import NAME, Seeds, seed

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.routes import OPERATIONS
from lab.github.server import Lab

pytest.importorskip("schemathesis", reason="schemathesis is not installed (make test-clients installs it)")
import jwt
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

RIGHT, WRONG, LOST = 12, 6, 2
"""Requests for each operation: as described; not as described; as described, for things that may not exist."""

HOME = dict(zip(("owner", "repo"), NAME.split("/"), strict=True))
"""The path parameters of every operation in the repository."""

BY_APP = frozenset({"apps/get-authenticated", "apps/get-repo-installation", "apps/create-installation-access-token"})
"""Operations that ask for the App itself."""

BY_INSTALLATION = frozenset({"checks/create", "checks/update"})
"""Operations that only an App's installation may do."""

ALONE = settings(
    derandomize=True, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)
"""The same requests in every run, on every machine."""


@dataclass
class Probe:
    """A run of all operations against the lab: the statuses of its answers, and complaints about them."""

    lab: Lab
    targets: Targets
    tokens: Mapping[str, str]
    session: requests.Session
    statuses: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    complaints: list[str] = field(default_factory=list)

    def fire_at_all(self) -> None:
        """Send requests to every operation, the right ones first."""
        for operation in operations():
            self.fire(operation, RIGHT)
            if operation.body or operation.query:
                self.fire(operation, WRONG, mode=schemathesis.GenerationMode.NEGATIVE)
            if len(operation.path_parameters) > len(HOME):
                self.fire(operation, LOST, places=HOME)

    def fire(
        self,
        operation: Any,
        count: int,
        *,
        mode: Any = schemathesis.GenerationMode.POSITIVE,
        places: Mapping[str, Any] | None = None,
    ) -> None:
        """Send `count` generated requests to one operation, at its targets unless `places` says where."""
        name = name_of(operation)
        parameters = {parameter.name for parameter in operation.path_parameters}
        where = self.targets.path(name, parameters) if places is None else dict(places)

        def attempt(case: Any) -> None:
            if mode is schemathesis.GenerationMode.POSITIVE:
                case.body = self.targets.body(name, case.body)
            self._judge(name, case)

        strategy: SearchStrategy[Any] = operation.as_strategy(generation_mode=mode, path_parameters=where)
        settings(ALONE, max_examples=count)(given(strategy)(attempt))()

    def unreached(self) -> set[str]:
        """Return the operations that were never answered with success, requested or not."""
        reached = {name for name, statuses in self.statuses.items() if any(status < 400 for status in statuses)}
        return {name_of(operation) for operation in operations()} - reached

    def _judge(self, name: str, case: Any) -> None:
        headers = {"Authorization": f"Bearer {self.tokens.get(name, self.tokens[''])}"}
        answer = case.call(base_url=self.lab.url, session=self.session, headers=headers, allow_redirects=False)
        self.statuses[name][answer.status_code] += 1
        try:
            case.validate_response(answer, checks=[not_a_server_error, response_schema_conformance, known_status])
        except (AssertionError, BaseExceptionGroup) as refusal:
            self.complaints.append(f"{name}: {refusal!r} {getattr(refusal, 'exceptions', '')}")


def name_of(operation: Any) -> str:
    """Return GitHub's name for an operation."""
    return str(operation.definition.raw["operationId"])


def known_status(context: Any, response: Any, case: Any) -> None:
    """Assert that the status is described for the operation, or is one that every operation may return."""
    described = case.operation.definition.raw["responses"]
    assert str(response.status_code) in described or response.status_code in BARE_REFUSALS | REDIRECTS, (
        f"{response.status_code} is not described"
    )


@pytest.fixture
async def probe(tmp_path: Path) -> AsyncIterator[Probe]:
    """Yield a lab full of targets; our own judge checks its answers as well, but not the requests."""
    judge = Judge(requests=False)
    async with scene_at(tmp_path / "lab", judge) as scene:
        seeds = await seed(scene)
        things = await make(scene)
        own, installed = own_token(seeds), await installation_token(scene, seeds)
        check = await report(scene, seeds, installed)
        tokens = {**dict.fromkeys(BY_APP, own), **dict.fromkeys(BY_INSTALLATION, installed)}
        with requests.Session() as session:
            people = {"": scene.tokens["octo"]}
            yield Probe(scene.lab, targets(seeds, things, check), {**people, **tokens}, session)
        await scene.lab.idle()


def own_token(seeds: Seeds) -> str:
    """Return the App's own token, good for ten minutes."""
    now = int(time.time())
    return jwt.encode({"iss": str(seeds.app), "iat": now - 10, "exp": now + 590}, seeds.private_key, "RS256")


async def installation_token(scene: Scene, seeds: Seeds) -> str:
    """Return a new token of the App for the repository."""
    path = f"/app/installations/{seeds.installation}/access_tokens"
    answer = await scene.ask("POST", path, {}, headers={"Authorization": f"Bearer {own_token(seeds)}"})
    assert answer.status == 201, answer.text
    return str(answer.body["token"])


async def report(scene: Scene, seeds: Seeds, token: str) -> int:
    """Create a check run as the App, and return its id."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = await scene.ask("POST", f"{API}/check-runs", {"name": "ours", "head_sha": seeds.main}, headers=headers)
    assert answer.status == 201, answer.text
    return int(answer.body["id"])


def operations() -> list[Any]:
    """Return every operation of the lab, reads first and deletions last."""
    schema: Any = schemathesis.openapi.from_dict(loosened(description()))
    found = [result.ok() for result in schema.get_all_operations()]
    listed = {(operation.method, operation.template) for operation in OPERATIONS}
    assert {(operation.method.upper(), operation.path) for operation in found} == listed
    return sorted(found, key=lambda operation: ("get", "post", "patch", "put", "delete").index(operation.method))


def loosened(part: Any) -> Any:
    """Replace `oneOf` by `anyOf`: the description's alternatives overlap."""
    if isinstance(part, dict):
        return {"anyOf" if name == "oneOf" else name: loosened(value) for name, value in part.items()}
    return [loosened(one) for one in part] if isinstance(part, list) else part


async def test_generated_requests_are_answered_as_described(probe: Probe) -> None:
    await asyncio.to_thread(probe.fire_at_all)
    assert probe.complaints == []
    assert probe.unreached() == set()
    well = sum(count for statuses in probe.statuses.values() for status, count in statuses.items() if status < 400)
    assert well > probe_size() / 3


def probe_size() -> int:
    """Return the number of right requests: all operations, times the requests for each."""
    return len(OPERATIONS) * RIGHT


async def test_an_operation_that_only_refuses_is_noticed(probe: Probe) -> None:
    """The guard is proved: aimed at an issue that does not exist, nothing is reached and nothing complained of."""
    (operation,) = (one for one in operations() if name_of(one) == "issues/list-comments")
    await asyncio.to_thread(probe.fire, operation, 3, places={**HOME, "issue_number": 999_999})
    assert probe.statuses["issues/list-comments"].keys() == {404}
    assert "issues/list-comments" in probe.unreached()
    assert probe.complaints == []


@pytest.mark.parametrize(
    "fault",
    [Fault(FaultKind.ERROR_AFTER, path="/issues$"), Fault(FaultKind.NULL_FIELDS, path="/issues$", names=["id"])],
)
async def test_a_wrong_answer_is_noticed(probe: Probe, fault: Fault) -> None:
    """The checks are proved: one answer is damaged, and there is one complaint."""
    (operation,) = (one for one in operations() if name_of(one) == "issues/list-for-repo")
    probe.lab.faults.plan(fault)
    await asyncio.to_thread(probe.fire, operation, 3)
    assert len(probe.complaints) == 1
