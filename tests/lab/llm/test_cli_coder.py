"""A coder behind a program: its directory, its environment, its limits, and what is kept - with a small program."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from cli_shop import HELP, RESULT, TOKEN, Shop

from config.settings import Settings
from config.state import StateDirectory
from runtime.building.assembly import Process
from runtime.building.backends import backend
from shared.errors import Misconfigured, Unauthorized
from shared.llm.cli.directory import opened, sweep
from shared.llm.cli.launch import MOST_TRANSCRIPTS, outdated
from shared.llm.endpoint import METERED, MeasuredRun
from shared.llm.port import NOT_RUN, Ending, Request, RunLimits, Usage, UsageSoFar
from shared.llm.role_router import RoleRouter
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import FILE_BYTES
from shared.workflow import Role


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Return a shop in a directory of its own."""
    return Shop(tmp_path)


async def test_a_call_has_a_home_of_its_own_that_is_gone_afterwards(shop: Shop) -> None:
    body = 'pathlib.Path("seen").write_text(json.dumps([dict(os.environ), sys.argv, prompt])); result()'
    assert (await shop.run(body)).ending is Ending.COMPLETED
    environment, argv, prompt = json.loads((shop.root / "seen").read_text())
    assert prompt == "Do it."
    assert environment["HOME"].startswith(f"{shop.calls}/call-")
    assert list(shop.calls.iterdir()) == []
    assert environment["ANTHROPIC_API_KEY"] == TOKEN
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert not {"GITHUB_TOKEN", "PYTHONPATH", "USER"} & set(environment)
    assert TOKEN not in " ".join(argv)
    assert "--setting-sources=" in argv
    assert "--strict-mcp-config" in argv
    (kept,) = shop.logs.iterdir()
    assert kept.name == "completed", "those of failed calls are not crowded out by it"


@pytest.mark.parametrize(
    ("body", "ending", "text"),
    [
        ("result(); sys.exit(1)", Ending.COMPLETED, "Done."),
        ("sys.exit(0)", Ending.UNKNOWN, "it said nothing at all (exit code 0, no result)"),
        ("sys.stderr.write('bad flag'); sys.exit(1)", Ending.CONFIG, "bad flag (exit code 1, no result)"),
        (f"sys.stderr.write('no {TOKEN}'); sys.exit(1)", Ending.CONFIG, "no *** (exit code 1, no result)"),
        ("result(); os.kill(os.getpid(), 9)", Ending.KILLED, "it was ended by a signal (exit code -9)"),
        ("result(); sys.exit(143)", Ending.KILLED, "it was ended by a signal (exit code 143)"),
        ("print('x' * 2**20); result()", Ending.COMPLETED, "Done."),
    ],
)
async def test_the_exit_code_alone_is_no_verdict(shop: Shop, body: str, ending: Ending, text: str) -> None:
    outcome = await shop.run(body)
    assert (outcome.ending, outcome.text) == (ending, text)


@pytest.mark.fault(23)
@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (RunLimits(deadline_seconds=1, silence_seconds=30), "it did not end within 1 seconds and was stopped"),
        (RunLimits(deadline_seconds=30, silence_seconds=1), "it said nothing for 1 seconds and was stopped"),
    ],
)
async def test_a_run_that_we_stop_is_timed_out_whatever_it_printed(shop: Shop, limits: RunLimits, text: str) -> None:
    outcome = await shop.quick(f"{RESULT}; sleep 60").run(shop.request(limits=limits))
    assert (outcome.ending, outcome.text) == (Ending.TIMED_OUT, text)
    assert outcome.usage.cost_usd == 0.25


async def test_a_run_that_goes_on_talking_is_not_silent(shop: Shop) -> None:
    coder = shop.quick(f"for i in 1 2 3 4 5 6; do echo '{{}}'; sleep 0.25; done; {RESULT}")
    limits = RunLimits(deadline_seconds=30, silence_seconds=1)
    assert (await coder.run(shop.request(limits=limits))).ending is Ending.COMPLETED


async def test_the_log_of_a_failed_run_is_kept_and_the_oldest_go(shop: Shop) -> None:
    shop.logs.mkdir()
    for number in range(MOST_TRANSCRIPTS):
        (shop.logs / f"2001-{number:04}.jsonl").touch()
    outcome = await shop.run("print('{\"a\": 1}'); sys.exit(1)")
    assert outcome.log is not None
    assert outcome.log.read_text() == '{"a": 1}\n'
    assert "-42-implement-1.0.0-" in outcome.log.name
    assert len(list(shop.logs.iterdir())) == MOST_TRANSCRIPTS
    assert not (shop.logs / "2001-0000.jsonl").exists()


