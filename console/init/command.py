"""`workflow-engine init`: labels, a key and a configuration, made where they are missing and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from config.environment import config_place
from config.loading import checked, load, source, understood
from config.settings import Settings
from console.init.files import Blanks, NewFile, addition, configuration_file, key_file
from console.option_values import API_URL, usable
from runtime.building.sign_in import visiting, with_gh_token
from runtime.exit_codes import FAILED, OK, complain
from runtime.output import say, show
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured
from shared.github.errors import NotFound
from shared.github.label_board import LabelBoard
from shared.github.people import invisible
from shared.lock.write_permit import OperatorPermit
from shared.loop.real_clock import RealClock

ORDER = OperatorPermit("init")

Ask = Callable[[str], bool]
"""Puts a question to the person; whether the answer is yes."""


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Options of `init` from the command line.

    `api_url` goes into a new configuration; `update` repaints labels; `dry_run` only says what would be done.
    """

    repository: str | None = None
    config: Path | None = None
    api_url: str | None = None
    yes: bool = False
    update: bool = False
    dry_run: bool = False


@dataclass
class Todo:
    """Missing files on this machine and missing labels on GitHub; `hints` are steps that only the person can do."""

    files: list[NewFile] = field(default_factory=list)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outdated_looks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.files or any(self.missing.values()) or any(self.outdated_looks.values()))

    def lines(self) -> list[str]:
        """Return what would be done, one line for each step."""
        said = [f"write {file.path}" for file in self.files]
        said += [f"create {len(names)} labels in {where}: {', '.join(names)}" for where, names in _full(self.missing)]
        said += [
            f"repaint {len(names)} labels in {where}: {', '.join(names)}" for where, names in _full(self.outdated_looks)
        ]
        return said


def initialise(
    options: InitOptions, ask: Ask | None, environment: Mapping[str, str], clock: Clock | None = None
) -> int:
    """Make what is missing and print what was done; an exit code. `ask` is None where nobody can be asked."""
    try:
        usable({"--api-url": (API_URL, options.api_url)})
        settings, todo = _local(options, environment)
        known = with_gh_token(settings, environment)
        return anyio.run(_initialise, options, settings, known, clock or RealClock(), todo, ask)
    except EngineError as error:
        return complain(error)


def _local(options: InitOptions, environment: Mapping[str, str]) -> tuple[Settings, Todo]:
    """Return the configuration that is or would be in force, and the files that are missing."""
    found, todo = source(options.config, environment=environment), Todo()
    if found is not None and found.exists():
        settings = load(found, repository=options.repository, environment=environment)
        todo.files += [key_file(path) for path in settings.lock.key_files[:1] if not path.exists()]
        if not settings.lock.key_files:
            key = default_key(environment)
            todo.files += [] if key.exists() else [key_file(key)]
            text = found.read_text(encoding="utf-8")
            todo.hints.append(f"{found} was kept. {addition(text, 'lock', 'key_files', [key])}")
        return settings, todo
    if options.repository is None:
        raise Misconfigured("There is no configuration yet: say for which repository, workflow-engine init owner/repo.")
    checked(options.repository)
    key = default_key(environment)
    todo.files += [] if key.exists() else [key_file(key)]
    new = configuration_file(found or _default_config(), Blanks(options.repository, key, options.api_url))
    todo.files.append(new)
    return as_written(new, environment), todo


def as_written(new: NewFile, environment: Mapping[str, str]) -> Settings:
    """Return the settings of a configuration that is not written yet; it is read like every other one."""
    return understood(new.content().encode(), new.path, environment=environment)


def default_key(environment: Mapping[str, str]) -> Path:
    """Return the key's path: outside the state directory, which may be deleted, and of any public repository."""
    return config_place(environment) / "lock.key"


def _default_config() -> Path:
    return Path("config/repos.yml" if Path("config").is_dir() else "repos.yml").absolute()


async def _initialise(
    options: InitOptions, settings: Settings, environment: Mapping[str, str], clock: Clock, todo: Todo, ask: Ask | None
) -> int:
    async with visiting(settings, environment, clock) as (_, known):
        labels = {one.name: one.labels.names() for one in settings.repositories}
        boards = {name: LabelBoard(known[name].github, name, names) for name, names in labels.items()}
        for name, board in boards.items():
            try:
                todo.missing[name] = await board.missing()
            except NotFound as error:
                raise invisible(name) from error
            todo.outdated_looks[name] = await board.outdated_looks() if options.update else ()
        if options.dry_run:
            _show(todo)
            return OK
        if todo and not options.yes and not _agree(todo, ask):
            show("Nothing was changed.")
            return FAILED
        for line in [*await _carry_out(todo, boards), *todo.hints]:
            show(line)
    if not todo:
        show("Everything was there already: nothing was changed.")
    return OK


async def _carry_out(todo: Todo, boards: Mapping[str, LabelBoard]) -> list[str]:
    """Write the files first: without them labels are of no use. Return what was done, one line for each step."""
    done: list[str] = []
    for file in todo.files:
        written = await anyio.to_thread.run_sync(file.write)
        done.append(f"Wrote {file.path}. {file.copying}" if written else f"{file.path} is there by now and was kept.")
    for name, board in boards.items():
        if few := len(todo.missing[name]) + len(todo.outdated_looks[name]):
            show(f"Making {few} labels in {name}, about one a second ...")
        await board.create(todo.missing[name], ORDER)
        await board.repaint(todo.outdated_looks[name], ORDER)
        done += [f"Created {len(names)} labels in {name}." for names in (todo.missing[name],) if names]
        done += [f"Repainted {len(names)} labels in {name}." for names in (todo.outdated_looks[name],) if names]
    return done


def _agree(todo: Todo, ask: Ask | None) -> bool:
    """Ask the person; raises `Misconfigured` where nobody can be asked."""
    plan = "".join(f"  {line}\n" for line in todo.lines())
    if ask is None:
        raise Misconfigured(f"This would be done:\n{plan}Nobody can be asked here: give --yes, or --dry-run to look.")
    show(f"This will be done:\n{plan.rstrip()}")
    return ask("Go on?")


def _show(todo: Todo) -> None:
    """Print what would be done, with the whole content of new files."""
    for file in todo.files:
        say(file.diff().removesuffix("\n"))
    for line in [*(f"would {line}" for line in todo.lines()), *todo.hints]:
        show(line)
    show("Nothing was changed." if todo else "Everything is there already: nothing would be changed.")


def _full(labels: Mapping[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    return [(where, names) for where, names in labels.items() if names]
