"""The real terminal: rich shows, prompt_toolkit asks, the person's own editor edits."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from tempfile import TemporaryDirectory

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from rich import console
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

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
        self._prompt.app.before_render += self._show_again
        self._shown: list[RenderableType] = []
        self._columns = 0

    def show(self, shown: RenderableType) -> None:
        """Print something as wide as the terminal is now; again when that changes before the next answer."""
        self._shown.append(shown)
        self._console.print(shown)

    def busy(self, sentence: str) -> AbstractContextManager[object]:
        """A spinner beside `sentence`."""
        return self._console.status(sentence)

    async def ask(self, question: str) -> str:
        """One line with editing and history; signals from outside stay with the process."""
        self._columns = self._console.width
        answer = await self._prompt.prompt_async(lambda: laid_out(question, self._console), handle_sigint=False)
        self._shown.clear()
        return answer

    def _show_again(self, app: Application[str]) -> None:
        """A window that was resized has broken every line that was wider: what is asked about is drawn anew."""
        if app.output.get_size().columns == self._columns:
            return
        self._columns = app.output.get_size().columns
        if self._shown:
            run_in_terminal(self._redraw)

    def _redraw(self) -> None:
        self._console.clear()
        for shown in self._shown:
            self._console.print(shown)

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


def laid_out(question: str, screen: console.Console) -> str:
    """A question as it fits between the margins; after a long one the answer has a line of its own."""
    lines = [line.plain.rstrip() for line in Text(question).wrap(screen, screen.width)]
    if cell_len(lines[-1]) > screen.width // 2:
        lines.append(">")
    return "\n".join(lines) + " "


@contextmanager
def _settings_kept() -> Iterator[None]:
    """An editor that is killed leaves the terminal without echo: afterwards it is as it was."""
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
