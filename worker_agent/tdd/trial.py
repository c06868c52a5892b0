"""One run of the tests of exactly one tree: a fresh checkout, what is laid over it, the bench, the control."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from shared.git import objects
from shared.git.workspace import Place, Workspace
from worker_agent.tdd.judging.control import Control, watched
from worker_agent.tdd.runners.registry import Choice
from worker_agent.tdd.runners.report import TestRun
from worker_agent.tdd.runners.run import TestBench


@dataclass(frozen=True, slots=True)
class Extra:
    """What is laid over a checkout for one run: files, and a control test beside the test file `near`."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    near: str = ""

    @property
    def digest(self) -> str:
        """Names it; the same for the same."""
        return hashlib.sha256(repr((self.near, sorted(self.files.items()))).encode()).hexdigest()


NOTHING_EXTRA = Extra()


@dataclass(frozen=True, slots=True)
class Trial:
    """How the tests of one item are run; `announced` are module names that will be the repository's own."""

    bench: TestBench
    choice: Choice
    space: Workspace
    announced: Collection[str] = ()

    async def run(self, tree: str, into: Place = "evidence", extra: Extra = NOTHING_EXTRA) -> TestRun:
        """The tests of this commit or tree and `extra`. Raises what `TestBench.run` raises."""
        where = await self.space.checkout(tree, into)
        runner = self.choice.runner
        control = await self._control(tree, extra.near) if extra.near else None
        laid = dict(extra.files) | ({control.path: control.text.encode()} if control else {})
        await to_thread.run_sync(_lay, where, laid)
        scratch = self.space.root / "scratch"
        scratch.mkdir(exist_ok=True)
        run = await self.bench.run(runner, self.choice.test_command, where, scratch, self.announced)
        return watched(run, control)

    async def _control(self, tree: str, near: str) -> Control | None:
        (text,) = await objects.read(self.space.git, [f"{tree}:{near}"])
        word = f"t{secrets.token_hex(6)}"
        return self.choice.runner.control(near, (text or b"").decode("utf-8", "replace"), word)


def _lay(where: Path, files: Mapping[str, bytes]) -> None:
    """Write files of the engine's own into a checkout; a link in it leads nowhere."""
    root = where.resolve()
    for name, content in files.items():
        path = root / name
        if path.parent.resolve().is_relative_to(root) and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
