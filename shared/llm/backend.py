"""The description of a coding backend, given by one file, so that no other code has to know which backends exist."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from shared.clock import Clock
from shared.errors import Misconfigured
from shared.llm.cli.launch import Launcher
from shared.llm.endpoint import Endpoint, Endpoints, Fixed
from shared.llm.port import Coder
from shared.llm.prices import Prices
from shared.llm.proxy.api_protocols import ApiProtocol

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """The inputs of a backend that is a command-line program; `prices` are for one that reports no cost itself.

    `model` is the one of every call that names none; None leaves it to the program.
    """

    path: Path
    launcher: Launcher
    endpoints: Endpoints
    prices: Prices | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """The inputs of any backend: `scenario` is the scripted backend's file, `used` the directory of given answers.

    `program` is set for a backend that runs a program.
    """

    clock: Clock
    scenario: Path | None = None
    used: Path | None = None
    program: Program | None = None

    def installed(self, backend: str, product: str) -> Program:
        """Return the program that was found; raise `Misconfigured` without one."""
        if self.program is None:
            raise Misconfigured(f"The {backend} backend needs {product}: run `workflow-engine install-cli {backend}`.")
        return self.program


@dataclass(frozen=True, slots=True)
class Package:
    """The vendor's official package of the CLI: a Python one, so that no Node is needed, or else an npm one.

    `version` is the one that was tested, `directory` the part of the package to keep, `program` the executable in it.
    `needs` are other packages that it does not run without, each with its version; those that it names itself are
    left out.
    """

    requirement: str
    version: str
    directory: str
    program: str
    npm: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """The inputs for examining a backend before anything is paid; `environment` is a person's whole one."""

    program: Path
    environment: Environment
    children: Environment
    launcher: Callable[[], AbstractAsyncContextManager[Launcher]]


@dataclass(frozen=True, slots=True)
class Probed:
    """The result of an examination; `step` is a person's next step, empty if everything is in order."""

    sentence: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class LoginFile:
    """A login that the program keeps in a file and renews in use: each call has a copy of it.

    `variable` names the directory of the file for the program. `recover` restores the login that a killed daemon's call
    had renewed, `lent` is the copy in use, `refusal` says why the file could not be renewed at its place.
    """

    variable: str
    place: Callable[[Environment], Path]
    secrets: Callable[[Path], tuple[str, ...]]
    recover: Callable[[Path], None]
    lent: Callable[[Path], Path | None]
    refusal: Callable[[Path], str]
    lease: Callable[[Endpoint, Path], Endpoints]


def by_option(program: Path) -> tuple[str, ...]:
    """Return the command line that prints the version of most programs."""
    return (str(program), "--version")


@dataclass(frozen=True, slots=True)
class CliSpec:
    """A backend that is a vendor's command-line program.

    `keys` are the variables with a key or login in the order in which they are tried, `url` the one that names another
    server. `key_shape` shows people what a key looks like; `beginnings` maps the prefix of a pasted key to the variable
    it belongs to, and `subscription` tells how to go without a key. `not_enforced` tells what a login, which bypasses
    the model proxy, leaves unenforced. `endpoint` raises `MissingCredentials` naming what to set. If `needs_model` is
    set, the backend has no default model: the configuration names it. `version_command` returns the command that prints
    an installed program's version; it raises `Misconfigured` for a path that cannot be this program.
    """

    protocol: ApiProtocol
    company: str
    package: Package
    keys: tuple[str, ...]
    url: str
    endpoint: Callable[[Environment], Endpoint]
    probe: Callable[[Probe], Awaitable[Probed]]
    key_shape: str = ""
    beginnings: Mapping[str, str] = field(default_factory=dict)
    subscription: str = ""
    not_enforced: str = ""
    reports_cost: bool = True
    login: LoginFile | None = None
    needs_model: bool = False
    version_command: Callable[[Path], tuple[str, ...]] = by_option

    def named(self, environment: Environment) -> bool:
        """Return whether the environment itself has a key or a login."""
        return any(environment.get(name, "").strip() for name in self.keys)

    def secrets(self, environment: Environment) -> list[str]:
        """Return the values that no log may show."""
        kept = self.login.secrets(self.login.place(environment)) if self.login else ()
        return [*(environment[name] for name in self.keys if environment.get(name, "").strip()), *kept]

    def by_login(self, endpoint: Endpoint) -> Endpoints:
        """Return the endpoints of a subscription's login."""
        if endpoint.file is None or self.login is None:
            return Fixed(endpoint)
        return self.login.lease(endpoint, endpoint.file)


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """One coding backend; `build` raises `Misconfigured` if the set-up lacks what it needs."""

    build: Callable[[Setup], Coder]
    cli: CliSpec | None = None
