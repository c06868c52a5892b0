"""The git adapter against an embedded GitHub that loses, delays, repeats, refuses or breaks off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from git_remote import ENVIRONMENT, fences_of
from lab_scene import NAME, Scene

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import Gone, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.git.command import Git
from shared.git.credentials import Credentials
from shared.git.fences import Fences
from shared.git.mirror import Mirror

FENCE = "refs/ack/worker/42"
PUSH = ("POST", r"\.git/git-receive-pack$")
ASK = ("GET", r"\.git/info/refs$")
FETCH = ("POST", r"\.git/git-upload-pack$")


@dataclass
class Engine:
    """One agent's mirror of the lab's repository, and every move of the fence that the server made."""

    scene: Scene
    mirror: Mirror
    fences: Fences
    moves: list[str] = field(default_factory=list)

    def plan(self, kind: FaultKind, place: tuple[str, str], *, times: int = 1, status: int = 0) -> Fault:
        fault = Fault(kind, *place, login="ada", times=times, status=status, after_bytes=50)
        return self.scene.lab.faults.plan(fault)

    async def note(self, ref: str, old: str | None, new: str | None) -> None:
        if ref == FENCE:
            self.moves.append(new or "")


@pytest.fixture
async def engine(scene: Scene, tmp_path: Path) -> AsyncIterator[Engine]:
    await scene.get("issues")

    async def token() -> str:
        return scene.tokens["ada"]

    answers = Credentials(tmp_path / "askpass", scene.lab.url, token)
    mirror = Mirror(Git(tmp_path / "mirror.git", ENVIRONMENT, credentials=answers), scene.lab.git_url(NAME))
    await mirror.ensure()
    here = Engine(scene, mirror, fences_of(mirror))
    scene.repository.bare.on_update = here.note
    yield here
    while any(fault.waiting for fault in scene.lab.faults.planned):  # noqa: ASYNC110 - what is executed twice
        await asyncio.sleep(0.01)
    answers.remove()


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    ("kind", "times"),
    [
        (FaultKind.LOST_REQUEST, 1),
        (FaultKind.LOST_REPLY, 1),
        (FaultKind.TWICE, 1),
    ],
)
async def test_what_curl_or_the_server_repeats_is_one_advance(engine: Engine, kind: FaultKind, times: int) -> None:
    engine.plan(kind, PUSH, times=times)
    oid = await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    assert oid is not None
    assert engine.moves == [oid]


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    ("kind", "times", "arrived"),
    [
        (FaultKind.LOST_REQUEST, 2, False),
        (FaultKind.LOST_REPLY, 2, True),
        (FaultKind.RESET, 1, True),
        (FaultKind.ERROR_BEFORE, 1, False),
        (FaultKind.ERROR_AFTER, 1, True),
        (FaultKind.HTML, 1, True),
        (FaultKind.EMPTY, 1, True),
    ],
)
async def test_an_advance_whose_reply_is_lost_is_unknown_and_not_repeated(
    engine: Engine, kind: FaultKind, times: int, arrived: bool
) -> None:
    engine.plan(kind, PUSH, times=times)
    with pytest.raises(UnknownOutcome):
        await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    async with engine.scene.repository.bare.changing():  # what the server still does comes before this
        pass
    assert len(engine.moves) == arrived
    assert (await engine.fences.read(FENCE) is not None) is arrived


@pytest.mark.fault(9)
async def test_a_late_advance_loses_to_the_one_that_came_meanwhile(engine: Engine) -> None:
    late = Fault(FaultKind.LATE, *PUSH, times=2, seconds=300)
    engine.scene.lab.faults.plan(late)
    with pytest.raises(UnknownOutcome):
        await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    second = await engine.fences.advance(FENCE, "Nonce: 2", None, [], [])
    engine.scene.lab.clock.advance(300)
    assert await engine.fences.read(FENCE) == (second, "Nonce: 2")
    assert engine.moves == [second]


@pytest.mark.fault(9)
async def test_a_refusal_that_cannot_be_looked_into_is_unknown(engine: Engine) -> None:
    other = await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    engine.plan(FaultKind.ERROR_BEFORE, FETCH, times=1, status=503)
    with pytest.raises(UnknownOutcome, match="cannot be asked why"):
        await engine.fences.advance(FENCE, "Nonce: 2", None, [], [])
    assert await engine.fences.advance(FENCE, "Nonce: 3", None, [], []) is None
    assert engine.moves == [other]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(401, Unauthorized, marks=pytest.mark.fault(5)),
        pytest.param(403, NotAllowed, marks=pytest.mark.fault(6)),
        pytest.param(404, Gone, marks=pytest.mark.fault(6)),
        pytest.param(429, Transient, marks=pytest.mark.fault(8)),
        pytest.param(503, Transient, marks=pytest.mark.fault(9)),
    ],
)
async def test_what_is_refused_before_anything_was_sent_has_not_moved(
    engine: Engine, status: int, error: type[Exception]
) -> None:
    engine.plan(FaultKind.ERROR_BEFORE, ASK, status=status, times=2 if status == 401 else 1)  # git asks us again
    with pytest.raises(error) as caught:
        await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    assert not isinstance(caught.value, UnknownOutcome)
    assert engine.moves == []


@pytest.mark.fault(5)
async def test_a_revoked_token_is_told_apart_in_git_too(engine: Engine) -> None:
    engine.scene.lab.faults.plan(Fault(FaultKind.TOKEN_REVOKED, *ASK, login="ada"))
    for refused in (engine.fences.advance(FENCE, "Nonce: 1", None, [], []), engine.fences.read(FENCE)):
        with pytest.raises(Unauthorized):
            await refused
    assert engine.moves == []


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (FaultKind.RESET, FETCH),
        (FaultKind.RESET, ASK),
        (FaultKind.ERROR_BEFORE, ASK),
        (FaultKind.ERROR_AFTER, FETCH),
        pytest.param(FaultKind.HTML, ASK, marks=pytest.mark.fault(10)),
        pytest.param(FaultKind.EMPTY, ASK, marks=pytest.mark.fault(10)),
        pytest.param(FaultKind.HTML, FETCH, marks=pytest.mark.fault(10)),
        pytest.param(FaultKind.EMPTY, FETCH, marks=pytest.mark.fault(10)),
        pytest.param(FaultKind.SECONDARY_LIMIT, ASK, marks=pytest.mark.fault(8)),
    ],
)
async def test_a_broken_fetch_is_transient_and_leaves_the_mirror_sound(
    engine: Engine, kind: FaultKind, place: tuple[str, str]
) -> None:
    oid = await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    tip = await engine.scene.commit("main", {f"{n}.txt": f"{n}\n" * 50 for n in range(20)})
    engine.plan(kind, place)
    with pytest.raises(Transient):
        await engine.mirror.fetch()
    assert await engine.mirror.tip("main") not in {tip, None}, "what was known is not forgotten"
    await engine.mirror.fetch()
    assert await engine.mirror.tip("main") == tip
    assert await engine.fences.read(FENCE) == (oid, "Nonce: 1")
    assert (await engine.mirror.git.run("fsck", "--strict", ok=(0, 1, 2))).code == 0


@pytest.mark.fault(10)
@pytest.mark.parametrize("kind", [FaultKind.HTML, FaultKind.EMPTY])
async def test_a_broken_answer_is_never_taken_for_no_fence(engine: Engine, kind: FaultKind) -> None:
    oid = await engine.fences.advance(FENCE, "Nonce: 1", None, [], [])
    engine.plan(kind, ASK, times=3)
    for broken in (engine.fences.read(FENCE), engine.fences.read_all()):
        with pytest.raises(Transient):
            await broken
    # A push compares its leases with what such an answer shows, and is not even sent: its owner looks again.
    assert await engine.fences.advance(FENCE, "Nonce: 2", oid, [], []) is None
    assert await engine.mirror.sha(FENCE) == oid, "what was known is not forgotten"
    assert await engine.fences.read(FENCE) == (oid, "Nonce: 1")
    assert engine.moves == [oid]


@pytest.mark.fault(10)
@pytest.mark.parametrize("kind", [FaultKind.HTML, FaultKind.EMPTY])
async def test_a_mirror_never_begins_with_a_broken_answer(engine: Engine, tmp_path: Path, kind: FaultKind) -> None:
    engine.plan(kind, ASK)
    fresh = Mirror(engine.mirror.git.at(tmp_path / "fresh.git"), engine.mirror.url)
    with pytest.raises(Transient):
        await fresh.ensure()
    await fresh.ensure()
    assert await fresh.tip("main") is not None
