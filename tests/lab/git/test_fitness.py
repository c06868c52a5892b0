"""An agent's proof before it starts: an unfit server is refused; the proof is tried once a day and never needlessly."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, REPOSITORY, WRITES, Engine
from fakes.clock import PassingClock
from git_remote import AT

from config.state import StateDirectory
from lab.github.repositories.bare import Bare
from runtime.building.assembly import Process, RepositoryAdapters, open_repositories
from runtime.daemon.start import TRUSTED_SECONDS, Proof, prove
from runtime.exit_codes import NOT_ALLOWED, complain
from shared.clock import Clock
from shared.git.probe import UnfitServer
from shared.process import run
from shared.workflow import Role

NO_ACKS = '#!/bin/sh\ncase $1 in refs/ack/*) echo "refs/ack is reserved" >&2; exit 1 ;; esac\n'


@asynccontextmanager
async def started(engine: Engine, clock: Clock) -> AsyncIterator[tuple[RepositoryAdapters, ...]]:
    """Start a worker's process as far as the proof."""
    engine.scenario.write_text("[]")
    settings = engine.settings("machine-1")
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER) as identity:
        async with open_repositories(Process(settings, Role.WORKER, clock, identity, environment)) as parts:
            yield parts


def bare(engine: Engine) -> Bare:
    return engine.lab.at(REPOSITORY).bare


async def reserve(engine: Engine) -> None:
    """Have the server refuse the lock's refs from now on."""
    hook = bare(engine).path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(NO_ACKS)
    hook.chmod(0o700)


async def test_a_proof_counts_for_a_day_and_is_then_tried_again(engine: Engine) -> None:
    clock = PassingClock(AT.timestamp())
    async with started(engine, clock) as parts:
        await prove(parts)
        await reserve(engine)
        clock.seconds += TRUSTED_SECONDS - 1
        await prove(parts)  # nothing is pushed: the server would refuse it
        clock.seconds += 1
        with pytest.raises(UnfitServer):
            await prove(parts)
    assert not await bare(engine).refs("refs/ack/")


async def test_agents_that_start_together_prove_it_once(engine: Engine) -> None:
    taken = bare(engine).path / "taken"
    hook = bare(engine).path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\necho "$1" >> {taken}\n')
    hook.chmod(0o700)
    async with started(engine, PassingClock(AT.timestamp())) as parts, anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(prove, parts)
    created = {ref for ref in taken.read_text().split() if ref.endswith("/fence")}
    assert len(created) == 1, "the others found its note"
    assert not await bare(engine).refs("refs/ack/")


async def test_where_no_file_can_be_locked_each_proves_it(engine: Engine) -> None:
    async with started(engine, PassingClock(AT.timestamp())) as parts:
        parts[0].git.mirror.git.git_dir.with_suffix(".proof.lock").mkdir(parents=True)
        await prove(parts)
        assert list((parts[0].process.settings.state_dir / "proofs").iterdir())


async def test_a_server_that_is_not_fit_ends_the_start_with_its_code_and_is_not_remembered_as_fit(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    await reserve(engine)
    async with started(engine, PassingClock(AT.timestamp())) as parts:
        for _ in range(2):
            with pytest.raises(UnfitServer) as raised:
                await prove(parts)
    assert complain(raised.value) == NOT_ALLOWED
    said = capsys.readouterr().err
    assert "does not accept refs below refs/ack/" in said
    assert "refs/ack is reserved" in said


async def test_a_fit_server_does_not_vouch_for_the_rules_of_each_of_its_repositories(engine: Engine) -> None:
    async with started(engine, PassingClock(AT.timestamp())) as parts:
        await prove(parts)
        proofs = parts[0].process.settings.state_dir / "proofs"
        (own,) = (file for file in proofs.iterdir() if file.name.endswith(".git.json"))
        own.unlink()
        await prove(parts)
        assert own.exists(), "tried with its own refs, and noted"
        own.unlink()
        await reserve(engine)
        for _ in range(2):
            with pytest.raises(UnfitServer, match="does not accept refs below refs/ack/"):
                await prove(parts)
    assert not await bare(engine).refs("refs/ack/")


async def test_an_agent_does_not_start_against_it(engine: Engine, tmp_path: Path) -> None:
    await reserve(engine)
    engine.scenario.write_text("[]")
    settings = engine.settings("machine-1")
    config = tmp_path / "config.yml"
    wanted = {"repositories", "state_dir", "github", "lock", "sandbox", "llm"}
    config.write_text(settings.model_dump_json(include=wanted, exclude_unset=True))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "worker_agent", "--once", "--config", str(config))
    done = await run(argv, cwd=Path(__file__).parents[3], env=env)
    assert done.code == NOT_ALLOWED, done.stderr.decode()
    assert "does not accept refs below refs/ack/" in done.stderr.decode().splitlines()[-1]
    assert b"Nothing to do" not in done.stdout


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"version": 0, "url": "http://h/a/b.git", "at": 5}', '{"version": 1, "url": "", "at": 5}'],
)
def test_a_note_that_is_damaged_or_of_something_else_proves_nothing(tmp_path: Path, content: str) -> None:
    proof = Proof(tmp_path, "http://h/a/b.git")
    proof.write(5.0)
    assert proof.counts(5.0)
    (file,) = tmp_path.iterdir()
    file.write_text(content)
    assert not proof.counts(5.0)


def test_a_note_of_tomorrow_proves_nothing(tmp_path: Path) -> None:
    proof = Proof(tmp_path, "http://h/a/b.git")
    proof.write(100.0)
    assert not proof.counts(99.0)


def test_a_state_directory_that_cannot_be_written_to_costs_the_note_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    proof = Proof(tmp_path / "file" / "proofs", "http://h/a/b.git")
    proof.write(5.0)
    assert not proof.counts(5.0)
