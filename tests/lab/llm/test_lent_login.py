"""The ChatGPT login that a call renews: the next call gets it, whatever ended the call, and never another file."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import anyio
import pytest
import structlog
from cli_shop import Shop

from lab.model_server import Issuer
from shared.errors import Misconfigured
from shared.llm import codex_login
from shared.llm.claude import Claude
from shared.llm.cli import directory
from shared.llm.cli.coder import CliCoder
from shared.llm.cli.launch import Launcher
from shared.llm.codex import dialect
from shared.llm.codex_login import LoginLease, lend, lent, recover
from shared.llm.endpoint import Endpoint
from shared.llm.port import NOT_RUN, CoderCall, Ending, Request
from shared.llm.prices import Prices
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement

REQUEST = Request(CoderCall.IMPLEMENT, "#42", "A thing", "developer", "Do it.")
NEW = "2026-11-09T00:00:00Z"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the login file of a person."""
    home = tmp_path / "home of a person"
    home.mkdir()
    (home / "auth.json").write_text(Issuer().login())
    return home / "auth.json"


def lender(file: Path) -> LoginLease:
    """Return the lease of one agent."""
    return LoginLease(Endpoint(None, "", login=True, file=file), file)


def borrowed(file: Path, calls: Path, name: str = "call-1") -> Path:
    """Make the CODEX_HOME of a call that has begun; nothing holds its lock."""
    home = calls / name / "home" / ".codex"
    home.mkdir(parents=True)
    (calls / f"{name}.lock").touch()
    lend(file, home)
    return home


def renewed(home: Path, renewal: str = "r-new") -> None:
    """Renew the copy, as Codex does."""
    known = json.loads((home / "auth.json").read_text())
    known["tokens"]["refresh_token"] = renewal
    (home / "auth.json").write_text(json.dumps({**known, "last_refresh": NEW}))


def renewal(file: Path) -> str:
    """Return the refresh token in a file."""
    found = codex_login.read(file)
    assert found is not None
    return found.renewal


@pytest.mark.fault(23)
async def test_what_a_killed_daemon_s_call_renewed_is_there_before_the_next_call_begins(
    file: Path, tmp_path: Path
) -> None:
    """The next call is one of another agent, with a state directory of its own, which has run all the time."""
    renewed(borrowed(file, tmp_path / "state" / "calls"))
    async with lender(file).open(REQUEST):
        home = borrowed(file, tmp_path / "other" / "calls")
        assert renewal(home / "auth.json") == "r-new"
    assert renewal(file) == "r-new"
    assert lent(file) is None


@pytest.mark.fault(23)
async def test_a_login_is_put_back_while_its_call_goes_on(file: Path, tmp_path: Path) -> None:
    async with lender(file).open(REQUEST):
        home = borrowed(file, tmp_path / "calls")
        (home / "auth.json").write_text('{"tokens": {"acc')  # half written
        await anyio.sleep(0.3)
        assert renewal(file) == "rt-c4n4ry-0"
        (home / "auth.json").unlink()
        lend(file, home)
        renewed(home)
        for _ in range(100):
            await anyio.sleep(0.05)
            if renewal(file) == "r-new":
                break
        assert renewal(file) == "r-new"


async def test_what_tools_of_other_calls_plant_never_becomes_the_login(file: Path, tmp_path: Path) -> None:
    before = codex_login.content(file)
    planted = tmp_path / "calls" / "call-1" / "home" / ".codex"
    planted.mkdir(parents=True)
    (planted / "auth.json").write_bytes(before)
    renewed(planted, "garbage")
    recover(file)
    async with lender(file).open(REQUEST):
        await anyio.sleep(0.3)
    assert codex_login.content(file) == before
    assert [path.name for path in file.parent.iterdir() if path.name.endswith("lent")] == []


async def test_a_call_that_goes_on_is_left_alone_at_another_s_start(file: Path, tmp_path: Path) -> None:
    before = codex_login.content(file)
    async with directory.opened(tmp_path / "calls") as call:
        home = call.home / ".codex"
        home.mkdir()
        lend(file, home)
        renewed(home)
        recover(file)
        assert codex_login.content(file) == before
        assert lent(file) == home / "auth.json"


async def test_a_start_takes_no_copy_away_that_the_holder_of_the_lock_has_yet_to_read(
    file: Path, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    async with lender(file).open(REQUEST):
        home = borrowed(file, calls)
        borrowed_before = calls / "call-0"
        borrowed_before.mkdir()
        (calls / "call-0.lock").touch()
        recover(file)
        assert directory.sweep(calls, spared=tuple(filter(None, [lent(file)]))) == 1
        assert home.exists()
        assert not borrowed_before.exists()


async def test_who_waits_for_the_login_says_so_once(file: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        async with lender(file).open(REQUEST):
            with anyio.move_on_after(0.3) as waiting:
                async with lender(file).open(REQUEST):
                    raise AssertionError
    assert waiting.cancelled_caught
    assert [entry["item"] for entry in logs if entry["event"] == "login_waited_for"] == ["#42"]


async def test_one_login_by_two_names_is_lent_once(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "auth.json"
    link.symlink_to(file)
    async with lender(file).open(REQUEST):
        with anyio.move_on_after(0.2) as waiting:
            async with lender(link).open(REQUEST):
                raise AssertionError
    assert waiting.cancelled_caught


async def test_a_lock_that_cannot_be_taken_is_the_outcome_of_a_call_that_costs_nothing(
    file: Path, tmp_path: Path
) -> None:
    (file.parent / ".auth.json.engine-lock").mkdir()
    shop = Shop(tmp_path)
    launcher = Launcher(Confinement(), RealClock(), {"PATH": os.defpath}, shop.calls, shop.logs)
    claude = Claude(shop.program("result()"), {"PATH": os.defpath})
    outcome = await CliCoder(claude, launcher, lender(file)).run(shop.request())
    assert (outcome.ending, outcome.usage) == (Ending.CONFIG, NOT_RUN)
    assert "engine-lock, cannot be taken: Is a directory" in outcome.text


async def test_what_a_call_raises_comes_out_as_it_is(file: Path) -> None:
    with pytest.raises(Misconfigured, match="as it is"):
        async with lender(file).open(REQUEST):
            raise Misconfigured("as it is")


async def test_the_sandbox_is_tried_with_what_calls_by_the_login_are_denied(file: Path, tmp_path: Path) -> None:
    link, program = tmp_path / "auth.json", tmp_path / "codex"
    link.symlink_to(file)
    flags = "--json --output-schema --output-last-message --skip-git-repo-check --sandbox --cd --ignore-user-config"
    program.write_text(
        "#!/bin/sh\ncase $1 in --version) echo codex-cli 0.169.0;; features) ;; "
        f"exec) echo {flags} --ignore-rules --strict-config --disable;; "
        f'sandbox) echo "$*" > {shlex.quote(str(tmp_path / "asked"))}; echo refused >&2; exit 1;; esac\n'
    )
    program.chmod(0o755)
    launcher = Launcher(Confinement(), RealClock(), {"PATH": os.defpath}, tmp_path / "calls", tmp_path / "logs")
    with pytest.raises(Misconfigured, match=r"cannot start its sandbox here.*refused"):
        await dialect(program, launcher, Prices({}), login=link).ready()
    asked = (tmp_path / "asked").read_text()
    assert f'"{file}"="deny"' in asked
    assert f'"{link}"' not in asked
    assert '/home/.codex/auth.json"="deny"' in asked