async def test_what_a_completed_run_said_is_kept_too(shop: Shop) -> None:
    outcome = await shop.run("print('{\"a\": 1}'); result()")
    assert (outcome.ending, outcome.log) == (Ending.COMPLETED, next((shop.logs / "completed").iterdir()))
    assert outcome.log is not None
    assert outcome.log.read_text().startswith('{"a": 1}\n')
    assert outcome.log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("sizes", "gone"), [((9,), 0), ((3, 3, 3), 0), ((3, 3, 4, 4), 2), ((1, 20), 1), ((0,) * (MOST_TRANSCRIPTS + 3), 3)]
)
def test_transcripts_go_by_number_and_by_size_but_the_newest_never(sizes: tuple[int, ...], gone: int) -> None:
    found = [(Path(f"{number:04}.jsonl"), size) for number, size in enumerate(sizes)]
    assert outdated(found, size=9) == tuple(path for path, _ in found[:gone])


async def test_no_call_writes_a_file_that_fills_the_disk(shop: Shop) -> None:
    ask = "import resource; print('limit', resource.getrlimit(resource.RLIMIT_FSIZE)[0], file=sys.stderr)"
    body = f"import subprocess; {ask}; subprocess.run(['sh', '-c', 'ulimit -f >&2; ulimit -c >&2']); sys.exit(1)"
    said = (await shop.run(body)).text
    assert f"limit {FILE_BYTES}" in said
    assert f"\n{FILE_BYTES // 512}\n0" in said, "its tools neither, and no core is dumped"


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"version": "gcc 12"}, "is not Claude Code"),
        ({"help_text": HELP.replace("--tools", "")}, "too old: it does not know --tools"),
    ],
)
async def test_another_program_or_an_old_one_is_not_used(shop: Shop, about: Mapping[str, str], sentence: str) -> None:
    coder = shop.coder("pathlib.Path('ran').touch()", **about)
    with pytest.raises(Misconfigured, match=sentence):
        await coder.ready()
    outcome = await coder.run(shop.request())
    assert outcome.ending is Ending.CONFIG
    assert not (shop.root / "ran").exists()


@pytest.mark.parametrize(("prompt", "sentence"), [(" \n", "The prompt is empty."), ("x" * 10_000_001, "10,000,001")])
async def test_what_the_program_cannot_take_is_not_begun(shop: Shop, prompt: str, sentence: str) -> None:
    outcome = await shop.coder("pathlib.Path('ran').touch(); result()").run(shop.request(prompt=prompt))
    assert outcome.ending is Ending.PERSISTENT
    assert sentence in outcome.text
    assert not (shop.root / "ran").exists()


async def test_a_cancelled_call_leaves_nothing(shop: Shop) -> None:
    await cancelled(shop, shop.request())
    assert list(shop.calls.iterdir()) == []


@pytest.mark.parametrize("used", [Usage(7, cost_usd=0.25, cost_source=METERED), None])
async def test_what_a_cancelled_call_has_used_is_read_where_it_was_measured(shop: Shop, used: Usage | None) -> None:
    if used is not None:
        measured = MeasuredRun(used)
        shop.endpoint = replace(shop.endpoint, measured=lambda: measured)
    request = shop.request(usage_so_far=UsageSoFar(lambda: NOT_RUN))
    await cancelled(shop, request)
    assert request.usage_so_far.read() == (used or Usage()), "not that nothing was run"


async def cancelled(shop: Shop, request: Request) -> None:
    """Make a call that is cancelled while its program runs."""
    async with anyio.create_task_group() as group:
        group.start_soon(shop.coder("pathlib.Path('begun').touch(); time.sleep(60)").run, request)
        with anyio.fail_after(20):
            while not (shop.root / "begun").exists():  # noqa: ASYNC110 - another process makes it
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()


async def test_what_a_killed_daemon_left_is_swept_and_a_living_call_is_not(tmp_path: Path) -> None:
    killed(tmp_path)
    async with opened(tmp_path) as call:
        (call.home / "locked").mkdir(mode=0o000)
        assert sweep(tmp_path) == 1
        assert call.home.is_dir()
    assert names(tmp_path) == []


