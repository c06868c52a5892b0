"""A wrapped command's view of the file system and the network, and the sandbox's arguments for bubblewrap that give it.

Nothing of the machine is there unless it is listed: no home, no state directory, no sockets of other
programs, no process of anybody else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.sandbox import forward, system_calls
from shared.sandbox.limits import PROCESSES

TEMPORARY_BYTES = 2**30
"""Bytes that /tmp may hold; it is memory, and vanishes with the command."""

SHARED_MEMORY_BYTES = 2**28
"""Bytes that /dev/shm may hold."""

_FLAGS = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_NESTING = ("--cap-add", "CAP_SETFCAP")
"""Needed by root to make a user namespace in the sandbox, as other accounts can and Codex's own sandbox has to."""

_BOUNDED = f'ulimit -u {PROCESSES} 2>/dev/null || ulimit -p {PROCESSES}; exec "$@"'
"""The limit counts only this sandbox, which has a user namespace of its own; shells spell it differently."""

_OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""Files that root, as their owner, may write without any capability, `core_pattern` among them.

They are covered for root only: a command can start no sandbox of its own below a /proc that is covered.
"""

_NAMES_OF_KEYS = ("/proc/keys", "/proc/key-users")
"""Lists of the names of all keys of the account; covered for root only, too."""

_SOCKET = "/run/model.sock"
"""Path of an outlet's socket in the sandbox: paths of more than 107 characters could not be connected to."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_ETC = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts"),
    *("group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime"),
    *("login.defs", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki/ca-trust", "pki/tls"),
    *("profile", "protocols", "resolv.conf", "services", "shells", "ssl/certs", "ssl/openssl.cnf", "timezone"),
    *("dotnet", "groovy", "java-*-openjdk", "maven/logging", "maven/m2.conf", "maven/toolchains.xml", "perl"),
    *("php/*/cli", "php/*/mods-available", "php/conf.d", "php/php.ini", "php.d", "php.ini"),
    *("php[0-9]*/conf.d", "php[0-9]*/php.ini"),
)
"""Patterns of the files in /etc that programs and toolchains read; none holds a secret.

`ssl/private`, `shadow`, Maven's `settings.xml` and the pools of PHP's servers may hold one and are left out.
"""


@dataclass(frozen=True, slots=True)
class Outlet:
    """The only way out of a command without network: connections to `port` of its loopback reach `socket`."""

    port: int
    socket: Path


@dataclass(frozen=True, slots=True)
class FileSystemView:
    """A command's view of the file system and the network; `hidden` are directories and files.

    In the sandbox (`SANDBOX`), `readable` is the list of what is shown, beside `writable` and the system's own
    programs; what lies in a hidden directory is shown only if `readable` names it.
    By `TREE_BY_BUBBLEWRAP`, everything is shown read-only except what is `hidden`; `readable` are the exceptions from
    that, and `writable` can be written. The other ways hide nothing.
    Without `network` there is loopback only, and the connections of `outlet`; only the sandbox can close it.
    """

    writable: Sequence[Path]
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    network: bool = True
    outlet: Outlet | None = None


def arguments(command: Sequence[str], view: FileSystemView) -> Iterator[str]:
    """Yield the whole argv that runs `command` in the sandbox."""
    yield from ("bwrap", *_FLAGS)
    if os.geteuid() == 0:
        yield from _NESTING
    if view.network:
        yield "--share-net"
    yield from ("--proc", "/proc")
    for place in _OF_THE_KERNEL if os.geteuid() == 0 else ():
        yield from ("--ro-bind-try", place, place)
    for place in _NAMES_OF_KEYS if os.geteuid() == 0 else ():
        if Path(place).exists():
            yield from ("--ro-bind", "/dev/null", place)
    yield from ("--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm")
    yield from _system_binds()
    yield from ("--size", str(TEMPORARY_BYTES), "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp")
    yield from _view_binds(view)
    yield from ("--remount-ro", "/", "--remount-ro", "/dev", "--")
    yield from ("/bin/sh", "-c", _BOUNDED, "sh", *system_calls.RESTRICTED)
    if view.outlet is not None:
        yield from (sys.executable, "-I", "-S", forward.__file__, str(view.outlet.port), _SOCKET, "--")
    yield from command


def real(paths: Iterable[Path]) -> list[Path]:
    """Return the paths with links resolved, parents before their entries."""
    return sorted({Path(os.path.realpath(path)) for path in paths}, key=lambda path: len(path.parts))


def _system_binds() -> Iterator[str]:
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    for found in (path for pattern in _ETC for path in sorted(Path("/etc").glob(pattern))):
        yield from ("--ro-bind-try", str(found), str(found))


def _view_binds(view: FileSystemView) -> Iterator[str]:
    """Yield the binds of the view: parents before their entries, and hidden paths below readable ones hidden again."""
    readable = [path for path in (*view.readable, Path(sys.prefix), Path(sys.base_prefix)) if path.exists()]
    named = _spellings(readable)
    for path in named:
        if not _of_the_system(path) and not any(other in path.parents for other in named):
            yield from ("--ro-bind", str(path), str(path))
    shown = real(readable)
    for path in real(view.hidden):
        if any(place in path.parents for place in shown):
            yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind-try", "/dev/null", str(path))
    hidden = real(view.hidden)
    for path in shown:
        if any(place in path.parents for place in hidden):
            yield from ("--ro-bind", str(path), str(path))
    for path in _spellings(view.writable):
        yield from ("--bind", str(path), str(path))
    yield from ("--ro-bind", system_calls.__file__, system_calls.__file__)
    if view.outlet is not None:
        yield from ("--ro-bind", str(view.outlet.socket), _SOCKET)
        yield from ("--ro-bind", forward.__file__, forward.__file__)


def _spellings(paths: Sequence[Path]) -> list[Path]:
    """Return each path as given and with links resolved: programs ask for the one, the kernel for the other."""
    both = {*real(paths), *(path.absolute() for path in paths)}
    return sorted(both, key=lambda path: (len(path.parts), path))


def _of_the_system(path: Path) -> bool:
    return any(path == Path(place) or Path(place) in path.parents for place in _SYSTEM)
