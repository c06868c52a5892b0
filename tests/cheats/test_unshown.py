"""Doubts about criteria that no test shows: the cheat is asked about, and the same work done honestly is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from doubt_scene import proved
from doubts_corpus import PROJECTS
from readers_corpus import READERS
from surroundings_corpus import SURROUNDINGS
from unshown_corpus import PAIRS as UNSHOWN
from unshown_corpus import Pair

from shared.specification import read
from worker_agent.verify.repeat import Repeated

PAIRS = {**UNSHOWN, **SURROUNDINGS, **READERS}


async def played(place: Path, pair: Pair, change: Mapping[str, str]) -> Repeated:
    """Return the proof of one change of a pair."""
    project = PROJECTS[pair.language]
    based = replace(project, base={**project.base, **pair.before})
    return await proved(place, based, change, read(pair.specification))


@pytest.mark.parametrize("name", PAIRS)
async def test_what_tests_do_not_show_is_asked_about(tmp_path: Path, name: str) -> None:
    seen = await played(tmp_path, PAIRS[name], PAIRS[name].cheat)
    assert seen.red_verdict.worth_implementing, seen.red_verdict
    assert seen.green_verdict.ok, seen.green_verdict.details
    assert any(PAIRS[name].doubt in doubt for doubt in seen.proof.doubts), seen.proof.doubts


@pytest.mark.parametrize("name", PAIRS)
async def test_of_the_same_work_done_nothing_is_asked(tmp_path: Path, name: str) -> None:
    seen = await played(tmp_path, PAIRS[name], PAIRS[name].honest)
    assert seen.red_verdict.worth_implementing, seen.red_verdict
    assert seen.green_verdict.ok, seen.green_verdict.details
    assert seen.proof.doubts == ()
    assert seen.proof.suite_runs == 2