def names(directory: Path) -> list[str]:
    """Return the names in a directory."""
    return [path.name for path in directory.iterdir()]


def killed(calls: Path) -> None:
    """Make the files that the call of a killed daemon leaves."""
    (calls / "call-dead" / "home").mkdir(parents=True)
    (calls / "call-dead.lock").touch()
    (calls / "call-dead.events").touch()


def settings(shop: Shop, **changes: Any) -> Settings:
    """Return a configuration with the Claude backend."""
    repository = {"name": "ada/directory"}
    known = {"repositories": (repository,), "state_dir": shop.root / "state", "sandbox": "none"}
    return Settings.model_validate({**known, **changes}, strict=False)


class Builder:
    """Builds the backend as an agent's process does; the events of all these processes are written at the end."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.processes: list[Process] = []

    async def __call__(self, environment: Mapping[str, str], **changes: Any) -> RoleRouter:
        configured = settings(self.shop, **changes)
        directory = StateDirectory(configured.state_dir).open()
        with directory.claim_identity(Role.WORKER) as identity:
            process = Process(configured, Role.WORKER, RealClock(), identity, environment)
            self.processes.append(process)
            made = await backend(process, configured.repositories[0], Confinement())
        assert isinstance(made, RoleRouter)
        return made


@pytest.fixture
async def built(shop: Shop) -> AsyncIterator[Builder]:
    builder = Builder(shop)
    yield builder
    for process in builder.processes:
        await process.telemetry.written()


async def test_the_configured_program_is_built_bounded_and_runs(shop: Shop, built: Builder) -> None:
    path = str(shop.program("pathlib.Path('ran').write_text(os.environ['ANTHROPIC_API_KEY']); result()"))
    environment = {"PATH": os.defpath, "ANTHROPIC_API_KEY": TOKEN, "GITHUB_TOKEN": "gh-c4n4ry"}
    coder = await built(environment, claude_cli=path)
    assert coder.name == "claude"
    tree = shop.root / "state" / "workspaces" / "tree"
    tree.mkdir(parents=True)
    assert (await coder.run(shop.request(tree=tree))).ending is Ending.COMPLETED
    given = (tree / "ran").read_text()
    assert given.startswith("run-")
    assert TOKEN not in given


@pytest.mark.parametrize(("tools", "searches"), [([], False), (["web_search"], True), (["web_fetch"], False)])
async def test_the_program_is_given_a_tool_of_the_vendor_only_if_it_is_configured(
    shop: Shop, built: Builder, tools: list[str], searches: bool
) -> None:
    path = str(shop.program("pathlib.Path('argv').write_text(json.dumps(sys.argv)); result()"))
    environment = {"PATH": os.defpath, "ANTHROPIC_API_KEY": TOKEN}
    coder = await built(environment, claude_cli=path, llm={"vendor_tools": tools})
    tree = shop.root / "state" / "workspaces" / "tree"
    tree.mkdir(parents=True)
    assert (await coder.run(shop.request(tree=tree))).ending is Ending.COMPLETED
    argv = json.loads((tree / "argv").read_text())
    assert ["WebSearch" in argv[argv.index(flag) + 1].split(",") for flag in ("--tools", "--allowedTools")] == [
        searches,
        searches,
    ]
    environment = {"PATH": os.defpath, "CLAUDE_CODE_OAUTH_TOKEN": "login-c4n4ry"}
    coder = await built(environment, claude_cli=path, llm={"vendor_tools": tools})
    assert (await coder.run(shop.request(tree=tree))).ending is Ending.COMPLETED
    assert "WebSearch" not in (tree / "argv").read_text(), "with a login nobody meters it"


@pytest.mark.fault(22)
async def test_a_start_without_program_or_key_is_refused(shop: Shop, built: Builder) -> None:
    path = str(shop.program("result()"))
    with pytest.raises(Unauthorized, match="ANTHROPIC_API_KEY"):
        await built({"PATH": os.defpath}, claude_cli=path)
    with pytest.raises(Misconfigured, match="install-cli claude"):
        await built({"PATH": str(shop.root), "ANTHROPIC_API_KEY": TOKEN}, claude_cli="/nowhere")
    shop.program("result()", version="1")
    with pytest.raises(Misconfigured, match="is not Claude Code"):
        await built({"PATH": os.defpath, "ANTHROPIC_API_KEY": TOKEN}, claude_cli=path)
