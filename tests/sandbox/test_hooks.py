"""Hooks: in the coder's tree, with network but no secret; which failures end the work, and what is left behind."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from shared.errors import Misconfigured
from shared.sandbox.confinement import Confinement, Isolation, Wrap
from worker_agent.tdd.setup.hooks import HOOKS, Hook, HookFailed, Hooks

SAYS = f"{shlex.quote(sys.executable)} -I hook.py"
SCRIPT = """
import os, pathlib, sys
name = os.environ["WORKFLOW_ENGINE_HOOK"]
data = pathlib.Path(os.environ["WORKFLOW_ENGINE_HOOK_DATA"])
with (data / "told").open("a") as told:
    print(name, os.environ["WORKFLOW_ENGINE_REPOSITORY"], os.environ["WORKFLOW_ENGINE_ISSUE"], file=told)
pathlib.Path(f"made-by-{name}").write_text("x")
print("the hook was here", "SECRET" in os.environ)
sys.exit(int(pathlib.Path("code").read_text()))
"""


class Yard:
    """A workspace with its tree, and hooks around it."""

    def __init__(self, root: Path, confinement: Confinement) -> None:
        self.root, self.tree, self.confinement = root / "issue-7", root / "issue-7" / "tree", confinement
        self.tree.mkdir(parents=True)
        (self.tree / "hook.py").write_text(SCRIPT)
        self.ends(0)

    def ends(self, code: int) -> None:
        (self.tree / "code").write_text(str(code))

    def hooks(self, *which: Hook, seconds: float = 60, command: str = SAYS) -> Hooks:
        commands = dict.fromkeys(which, command)
        return Hooks("ada/greetings", commands, seconds, {"PATH": "/usr/bin:/bin"}, self.confinement)

    @property
    def told(self) -> list[str]:
        path = self.root / HOOKS / "data" / "told"
        return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(params=[Isolation.SANDBOX, Isolation.TREE_BY_GROUP])
def yard(request: pytest.FixtureRequest, tmp_path: Path) -> Yard:
    return Yard(tmp_path, Confinement(Wrap(request.param)))


async def test_each_runs_in_its_turn_and_the_first_one_once(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    hooks = yard.hooks(*Hook)
    with capture_logs() as events:
        for _ in range(2):
            await hooks.before(yard.root, yard.tree, 7)
            await hooks.after(yard.root, yard.tree, 7)
        await hooks.leave(yard.root)
    run = ["before_run", "after_run"]
    assert yard.told == ["after_create", *run, *run, "before_remove"]
    assert (yard.root / HOOKS / "data" / "told").read_text().splitlines()[0] == "after_create ada/greetings 7"
    assert (yard.tree / "made-by-before_run").exists()
    ends = [event for event in events if event["event"] == "hook_ended"]
    assert [event["outcome"] for event in ends] == ["completed"] * 6
    assert {event["output"] for event in ends} == {"the hook was here False"}


@pytest.mark.parametrize("hook", [Hook.AFTER_CREATE, Hook.BEFORE_RUN])
async def test_a_failure_before_a_run_gives_the_item_to_a_person(yard: Yard, hook: Hook) -> None:
    yard.ends(3)
    with pytest.raises(HookFailed, match=rf"`{hook}` failed \(exit code 3\)[^$]*the hook was here") as failed:
        await yard.hooks(hook).before(yard.root, yard.tree, 7)
    assert f"`hooks.{hook}`" in failed.value.advice
    yard.ends(0)
    await yard.hooks(hook).before(yard.root, yard.tree, 7)
    assert yard.told == [hook, hook], "what failed is run again"


async def test_a_failure_after_a_run_or_before_a_removal_is_only_logged(yard: Yard) -> None:
    hooks = yard.hooks(Hook.AFTER_RUN, Hook.BEFORE_REMOVE)
    await hooks.before(yard.root, yard.tree, 7)
    yard.ends(1)
    with capture_logs() as events:
        await hooks.after(yard.root, yard.tree, 7)
        await hooks.leave(yard.root)
    assert [event["outcome"] for event in events if event["event"] == "hook_ended"] == ["failed", "failed"]


async def test_one_that_does_not_end_is_ended(yard: Yard) -> None:
    command = shlex.join((sys.executable, "-c", "import time; time.sleep(600)"))
    with pytest.raises(HookFailed, match="did not end within 1 seconds"):
        await yard.hooks(Hook.BEFORE_RUN, seconds=1, command=command).before(yard.root, yard.tree, 7)


async def test_one_that_is_no_program_or_needs_a_shell_is_told(yard: Yard) -> None:
    with pytest.raises(Misconfigured, match=r"hooks\.before_run 'a && b' uses '&&'"):
        await yard.hooks(Hook.BEFORE_RUN, command="a && b").before(yard.root, yard.tree, 7)
    with pytest.raises(HookFailed, match="`before_run` failed"):
        await yard.hooks(Hook.BEFORE_RUN, command="/no/such/program").before(yard.root, yard.tree, 7)


async def test_a_workspace_is_left_as_it_was_configured_when_it_was_made(yard: Yard) -> None:
    await yard.hooks(Hook.BEFORE_REMOVE).before(yard.root, yard.tree, 7)
    other = Hooks("bea/other", {}, 300.0, {"PATH": "/usr/bin:/bin"}, yard.confinement)
    await other.leave(yard.root)
    assert (yard.root / HOOKS / "data" / "told").read_text() == "before_remove ada/greetings 7\n"
    await other.leave(yard.root.with_name("issue-8"))


async def test_a_damaged_note_keeps_no_workspace(yard: Yard) -> None:
    await yard.hooks(Hook.BEFORE_REMOVE).before(yard.root, yard.tree, 7)
    for damaged in ("", "[]", '{"command": "x"}'):
        (yard.root / HOOKS / "before_remove.json").write_text(damaged)
        await yard.hooks().leave(yard.root)
    assert yard.told == []


async def test_without_hooks_nothing_is_made(yard: Yard) -> None:
    hooks = yard.hooks()
    await hooks.before(yard.root, yard.tree, 7)
    await hooks.after(yard.root, yard.tree, 7)
    await hooks.leave(yard.root)
    assert not (yard.root / HOOKS).exists()
