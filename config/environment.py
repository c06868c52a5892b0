"""The only reader of the process's environment; all other code is given the values that this module returns."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

NAME = "workflow-engine"

_TOOLCHAINS = {
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "NODENV_ROOT": ".nodenv",
    "GOENV_ROOT": ".goenv",
    "ASDF_DATA_DIR": ".asdf",
    "VOLTA_HOME": ".volta",
    "MISE_DATA_DIR": ".local/share/mise",
}
"""Directories of version managers: variable -> the default below the home directory."""

_FOR_CHILDREN = frozenset({"PATH", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME", *_TOOLCHAINS})
_VERSIONS = frozenset({"RUSTUP_TOOLCHAIN", "PYENV_VERSION", "RBENV_VERSION", "NODENV_VERSION", "GOENV_VERSION"})
"""Variables that a child process may see. It is an allow-list, so that a new secret is left out by itself."""


def snapshot() -> Mapping[str, str]:
    """The environment as it is now, read-only."""
    return MappingProxyType(dict(os.environ))


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the part of `environment` (default: this process's) for children; the caller sets `HOME` for each."""
    known = snapshot() if environment is None else environment
    named = _FOR_CHILDREN | _VERSIONS
    allowed = {name: value for name, value in known.items() if name in named or name.startswith("LC_")}
    return {"PATH": os.defpath} | _toolchains(known) | allowed


def _toolchains(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the directories of version managers, which they find by `HOME`: a child has another `HOME`."""
    if not variables.get("HOME"):
        return {}
    places = {name: Path(variables["HOME"], below) for name, below in _TOOLCHAINS.items()}
    return {name: str(place) for name, place in places.items() if place.is_dir()}


def config_place(environment: Mapping[str, str]) -> Path:
    """The XDG directory of the engine's configuration."""
    return _xdg(environment, "XDG_CONFIG_HOME", ".config")


def cache_place(environment: Mapping[str, str]) -> Path:
    """The XDG directory of what can be fetched again."""
    return _xdg(environment, "XDG_CACHE_HOME", ".cache")


@dataclass(frozen=True, slots=True)
class Notify:
    """The messages that a service manager asks for: its socket's address, and the seconds between signs of life."""

    address: str = ""
    watchdog_seconds: float = 0.0
    """0: it does not ask for any."""


def notify(environment: Mapping[str, str]) -> Notify:
    """Return what systemd asks of this very process (sd_notify(3), sd_watchdog_enabled(3)), not of its parent."""
    address = environment.get("NOTIFY_SOCKET", "")
    usual = environment.get("WATCHDOG_USEC", "")
    ours = environment.get("WATCHDOG_PID") in {None, "", str(os.getpid())}
    seconds = int(usual) / 1_000_000 if usual.isdecimal() and ours else 0.0
    return Notify(address if address[:1] in {"/", "@"} else "", seconds)


def editor(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The person's editor as a command: `$VISUAL`, else `$EDITOR`, else `vi`."""
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(environment.get(name, "")):
            return tuple(words)
    return ("vi",)


def _xdg(environment: Mapping[str, str], variable: str, in_home: str) -> Path:
    place = Path(environment.get(variable, ""))
    if not place.is_absolute():  # the XDG specification: relative values are to be ignored
        place = Path(environment.get("HOME") or Path.home(), in_home)
    return place / NAME


def for_gh(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with which `gh` finds its own login: its directories, and the desktop's keyring."""
    wanted = ("HOME", "GH_CONFIG_DIR", "DBUS_SESSION_BUS_ADDRESS")
    own = {name: value for name, value in environment.items() if name in wanted or name.startswith("XDG_")}
    return child_environment(environment) | own


_OF_INSTALLERS = ("PIP_", "UV_", "XDG_", "NPM_CONFIG_")


def for_installers(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a package installer's environment: that of children, its configuration, and proxies; no token."""
    known = snapshot() if environment is None else environment
    mine = {"HOME", *CERTIFICATES}
    own = {name: value for name, value in known.items() if name.upper().startswith(_OF_INSTALLERS) or name in mine}
    proxies = {name: value for name, value in known.items() if name.casefold().endswith("_proxy")}
    return child_environment(known) | own | proxies


CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
"""Variables that name certificates to trust, as behind a company's proxy; a sandbox has to show these files."""


def for_set_up(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a repository's own set-up: that of children, proxies, and the sources of packages.

    An address with a name or password is left out: code of packages runs beside it.
    """
    known = snapshot() if environment is None else environment
    wanted = ("PIP_INDEX_URL", "PIP_TRUSTED_HOST", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "npm_config_registry")
    own = {name: known[name] for name in (*wanted, *CERTIFICATES) if name in known and "@" not in known[name]}
    proxies = {name: value for name, value in known.items() if name.casefold().endswith("_proxy") and "@" not in value}
    return child_environment(known) | own | proxies
