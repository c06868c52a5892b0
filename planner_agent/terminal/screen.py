"""The real terminal: rich shows, prompt_toolkit asks, the person's own editor edits."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from tempfile import TemporaryDirectory

import anyio
from prompt_toolkit import PromptSession
from rich import console
from rich.console import RenderableType

from planner_agent.terminal.console import Cancelled, EditorUnusable
from shared.process import attended


class Screen:
    """Standard input and output of this process, which are a terminal."""

    def __init__(self, editor: Sequence[str], environment: Mapping[str, str]) -> None:
        """`editor` is the command of the person's editor, `environment` what it is given."""
        self._editor = tuple(editor)
        self._environment = environment
        self._console = console.Console()
        self._prompt: PromptSession[str] = PromptSession(interrupt_exception=Cancelled, eof_exception=Cancelled)

    def show(self, shown: RenderableType) -> None:
        """Print something as wide as the terminal is now."""
        self._console.print(shown)

    def busy(self, sentence: str) -> AbstractContextManager[object]:
        """A spinner beside `sentence`."""
        return self._console.status(sentence)

    async def ask(self, question: str) -> str:
        """One line with editing and history; signals from outside stay with the process."""
        return await self._prompt.prompt_async(f"{question} ", handle_sigint=False)

    async def edit(self, text: str, suffix: str) -> str:
        """Run the editor on a file that only this user can read; the file is gone afterwards."""
        with TemporaryDirectory(prefix="planner-") as place:
            file = anyio.Path(place, f"plan{suffix}")
            await file.write_text(text, encoding="utf-8")
            with _settings_kept():
                await self._run((*self._editor, str(file)))
            try:
                return await file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise EditorUnusable(f"What '{self._editor[0]}' left cannot be read as text: {error}.") from None

    async def _run(self, argv: tuple[str, ...]) -> None:
        try:
            code = await attended(argv, env=self._environment)
        except OSError as error:
            raise EditorUnusable(
                f"The editor '{argv[0]}' does not start ({error.strerror}): set $VISUAL or $EDITOR to another one."
            ) from None
        if code != 0:
            raise EditorUnusable(f"The editor '{argv[0]}' ended with code {code}; nothing was taken over.")


@contextmanager
def _settings_kept() -> Iterator[None]:
    """An editor that is killed leaves the terminal without echo: afterwards it is as it was."""
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
