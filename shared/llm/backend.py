"""The shape of a coding backend: what one file says, so that nothing else has to know which backends there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from shared.clock import Clock
from shared.llm.cli.launch import Launcher
from shared.llm.endpoint import Endpoint, Endpoints, Fixed
from shared.llm.port import Coder
from shared.llm.prices import Prices
from shared.llm.proxy.vendors import Vendor

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """What a backend needs that is a command-line program; `prices` are for one that reports no cost itself.

    `model` is the one of every call that names none; None leaves it to the program.
    """

    path: Path
    launcher: Launcher
    endpoints: Endpoints
    prices: Prices | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """`scenario` is the scripted backend's file, `used` the directory that notes its given answers.

    `program` is what a backend runs that is a program.
    """

    clock: Clock
    scenario: Path | None = None
    used: Path | None = None
    program: Program | None = None


@dataclass(frozen=True, slots=True)
class Package:
    """The vendor's official package of the CLI, for Python, so that no Node is needed, or else for npm.

    `version` is the one that was tried, `directory` what has to be kept of it, `program` the executable in there.
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
    """What a backend is examined with before anything is paid; `environment` is a person's whole one."""

    program: Path
    environment: Environment
    children: Environment
    launcher: Callable[[], AbstractAsyncContextManager[Launcher]]


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found; `step` is what a person can do about it, empty when it is as it should be."""

    sentence: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class LoginFile:
    """A login that the program keeps in a file and renews in use: each call has a copy of it.

    `variable` names the directory of the file for the program. `recover` brings back what a killed daemon's call
    had renewed, `lent` is the copy in use, `refusal` says why the file could not be renewed where it lies.
    """

    variable: str
    place: Callable[[Environment], Path]
    secrets: Callable[[Path], tuple[str, ...]]
    recover: Callable[[Path], None]
    lent: Callable[[Path], Path | None]
    refusal: Callable[[Path], str]
    lease: Callable[[Endpoint, Path], Endpoints]


def by_option(program: Path) -> tuple[str, ...]:
    """What most programs are asked for their version by."""
    return (str(program), "--version")


@dataclass(frozen=True, slots=True)
class CliSpec:
    """A backend that is a vendor's command-line program.

    `keys` are the variables with a key or login in the order in which they are taken, `url` the one that names
    another server. `key_shape` shows people what a key looks like; `beginnings` tells by how a pasted one begins
    which variable it belongs to, and `subscription` how to go without a key. `not_enforced` is what follows from
    a login, which passes by the model proxy. `endpoint` raises `MissingCredentials` naming what to set.
    One that `needs_model` has no model of its own: the configuration names it. `asked` is what tells the version of
    an installed one; it raises `Misconfigured` for what cannot be this program.
    """

    vendor: Vendor
    company: str
    package: Package
    keys: tuple[str, ...]
    url: str
    key_shape: str
    beginnings: Mapping[str, str]
    subscription: str
    not_enforced: str
    endpoint: Callable[[Environment], Endpoint]
    examine: Callable[[Probe], Awaitable[Probed]]
    reports_cost: bool = True
    login: LoginFile | None = None
    needs_model: bool = False
    asked: Callable[[Path], tuple[str, ...]] = by_option

    def named(self, environment: Environment) -> bool:
        """Whether a key or a login stands in the environment itself."""
        return any(environment.get(name, "").strip() for name in self.keys)

    def secrets(self, environment: Environment) -> list[str]:
        """The values that no log may show."""
        kept = self.login.secrets(self.login.place(environment)) if self.login else ()
        return [*(environment[name] for name in self.keys if environment.get(name, "").strip()), *kept]

    def by_login(self, own: Endpoint) -> Endpoints:
        """The endpoints of a subscription's login."""
        return Fixed(own) if own.file is None or self.login is None else self.login.lease(own, own.file)


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """One coding backend; `build` raises `Misconfigured` when the set-up lacks what it needs."""

    build: Callable[[Setup], Coder]
    cli: CliSpec | None = None
