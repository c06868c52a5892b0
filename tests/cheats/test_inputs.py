"""Half-done work whose tests have inputs that do not tell is asked about; of the same work done nothing is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubt_scene import proved
from doubts_corpus import PROJECTS
from inputs_corpus import DONE, HALF_DONE, PLACES, Work

from shared.specification import read
from worker_agent.verify.repeat import Repeated


async def played(place: Path, work: Work) -> Repeated:
    """Return the proof of one work, with its criterion if it has one."""
    tests, code = PLACES[work.language]
    asked = read(f"## Acceptance criteria\n- [ ] AC1: {work.criterion}\n" if work.criterion else "")
    return await proved(place, PROJECTS[work.language], {tests: work.tests, code: work.code}, asked)


@pytest.mark.parametrize("name", HALF_DONE)
async def test_half_done_work_is_asked_about(tmp_path: Path, name: str) -> None:
    seen = await played(tmp_path, HALF_DONE[name])
    assert seen.green_verdict.ok, seen.green_verdict.details
    assert any(HALF_DONE[name].doubt in doubt for doubt in seen.proof.doubts), seen.proof.doubts


@pytest.mark.parametrize("name", DONE)
async def test_of_done_work_nothing_is_asked(tmp_path: Path, name: str) -> None:
    seen = await played(tmp_path, DONE[name])
    assert seen.green_verdict.ok, seen.green_verdict.details
    assert seen.proof.doubts == ()
    assert seen.proof.suite_runs == 2
