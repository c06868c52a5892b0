"""The planner with a person in front of it: the conversation before anything is written, the planner after it.

The real terminal: rich shows, prompt_toolkit asks, the person's own editor edits.
"""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from rich import console
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from config.environment import editor, snapshot
from planner_agent.build import build, forge_of, policy_of
from planner_agent.drafting import Drafting
from planner_agent.observe import Listener
from planner_agent.policy import PreapprovedPlan
from planner_agent.ports import Forge
from planner_agent.story import create_story
from planner_agent.terminal.console import Cancelled, Console, EditorUnusable
from planner_agent.terminal.session import Session, SessionServices
from runtime.arguments import Arguments
from runtime.building.assembly import RepositoryAdapters
from runtime.exit_codes import LeftOff
from shared.process import run_attached
from shared.scheduling.agent_contract import Agent
from shared.specification import body_sha256

OK, CANCELLED = 0, 130
"""Exit codes of a conversation that led to nothing: the person said no, or left."""


@dataclass
class Terminal:
    """One conversation: `prepare` holds it, `build` makes the planner that carries out what was decided."""

    console: Console | None = None
    """The console of the person; None is this process's own terminal."""
    _preapproved_plan: PreapprovedPlan | None = None

    async def prepare(self, parts: RepositoryAdapters, arguments: Arguments) -> RepositoryAdapters:
        """Agree on a plan, then open its story, or take the one that there is, and work on it alone.

        Raises `LeftOff` when the person said no or left: then nothing was written.
        """
        forge = forge_of(parts)
        try:
            agreed = await Session(self.console or _screen(parts), _services(parts, forge)).run()
        except Cancelled as error:
            raise LeftOff(str(error), CANCELLED) from None
        except anyio.get_cancelled_exc_class():  # a signal, which has its own exit code
            sys.stderr.write(f"{Cancelled()}\n")
            raise
        if agreed is None:
            raise LeftOff("Nothing was created.", OK)
        story = agreed.story
        if not story.number:  # without its label: a planner that polls may not begin it before it is claimed here
            story = await create_story(forge.issues, f"{story.title}\n{story.body}")
        self._preapproved_plan = PreapprovedPlan(
            agreed.plan, body_sha256(story.title, story.body), parts.github.account.login
        )
        sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
        sys.stdout.flush()
        return replace(parts, only=story.number)

    def build(self, parts: RepositoryAdapters) -> Agent:
        """Build the planner of the story that was agreed on."""
        return build(parts, self._preapproved_plan)


def _services(parts: RepositoryAdapters, forge: Forge) -> SessionServices:
    policy = policy_of(parts)
    listener = Listener(forge, parts.claimant, policy)
    drafting = Drafting(forge.issues, listener, parts.git.mirror, parts.coder, policy)
    place = parts.process.settings.state_dir / "kept" / parts.configured.name.replace("/", "__") / "planner"

    def keep(raw: str) -> str:
        """Write each answer into a file of its own, named by GitHub's time; return the path."""
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = Path(place, f"{parts.github.server_time():%Y%m%dT%H%M%S}.txt")
        file.write_text(parts.process.outgoing.hide(raw), encoding="utf-8")
        return str(file)

    return SessionServices(forge.issues, listener, drafting, policy, keep, parts.github.server_time)


def _screen(parts: RepositoryAdapters) -> Screen:
    """Return this process's terminal; the person's editor gets their environment, without the engine's token."""
    environment = dict(snapshot())
    environment.pop(parts.process.settings.github.token_env, None)
    return Screen(editor(environment), environment)


class Screen:
    """Standard input and output of this process, which are a terminal."""

    def __init__(self, editor: Sequence[str], environment: Mapping[str, str]) -> None:
        """Use `editor`, the command of the person's editor, with `environment`."""
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
        """Show a spinner beside `sentence`."""
        return self._console.status(sentence)

    async def ask(self, question: str) -> str:
        """Return one line, typed with editing and history; signals from outside stay with the process."""
        self._columns = self._console.width
        answer = await self._prompt.prompt_async(lambda: laid_out(question, self._console), handle_sigint=False)
        self._shown.clear()
        return answer

    def _show_again(self, app: Application[str]) -> None:
        """Draw what is asked about anew if the window was resized, which breaks every line that was wider."""
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
                await self._run_editor((*self._editor, str(file)))
            try:
                return await file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise EditorUnusable(f"What '{self._editor[0]}' left cannot be read as text: {error}.") from None

    async def _run_editor(self, argv: tuple[str, ...]) -> None:
        try:
            code = await run_attached(argv, env=self._environment)
        except OSError as error:
            raise EditorUnusable(
                f"The editor '{argv[0]}' does not start ({error.strerror}): set $VISUAL or $EDITOR to another one."
            ) from None
        if code != 0:
            raise EditorUnusable(f"The editor '{argv[0]}' ended with code {code}; nothing was taken over.")


def laid_out(question: str, screen: console.Console) -> str:
    """Return a question that fits between the margins; after a long one the answer has a line of its own."""
    lines = [line.plain.rstrip() for line in Text(question).wrap(screen, screen.width)]
    if cell_len(lines[-1]) > screen.width // 2:
        lines.append(">")
    return "\n".join(lines) + " "


@contextmanager
def _settings_kept() -> Iterator[None]:
    """Restore the terminal's settings afterwards: an editor that is killed leaves it without echo."""
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
