"""The kernel's view of processes while the engine runs: command lines and environments of all that it starts."""

from __future__ import annotations

from pathlib import Path

import anyio

INTERVAL_SECONDS = 0.02
"""Between two looks; what lives shorter is seen by chance."""


class Watch:
    """Collects them for the descendants of the agents; of an agent itself only its command line, as long as it runs."""

    def __init__(self) -> None:
        self.agents: set[int] = set()
        self.seen: dict[str, bytes] = {}
        """`cmdline of COMMAND` and `environ of COMMAND` -> what they were, one after another."""
        self._parents: dict[int, int] = {}
        self._looked: set[tuple[str, bytes]] = set()

    async def over(self) -> None:
        """Look until cancelled."""
        while True:
            self._look()
            await anyio.sleep(INTERVAL_SECONDS)

    def saw(self, word: bytes) -> bool:
        """Return whether a process has run with this word in its command line."""
        return any(word in data for what, data in self.seen.items() if what.startswith("cmdline"))

    def _look(self) -> None:
        there = {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
        known = self._parents
        self._parents = {one: known[one] if one in known else _parent(one) for one in there}
        for process in there:
            agent = self._agent_of(process)
            if agent is not None:
                self._note_process(process, _read(agent, "cmdline"))

    def _agent_of(self, process: int) -> int | None:
        while process and process not in self.agents:
            process = self._parents.get(process, 0)
        return process or None

    def _note_process(self, process: int, agent: bytes) -> None:
        line = _read(process, "cmdline")
        self._note("cmdline", line, line)
        if line not in {
            agent,
            b"",
        }:  # before it has become another program it is the agent still, and as closed to others
            self._note("environ", _read(process, "environ"), line)

    def _note(self, what: str, data: bytes, line: bytes) -> None:
        if data and (what, data) not in self._looked:
            self._looked.add((what, data))
            key = f"{what} of {Path(line.split(bytes(1))[0].decode(errors='replace')).name}"
            self.seen[key] = self.seen.get(key, b"") + data + b"\n"


def _parent(process: int) -> int:
    words = _read(process, "stat").rpartition(b") ")[2].split()
    return int(words[1]) if words else 0


def _read(process: int, what: str) -> bytes:
    try:
        return Path("/proc", str(process), what).read_bytes()
    except OSError:  # it has ended
        return b""
