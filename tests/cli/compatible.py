"""Backends that speak chat completions, as the engine runs them: behind the model proxy; the calls of their tools."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.coding import Desk
from shared.llm import coder
from shared.llm.backend import Program, Setup
from shared.llm.port import Coder
from shared.llm.prices import Price, Prices
from shared.llm.proxy.api_protocols import ApiProtocol, Upstream
from shared.llm.proxy.server import ModelProxy
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Isolation

KEY = "sk-c4n4ry-the-real-key-0123456789"
MODEL = "lab-model"
PRICE = Price(input=10, output=30, cached=1, written=10)

VERSIONS = [("qwen", "0.24.4"), ("mini", "2.4.6")]
"""The backends and the versions that are tried."""

Call = dict[str, Any]


@dataclass(frozen=True)
class Tools:
    """Calls of one program's tools; `guarded` ones enforce the protected files, a shell is only told of them."""

    write: Callable[[str, str], Call]
    shell: Callable[[str], Call]
    read: Callable[[str], Call]
    answer: Callable[[dict[str, Any]], Call]
    guarded: bool = True


def _tool(name: str, **given: Any) -> Call:
    return {"tools": [{"name": name, "input": given}]}


def _written(path: str, text: str) -> Call:
    """Return the call of a program with only a shell that writes a file."""
    return _tool("bash", command=f"cat > {shlex.quote(path)} <<'EOF'\n{text}EOF\n")


TOOLS: Mapping[str, Tools] = {
    "qwen": Tools(
        write=lambda path, text: _tool("edit", file_path=f"{{cwd}}/{path}", old_string="", new_string=text),
        shell=lambda command: _tool("run_shell_command", command=command, is_background=False),
        read=lambda path: _tool("read_file", file_path=f"{{cwd}}/{path}"),
        answer=lambda answer: _tool("structured_output", **answer),
    ),
    "mini": Tools(
        write=_written,
        shell=lambda command: _tool("bash", command=command),
        read=lambda path: _tool("read_file", path=path),
        answer=lambda answer: _tool("structured_output", **answer),
        guarded=False,
    ),
}


@dataclass
class ProxiedDesk(Desk):
    """A desk whose calls go through a proxy, which alone has the key."""

    price: Price = field(default=PRICE)

    @property
    def tools(self) -> Tools:
        """The tools of its program."""
        return TOOLS[self.backend]

    def coder(self) -> Coder:
        """Return the backend as the engine builds it."""
        clock = RealClock()
        sockets = self.root / "sockets" if self.wrap.kind is Isolation.SANDBOX else None
        upstream = Upstream(ApiProtocol.COMPATIBLE, self.server.url, KEY)
        proxy = ModelProxy([upstream], Prices({MODEL: self.price}), clock, sockets)
        program = Program(self.executable.resolve(), self.launcher(), proxy, model=MODEL)
        return coder(self.backend, Setup(clock, program=program))
