"""The check that a sandbox starts on this machine, and the setting that prevents it: tried, not guessed."""

from __future__ import annotations

import os
import pwd
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio
from anyio import to_thread

from shared import process
from shared.errors import Misconfigured
from shared.process import Finished
from shared.sandbox import system_calls
from shared.sandbox.bubblewrap_sandbox import FileSystemView
from shared.sandbox.confinement import Isolation, Wrap, probe
from shared.sandbox.reaper import control

OS_USER = "coder"
"""The user of the image that children run as in mode `container`."""

TRY_SECONDS = 30.0
"""Timeout, in seconds, for running `true` in a wrapper."""

PR_SET_DUMPABLE = 4

_NOT_OFFERED = (
    f"In mode container children run as the account '{OS_USER}', and taking it needs the capabilities SETUID, "
    "SETGID, KILL, CHOWN and DAC_OVERRIDE. Docker: --user 0 (the agents start as root of the container and give "
    "it up for every child); Kubernetes: securityContext.runAsUser: 0 with those capabilities."
)


async def wrapper(mode: str, environment: Mapping[str, str], work: Path) -> Wrap:
    """Return the wrapper of tests for a mode, after trying it; raise `Misconfigured` with the setting to change.

    `environment` needs a PATH; `work` is the directory of the work trees. A coding CLI in mode `none`
    still has its process tree held together, see `confinement.probe`.
    """
    match mode:
        case "bubblewrap":
            wrap = Wrap(Isolation.SANDBOX)
            if refused := diagnosis(await tried(wrap, environment)):
                raise Misconfigured(f"sandbox: {' '.join(refused)}")
            return wrap
        case "container":
            return await _as_os_user(environment, work)
        case _:
            return Wrap(Isolation.TREE_BY_GROUP)


async def for_backends(wrap: Wrap, environment: Mapping[str, str]) -> Wrap:
    """Return the wrapper for coding CLIs: that of tests, or without a sandbox one that holds their process tree."""
    return await probe(environment) if wrap.kind is Isolation.TREE_BY_GROUP else wrap


async def tried(wrap: Wrap, environment: Mapping[str, str]) -> Finished | str:
    """Run `true` in a wrapper; return the result, or the reason why it does not run."""
    argv = wrap.argv(("true",), FileSystemView((), network=False))
    try:
        with anyio.fail_after(TRY_SECONDS):
            return await process.run(argv, cwd=Path("/"), env=environment)
    except OSError as error:
        return str(error.strerror or error)
    except TimeoutError:
        return f"it did not end within {TRY_SECONDS:.0f} s"


def diagnosis(answer: Finished | str) -> tuple[str, str] | None:
    """Return why bubblewrap does not start and the setting to change, a sentence each; None if it starts."""
    if isinstance(answer, str):
        return f"bwrap does not run: {answer}.", "Install bubblewrap (Debian: apt install bubblewrap)."
    if answer.code == 0:
        return None
    said = answer.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it says nothing"]
    return f"bubblewrap does not start: {said[0]}.", _setting(said[0])


def _setting(output: str) -> str:
    """Return the setting of the machine or the container that keeps bubblewrap from starting."""
    if "/proc" in output or "mount proc" in output:
        return (
            "/proc is masked. Docker: --security-opt systempaths=unconfined; Kubernetes: securityContext.procMount: "
            "Unmasked; systemd: ProtectKernelTunables=no."
        )
    if "loopback" in output or "NETLINK" in output:
        return "Docker: --security-opt seccomp=unconfined; systemd: RestrictAddressFamilies= must contain AF_NETLINK."
    if "Unknown option" in output:
        return "Install bubblewrap 0.8 or newer."
    return (
        "User namespaces are off. Linux: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000 "
        "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined; systemd: RestrictNamespaces=no."
    )


async def _as_os_user(environment: Mapping[str, str], work: Path) -> Wrap:
    try:
        known = pwd.getpwnam(OS_USER)
    except KeyError:
        raise Misconfigured(
            f"sandbox: there is no account '{OS_USER}' here. Use the engine's image, or add it: useradd {OS_USER}."
        ) from None
    wrap = Wrap(Isolation.OS_USER, os_user=(known.pw_uid, known.pw_gid))
    answer = await tried(wrap, environment)
    if isinstance(answer, str) or answer.code != 0:
        raise Misconfigured(f"sandbox: {_NOT_OFFERED}")
    if not await reaches(wrap, environment, work):
        raise Misconfigured(
            f"sandbox: the account '{OS_USER}' cannot reach {work} (work_dir). Give a work_dir outside of state_dir, "
            "and let others pass through every directory above it (chmod o+x)."
        )
    return wrap


async def reaches(wrap: Wrap, environment: Mapping[str, str], work: Path) -> bool:
    """Return whether the user of `wrap` can write to a directory of its own below `work`."""
    await to_thread.run_sync(lambda: work.mkdir(parents=True, exist_ok=True))
    with tempfile.TemporaryDirectory(prefix="try-", dir=work) as place:
        if wrap.os_user is not None:
            os.chown(place, *wrap.os_user)
        argv = wrap.argv(("test", "-w", place), FileSystemView((Path(place),), network=False))
        return (await process.run(argv, cwd=Path("/"), env=environment)).code == 0


def conceal() -> None:
    """Hide this process's memory and environment from others of the same account (Linux); children are not affected.

    Keys of the session that started it become unreachable, too: no child inherits a keyring with something in it.
    """
    system_calls.join_keyring()
    if sys.platform == "linux":
        control(PR_SET_DUMPABLE, 0)
