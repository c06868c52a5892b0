"""The worker in the default sandbox: the same story as without one, and a test that looks around finds nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine import REPOSITORY, Engine, demo_script

from config.settings import Settings
from lab.github.server import Lab
from shared.sandbox.confinement import Isolation, Wrap
from shared.sandbox.self_test import diagnosis, tried
from shared.workflow import Role

pytestmark = pytest.mark.long

BODY = "## Acceptance criteria\n- [ ] AC1: search_users(directory, text) finds users by part of their name.\n"


class Sealed(Engine):
    """An engine whose configuration says `sandbox: bubblewrap`."""

    def settings(self, state: str) -> Settings:
        return super().settings(state).model_copy(update={"sandbox": "bubblewrap"})


async def test_an_issue_becomes_a_green_pull_request_in_the_default_sandbox(tmp_path: Path) -> None:
    if why := diagnosis(await tried(Wrap(Isolation.SANDBOX), {"PATH": os.environ["PATH"]})):
        pytest.skip(why[0])
    async with Lab(tmp_path / "github") as lab, Sealed.of(lab, tmp_path, demo_script(tmp_path)) as engine:
        number = engine.ready("Search users by name", BODY)
        async with engine.agent(Role.WORKER) as worker:
            await engine.until(lambda: "status:reviewing" in engine.issue(number).labels, worker)
        (pull,) = lab.at(REPOSITORY).pulls.opened_onto("main")
        assert "failed" not in engine.issue(pull.number).labels
