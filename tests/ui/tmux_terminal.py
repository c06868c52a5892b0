"""A real terminal for tests: a shell inside tmux, typed into by keys and read as a picture of its screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

PROMPT = "ready>"
LOOK_SECONDS = 0.05
PATIENCE_SECONDS = 45.0
"""Seconds to wait for anything; on a busy machine a program takes seconds to start."""

NAME = "person"

_ENDED = re.compile(rf"exit code \d+\n{PROMPT}\s*\Z", re.MULTILINE)
"""The end of the screen after the command has ended: nothing else will be shown."""

_SANE = re.compile(rf"^isig icanon echo\n{PROMPT}\s*\Z", re.MULTILINE)
"""The end of the screen after the line discipline was printed."""


@dataclass
class Terminal:
    """One window of a tmux server of its own, in which a shell runs."""

    socket: Path

    async def tmux(self, *words: str, text: str = "") -> str:
        """Run one command of tmux, and return its output."""
        argv = ("tmux", "-u", "-f", "/dev/null", "-S", str(self.socket), *words)
        done = await anyio.run_process(argv, input=text.encode())
        return done.stdout.decode()

    async def screen(self, *, colours: bool = False) -> str:
        """Return the screen as it is now; with `colours`, the sequences that paint it too."""
        return await self.tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", NAME)

    async def seen(self) -> str:
        """Return the screen with the lines that have scrolled out of it, wrapped lines joined."""
        return await self.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", NAME)

    async def until(self, holds: Callable[[str], bool], what: str) -> str:
        """Look until the screen shows it, and return the screen."""
        shown = ""
        with anyio.move_on_after(PATIENCE_SECONDS):
            while True:
                shown = await self.screen()
                if holds(shown):
                    return shown
                await anyio.sleep(LOOK_SECONDS)
        raise AssertionError(f"not shown: {what}\n--- the screen:\n{shown}")

    async def sees(self, text: str) -> str:
        """Wait until this text stands on the screen, or the command has ended without it."""
        shown = await self.until(lambda shown: text in shown or bool(_ENDED.search(shown)), repr(text))
        assert text in shown, f"not shown: {text}\n--- the screen:\n{shown}"
        return shown

    async def asks(self, question: str) -> str:
        """Wait until this question, wrapped or not, stands last on the screen."""

        def asked(shown: str) -> bool:
            return " ".join(shown.split()).removesuffix(" >").endswith(question)

        shown = await self.until(lambda shown: asked(shown) or bool(_ENDED.search(shown)), f"the question {question!r}")
        assert asked(shown), f"not asked: {question}\n--- the screen:\n{shown}"
        return shown

    async def types(self, text: str, *keys: str) -> None:
        """Type text, then press keys by their names in tmux, as `Enter` or `C-c`."""
        if text:
            await self.tmux("send-keys", "-t", NAME, "-l", text)
        if keys:
            await self.tmux("send-keys", "-t", NAME, *keys)

    async def pastes(self, text: str) -> None:
        """Paste text as a terminal does for a program that has asked for bracketed paste."""
        await self.tmux("load-buffer", "-", text=text)
        await self.tmux("paste-buffer", "-p", "-r", "-t", NAME)

    async def resizes(self, columns: int, rows: int) -> None:
        """Resize the window."""
        await self.tmux("resize-window", "-t", NAME, "-x", str(columns), "-y", str(rows))

    async def runs(self, *command: str) -> None:
        """Clear the screen and start a command; `ended` tells how it ended."""
        await self.types("clear", "Enter")
        await self.until(lambda shown: shown.strip() == PROMPT, "an empty screen")
        await self.tmux("clear-history", "-t", NAME)
        await self.types(f"{shlex.join(command)}; echo exit code $?", "Enter")

    async def ended(self) -> int:
        """Wait for the command's end; its exit code. The terminal is then as it was before."""
        shown = await self.until(lambda shown: bool(_ENDED.search(shown)), "its end")
        await self.is_sane()
        return int(shown.rpartition("exit code ")[2].split()[0])

    async def is_sane(self) -> None:
        """Assert a sane terminal: input is echoed line by line, the cursor is visible, the ordinary screen is back."""
        await self.types("stty -a | grep -o -w -e '-*echo' -e '-*icanon' -e '-*isig' | xargs", "Enter")
        await self.until(lambda shown: bool(_SANE.search(shown)), "a sane terminal")
        flags = await self.tmux("display-message", "-p", "-t", NAME, "#{cursor_flag} #{alternate_on}")
        assert flags.split() == ["1", "0"], "the cursor is hidden, or the program's screen is still there"


@asynccontextmanager
async def terminal(
    directory: Path, environment: Mapping[str, str], *, columns: int = 100, rows: int = 50
) -> AsyncIterator[Terminal]:
    """Open a terminal of this size, whose shell starts in `directory` and knows only `environment`."""
    one = Terminal(directory / "tmux")
    variables = [f"{name}={value}" for name, value in {**environment, "PS1": f"{PROMPT} "}.items()]
    shell = shlex.join(["env", "-i", "TERM=screen-256color", *variables, "bash", "--norc", "--noprofile", "-i"])
    size = ("-x", str(columns), "-y", str(rows))
    await one.tmux("new-session", "-d", "-s", NAME, *size, "-c", str(directory), shell)
    try:
        await one.sees(PROMPT)
        yield one
    finally:
        with anyio.CancelScope(shield=True):
            await one.tmux("kill-server")
