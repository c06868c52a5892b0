"""The wrapper's arguments, and which program is taken: both follow from plain values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shared.errors import Misconfigured
from shared.llm import cli_backends
from shared.llm.cli.programs import home, installed, program
from shared.sandbox.bubblewrap_sandbox import FileSystemView
from shared.sandbox.confinement import Isolation, Wrap, probe


def pairs(argv: tuple[str, ...], option: str) -> list[str]:
    """Return the arguments that follow each `option`."""
    return [argv[at + 1] for at, word in enumerate(argv) if word == option]


def test_bubblewrap_shows_everything_read_only_but_what_is_named(tmp_path: Path) -> None:
    state, tree, secret = tmp_path / "state", tmp_path / "state" / "tree", tmp_path / "token"
    tools = state / "cli"
    for place in (tree, tools):
        place.mkdir(parents=True)
    secret.write_text("x")
    view = FileSystemView(
        writable=(tree,), readable=(tools, state / "absent", Path("/usr")), hidden=(state, secret, tmp_path / "nothing")
    )
    argv = Wrap(Isolation.TREE_BY_BUBBLEWRAP).argv(("claude", "-p"), view)
    assert argv[0] == "bwrap"
    assert argv[-3:] == ("--", "claude", "-p")
    assert {"--die-with-parent", "--unshare-pid"} <= set(argv)
    assert pairs(argv, "--bind") == [str(tree)]
    assert str(state) in pairs(argv, "--tmpfs")
    assert "/tmp" in pairs(argv, "--tmpfs")
    assert str(tools) in pairs(argv, "--ro-bind")
    assert "/usr" not in pairs(argv, "--ro-bind")
    assert argv.index(str(state)) < argv.index(str(tools)) < argv.index(str(tree))
    assert not [word for word in argv if word.endswith(("nothing", "absent"))]


def test_a_secret_file_outside_every_hidden_directory_is_covered() -> None:
    secret = Path("/etc/passwd")
    argv = Wrap(Isolation.TREE_BY_BUBBLEWRAP).argv(("true",), FileSystemView((), hidden=(secret,)))
    at = argv.index(str(secret))
    assert argv[at - 2 : at] == ("--ro-bind", "/dev/null")


def test_a_namespace_without_bubblewrap_ends_with_the_daemon_as_well() -> None:
    argv = Wrap(Isolation.TREE_BY_UNSHARE, own_user=True).argv(("claude",), FileSystemView(()))
    assert argv[0].endswith("setpriv")
    assert argv[1:3] == ("--pdeathsig", "KILL")
    assert {"--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--map-current-user"} <= set(argv)
    assert argv[-1] == "claude"
    assert Wrap(Isolation.TREE_BY_GROUP).argv(("claude",), FileSystemView(()))[-1:] == ("claude",)


async def test_what_does_not_work_here_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no namespaces' >&2\nexit 1\n")
    broken.chmod(0o755)
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}"}
    ways = (Wrap(Isolation.TREE_BY_BUBBLEWRAP), Wrap(Isolation.TREE_BY_GROUP))
    assert await probe(path, ways=ways) == Wrap(Isolation.TREE_BY_GROUP)
    assert await probe({"PATH": str(tmp_path / "empty")}, ways=ways[:1]) == Wrap(Isolation.TREE_BY_GROUP)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return a state directory with three versions of Claude Code, one of them half installed."""
    for version in ("0.2.9", "0.2.111"):
        place = home(tmp_path, "claude") / version
        place.mkdir(parents=True)
        (place / cli_backends()["claude"].package.program).touch(mode=0o755)
    (home(tmp_path, "claude") / "0.3.0").mkdir()
    return tmp_path


def test_the_newest_installed_version_goes_before_the_search_path(state: Path) -> None:
    newest = home(state, "claude") / "0.2.111" / "claude"
    assert installed(state, "claude") == newest
    assert program("claude", "claude", state, os.defpath) == newest.resolve()


def test_what_the_configuration_names_goes_first(state: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.touch(mode=0o755)
    link = tmp_path / "link"
    link.symlink_to(own)
    assert program("claude", str(link), state, os.defpath) == own.resolve()
    assert program("claude", "link", state, str(tmp_path)) == own.resolve()


@pytest.mark.fault(22)
@pytest.mark.parametrize("configured", ["claude", "/nowhere/claude"])
def test_a_program_that_is_not_there_is_said_with_the_command_that_gets_it(tmp_path: Path, configured: str) -> None:
    with pytest.raises(Misconfigured, match=r"claude_cli.*install-cli claude"):
        program("claude", configured, tmp_path, str(tmp_path))
