"""Script that runs a command as another account and, when it has ended, kills everything that it has started.

It uses the standard library alone: `python reaper.py UID GID PROCESSES -- COMMAND ...`.
Every process that the command leaves behind, in whatever session, becomes this process's child (Linux calls it
a subreaper); the command cannot end this process, which belongs to another account.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 36, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


class Ended(Exception):
    """We were told to stop."""


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code, or 128 + n if signal n ended it or us."""
    uid, gid, processes, _, *command = arguments
    control(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, _stop)
    control(PR_SET_PDEATHSIG, signal.SIGTERM)
    child = os.fork()
    if child == 0:
        _become(int(uid), int(gid), int(processes), command)
    try:
        code = _outlive(child)
    except Ended:
        code = -signal.SIGTERM
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_all()
    return code if code >= 0 else 128 - code


def control(option: int, *values: int) -> None:
    """Call `prctl(2)`; raise `OSError` if the kernel refuses it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4])) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _stop(*_: object) -> None:
    raise Ended


def _become(uid: int, gid: int, processes: int, command: list[str]) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        control(PR_SET_NO_NEW_PRIVS, 1)
        os.umask(0o022)
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]} as account {uid}: {error.strerror}\n")
    finally:
        os._exit(127)


def _outlive(child: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _end_all() -> None:
    """Kill descendants until no child is left: a killed process leaves its own children to us."""
    with suppress(ChildProcessError):
        while True:
            for pid in _descendants():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            pid = int(entry.name)
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    new = children.get(os.getpid(), [])
    while new:
        found.update(new)
        new = [child for pid in new for child in children.get(pid, []) if child not in found]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
