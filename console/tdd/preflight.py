"""Conditions that must hold before a task begins: all errors are reported at once, and nothing is written.

The remote `origin` as a repository on GitHub: its URL in every usual form, and which API serves it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import anyio.to_thread

from config.environment import child_environment
from config.loading import source
from config.repository import repository_name
from config.rules import unsupported
from config.settings import Settings
from console.tdd import run_settings
from console.tdd.checkout import RECORDS, Checkout
from console.tdd.inputs import Findings, changed, specification, start, still_ours, target
from console.tdd.lab_host import TaskDiskFull, check_disk_space
from console.tdd.task import MAX_REVIEWS, STOPPED, Task, TaskRequest, TddOptions, new_id
from console.tdd.upstream import upstream
from runtime.building.confinement import confinement
from runtime.building.sign_in import git_server, with_gh_token
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from worker_agent.tdd.runners import command_line, pytest_runner

_OF_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
"""Files of a project whose tests are run by pytest, unless another command is configured."""

NOWHERE = "local/project"
"""The name of a repository that is not there."""


@dataclass(frozen=True, slots=True)
class Ready:
    """All that a task begins with; `pull_settings` are those for origin, None without a pull request."""

    task_id: str
    order: TaskRequest
    settings: Settings
    pull_settings: Settings | None
    environment: Mapping[str, str]
    warnings: tuple[str, ...] = ()


async def ready(options: TddOptions, checkout: Checkout, environment: Mapping[str, str]) -> Ready:
    """Everything that a new task begins with; raises `Unready` with all that is wrong."""
    found = Findings()
    title, text = specification(options.specification, found, options.kind or "")
    task_id = new_id(title)
    base, commit = await start(checkout, options.base, found, options.specification)
    origin = None if options.local else await _origin(checkout, found)
    name = origin.name if origin is not None else run_settings.local_name(checkout.top)
    order = replace(
        _order(options, title, text, source(options.config, environment=environment)),
        name=name,
        base=base,
        commit=commit,
        branch=options.branch or f"tdd/{task_id}",
        pull_request=origin is not None,
    )
    await target(checkout, order.branch, commit, found)
    return await _complete(task_id, order, origin, checkout, environment, found)


async def without_checkout(options: TddOptions, why: str, environment: Mapping[str, str]) -> NoReturn:
    """Raise `Unready` with the reason why there is no work tree, and with all other errors."""
    found = Findings()
    found.wrong(why)
    title, text = specification(options.specification, found, options.kind or "")
    order = _order(options, title, text, source(options.config, environment=environment))
    await _settings(replace(order, name=NOWHERE), None, environment, found)
    found.check()
    raise AssertionError("what is wrong was raised")


async def again(task: Task, options: TddOptions, checkout: Checkout, environment: Mapping[str, str]) -> Ready:
    """Return all that an interrupted task goes on with; raises `Unready` with all errors."""
    found = Findings()
    order = changed(options.changing(task.order), options.specification, found)
    if task.state in STOPPED:
        await still_ours(checkout, order.branch, task.head or order.commit, found)
    origin = await _origin(checkout, found) if order.pull_request else None
    return await _complete(task.id, order, origin, checkout, environment, found)


async def _complete(
    task_id: str,
    order: TaskRequest,
    origin: Origin | None,
    checkout: Checkout,
    environment: Mapping[str, str],
    found: Findings,
) -> Ready:
    """The rest of what old and new tasks need: the configuration, this machine, GitHub."""
    settings = await _settings(order, checkout, environment, found)
    pull_settings, pull_environment = None, environment
    if settings is not None and origin is not None:
        pull_settings, pull_environment = await _check_origin(settings, origin, order, environment, found)
    found.check()
    if settings is None:
        raise AssertionError("settings that cannot be read are an error")
    settings, said = await run_settings.chosen(settings, environment)
    return Ready(task_id, order, settings, pull_settings, pull_environment, (*found.warnings, *said))


def _order(options: TddOptions, title: str, text: str, config: Path | None) -> TaskRequest:
    """Return the order from the command line; what the repository adds comes later."""
    order = TaskRequest(
        name="",
        specification=str(options.specification),
        title=title,
        text=text,
        base="",
        commit="",
        branch="",
        max_reviews=MAX_REVIEWS,
        cleanup=True,
        pull_request=False,
        config=str(config.absolute()) if config else None,
        file=str(options.specification.absolute()) if options.specification else "",
    )
    return options.changing(order)


async def _origin(checkout: Checkout, found: Findings) -> Origin | None:
    url = await checkout.push_url("origin")
    if url is None:
        found.warnings.append("There is no remote called origin: there will be a branch and no pull request.")
        return None
    try:
        return parse(url)
    except Misconfigured as error:
        found.caught(error)
        return None


async def _settings(
    order: TaskRequest, checkout: Checkout | None, environment: Mapping[str, str], found: Findings
) -> Settings | None:
    """The configuration, if it can be read; what it asks of this machine is tried."""
    try:
        settings = run_settings.configured(order, environment)
    except Misconfigured as error:
        found.caught(error)
        return None
    for sentence in unsupported(settings):
        found.wrong(sentence)
    for needs in (run_settings.programs, run_settings.keys):
        try:
            needs(settings, environment)
        except EngineError as error:
            found.caught(error)
    try:
        await confinement(settings, environment)
    except Misconfigured as error:
        found.wrong(f"{error} Or give --sandbox none: then tests and the coder run with your rights.")
    if settings.sandbox == "none":
        found.warnings.append("sandbox: none: tests and the coder run with your rights on this machine.")
    _check_program(settings, checkout, environment, found)
    _check_writable(settings, checkout, found)
    return settings


def _check_program(
    settings: Settings, checkout: Checkout | None, environment: Mapping[str, str], found: Findings
) -> None:
    """The program of the test command, as far as no set-up brings one along: looked for before anything is paid."""
    project = settings.repositories[0]
    command = project.test_command
    if command is None and checkout is not None and any((checkout.top / name).is_file() for name in _OF_PYTHON):
        command = pytest_runner.DEFAULT_COMMAND
    program = ""
    for key, words in (("setup_command", project.setup_command), ("test_command", None if project.suites else command)):
        try:
            program = "" if words is None else command_line.split(words, key=key)[0]
        except Misconfigured as error:
            found.caught(error)
            return
    if not program or project.setup_command is not None:
        return
    if "/" not in program and shutil.which(program, path=child_environment(environment)["PATH"]) is None:
        found.wrong(
            f"There is no program `{program}` on this machine, with which the tests are run: "
            "install it, name another one with --test-command, or what installs it with --setup-command."
        )


def _check_writable(settings: Settings, checkout: Checkout | None, found: Findings) -> None:
    """Every directory that is written to; the nearest one that exists stands for one that does not yet."""
    places = [settings.state_dir / "tdd"]
    if checkout is not None:
        records = checkout.top / RECORDS
        if settings.state_dir.absolute().is_relative_to(checkout.top):
            found.wrong(f"state_dir ({settings.state_dir}) lies inside your work tree: name another one.")
        if records.is_symlink() or (records.exists() and not records.is_dir()):
            found.wrong(f"{records} is no directory of its own, and tasks are recorded there: move it away.")
        places += [checkout.top if records.is_symlink() else records, checkout.common, checkout.common / "objects"]
    disks: dict[int, Path] = {}
    for place in places:
        there = next(one for one in (place, *place.parents) if one.exists())
        disks.setdefault(there.stat().st_dev, there)
        if not os.access(there, os.W_OK | os.X_OK):
            found.wrong(f"{there} cannot be written to: make it writable for this account.")
    for there in disks.values():
        try:
            check_disk_space(there)
        except TaskDiskFull as error:
            found.wrong(str(error))


async def _check_origin(
    settings: Settings, origin: Origin, order: TaskRequest, environment: Mapping[str, str], found: Findings
) -> tuple[Settings | None, Mapping[str, str]]:
    """The settings for origin, and the environment with its token; GitHub is asked."""
    try:
        origin_settings = run_settings.for_origin(settings, origin.name, api_of(origin, settings.github.api_url))
        with_token = await anyio.to_thread.run_sync(with_gh_token, origin_settings, environment)
        async with upstream(origin_settings, with_token) as there:
            tip = await there.admitted(order.base)
    except EngineError as error:
        hint = " Without a pull request nothing of this is needed: --local."
        found.errors.append((f"{error}{hint}", isinstance(error, Unauthorized | NotAllowed)))
        return None, environment
    if order.commit and tip != order.commit:
        found.warnings.append(
            f"'{order.base}' is at {order.commit[:12]} here and at {tip[:12]} on origin: the pull request shows both."
        )
    return origin_settings, with_token


_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^@/:\s]+):(?!//)(?P<path>.+)")
"""URLs like `git@github.com:owner/repo.git`."""

_SSH_OVER_HTTPS = {"ssh.github.com": "github.com", "altssh.github.com": "github.com"}
"""GitHub answers SSH on port 443 under another name (https://docs.github.com/en/authentication)."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
"""Of web servers; a URL that names them means the same without."""

_PUBLIC = "https://api.github.com"


@dataclass(frozen=True, slots=True)
class Origin:
    """Host (with a port where it is a web server's) and full name of a repository."""

    host: str
    name: str


def parse(url: str) -> Origin:
    """Return the host and repository of an HTTPS or SSH URL.

    Raises `Misconfigured` for every other remote, without showing a password.
    """
    found = _of_url(url) if "://" in url else _of_scp(url)
    shown = re.sub(r"//[^@/]*@", "//", url)
    if found is None:
        raise Misconfigured(f"The remote origin ({shown}) is no repository on a GitHub server: work with --local.")
    host, path = found
    try:
        name = repository_name(path.strip("/").removesuffix(".git"))
    except ValueError:
        raise Misconfigured(f"The remote origin ({shown}) names no owner/repo: work with --local.") from None
    return Origin(_SSH_OVER_HTTPS.get(host, host), name)


def api_of(origin: Origin, configured: str) -> str:
    """The API's root for an origin: the configured one if it serves that host, else GitHub's public one."""
    for api in (configured, _PUBLIC):
        if urlsplit(git_server(api)).netloc.casefold() == origin.host.casefold():
            return api
    raise Misconfigured(
        f"origin is on {origin.host}, and github.api_url is {configured}: set github.api_url to that server's API "
        f"(https://{origin.host}/api/v3), or work with --local."
    )


def _of_url(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").casefold()
    if not host or parts.scheme not in {"https", "http", "ssh", "git+ssh"}:
        return None
    web = port not in {None, _DEFAULT_PORTS.get(parts.scheme)} and parts.scheme in _DEFAULT_PORTS
    return (f"{host}:{port}" if web else host), parts.path


def _of_scp(url: str) -> tuple[str, str] | None:
    found = _SCP.fullmatch(url)
    return None if found is None else (found["host"].casefold(), found["path"])
