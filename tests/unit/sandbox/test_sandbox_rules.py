"""Limits, the sealed wrapper's arguments and what a machine is told that cannot run it: plain values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from config.environment import for_set_up
from config.settings import Settings
from runtime.building import confinement
from shared.errors import Misconfigured
from shared.process import Finished
from shared.sandbox import self_test
from shared.sandbox.bubblewrap_sandbox import FileSystemView, Outlet
from shared.sandbox.confinement import Confinement, Isolation, Wrap
from shared.sandbox.limits import GIB, ProcessLimits, Usage, passed
from worker_agent.tdd.judging.judge import judge_red
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.test_run import TestRun

LIMITS = ProcessLimits(memory_bytes=GIB, processes=10, disk_bytes=GIB // 2, files=100, cpu_seconds=60)


@pytest.mark.parametrize(
    ("usage", "sentence"),
    [
        (Usage(GIB, 10, GIB // 2, 100, 60.0), None),
        (Usage(memory_bytes=GIB + 1), "memory (more than 1.0 GiB)"),
        (Usage(processes=11), "processes (more than 10)"),
        (Usage(disk_bytes=GIB), "disk (more than 512.0 MiB)"),
        (Usage(files=101), "files (more than 100)"),
        (Usage(cpu_seconds=61), "CPU time (more than 60 seconds)"),
    ],
)
def test_a_limit_is_passed_by_one_more(usage: Usage, sentence: str | None) -> None:
    assert passed(usage, LIMITS) == sentence


def test_a_red_run_that_passed_a_limit_is_no_failure_to_compile() -> None:
    run = TestRun(finished=False, limit="files (more than 100)")
    verdict = judge_red(TestRun(), run, files=())
    assert verdict.error is ErrorType.TEST_UNEXPECTED_FAIL
    assert "tests failed: limit files (more than 100)" in verdict.details[0]


def pairs(argv: tuple[str, ...], option: str) -> list[str]:
    """Return the arguments that follow each `option`."""
    return [argv[at + 1] for at, word in enumerate(argv) if word == option]


def test_sealed_shows_what_is_named_and_closes_the_network(tmp_path: Path) -> None:
    tree, tools, state = tmp_path / "tree", tmp_path / "tools", tmp_path / "tools" / "state"
    key, env = tmp_path / "tools" / "key", state / "env"
    for place in (tree, tools, state, env):
        place.mkdir()
    key.touch()
    argv = Wrap(Isolation.SANDBOX).argv(
        ("pytest",), FileSystemView((tree,), (tools, env, tmp_path / "absent"), (state, key), False)
    )
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop"} <= set(argv)
    assert "--share-net" not in argv
    assert pairs(argv, "--bind") == [str(tree)]
    assert {str(tools), str(env), sys.prefix} <= set(pairs(argv, "--ro-bind"))
    assert str(tmp_path / "absent") not in argv
    assert pairs(argv, "--tmpfs")[-1] == str(state)
    assert argv[argv.index(str(key)) - 1] == "/dev/null"
    last_of_env = len(argv) - 1 - argv[::-1].index(str(env))
    assert argv.index(str(tools)) < argv.index(str(state)) < last_of_env, "hidden in it, and shown again in that"
    assert not set(argv) & {"/", "/home", "/root", "/run", "/var", "/etc", "/etc/shadow"} - {"/"}
    assert argv[-1] == "pytest"


def test_the_network_is_shared_only_where_it_is_asked_for() -> None:
    bare = Confinement().argv(("x",), ())
    assert bare in {("x",), (bare[0], "--pdeathsig", "KILL", "--", "x")}, "mode none adds nothing but an end with us"
    with_network = Confinement(Wrap(Isolation.SANDBOX)).argv(("x",), (), network=True)
    assert "--share-net" in with_network
    assert "--share-net" not in Confinement(Wrap(Isolation.SANDBOX)).argv(("x",), ())
    outlet = Wrap(Isolation.SANDBOX).argv(
        ("x",), FileSystemView((), network=False, outlet=Outlet(4711, Path("/long/p.sock")))
    )
    assert outlet[-4:] == ("4711", "/run/model.sock", "--", "x")
    place = outlet.index("/long/p.sock")
    assert outlet[place - 1 : place + 2] == ("--ro-bind", "/long/p.sock", "/run/model.sock")


def test_another_account_has_to_be_named() -> None:
    with pytest.raises(ValueError, match="account"):
        Wrap(Isolation.OS_USER).argv(("x",), FileSystemView(()))
    argv = Wrap(Isolation.OS_USER, os_user=(10002, 10003)).argv(("x",), FileSystemView(()))
    assert argv[-5:] == ("10002", "10003", "1024", "--", "x")


@pytest.mark.parametrize(
    ("said", "setting"),
    [
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "procMount"),
        ("bwrap: loopback: Failed to create NETLINK_ROUTE socket", "RestrictAddressFamilies"),
        ("bwrap: Unknown option --size", "0.8 or newer"),
        ("bwrap: No permissions to create new namespace", "RestrictNamespaces"),
        ("", "user.max_user_namespaces"),
    ],
)
def test_what_keeps_bubblewrap_from_starting_is_told_with_the_setting(said: str, setting: str) -> None:
    found = self_test.diagnosis(Finished(("bwrap",), 1, b"", said.encode()))
    assert found is not None
    assert setting in found[1]
    assert self_test.diagnosis(Finished(("bwrap",), 0, b"", b"")) is None


async def test_a_machine_without_bubblewrap_is_refused_and_never_run_open(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path)}
    with pytest.raises(Misconfigured, match="apt install bubblewrap"):
        await self_test.wrapper("bubblewrap", nothing, tmp_path)
    assert await self_test.wrapper("none", nothing, tmp_path) == Wrap(Isolation.TREE_BY_GROUP)


async def test_the_configured_limits_and_places_are_those_of_the_sandbox(tmp_path: Path) -> None:
    asked = {"repositories": [{"name": "a/b"}], "sandbox": "none", "state_dir": str(tmp_path), "work_dir": "/w"}
    more = {"sandbox_limits": {"memory_gib": 2.0, "cpu_minutes": 1.0}, "sandbox_readable": ["/opt/node"]}
    settings = Settings.model_validate(asked | more, strict=False)
    made = await confinement.confinement(settings, {"PATH": "/usr/bin"})
    assert (made.limits.memory_bytes, made.limits.cpu_seconds) == (2 * GIB, 60)
    assert (made.readable, made.hidden) == ((Path("/opt/node"),), (tmp_path,))
    assert confinement.environments(settings) == tmp_path / "env"
    in_image = settings.model_copy(update={"sandbox": "container"})
    assert confinement.environments(in_image) == Path("/w/env")
    assert confinement.calls(in_image) == Path("/w/calls")


def test_set_up_gets_no_secret_and_no_address_with_a_password() -> None:
    known = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "t",
        "UV_INDEX_URL": "https://user:secret@packages.example/simple",
        "PIP_INDEX_URL": "https://packages.example/simple",
        "https_proxy": "http://proxy.example:3128",
        "PIP_CERT": "/etc/company.pem",
        "HTTP_PROXY": "http://user:secret@proxy.example:3128",
    }
    given = for_set_up(known)
    assert sorted(given) == ["PATH", "PIP_CERT", "PIP_INDEX_URL", "https_proxy"]
