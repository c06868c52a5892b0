"""One service of the Compose file in a container: what Docker would do, done by systemd-nspawn.

The same holds as there: namespaces of its own but for the network, a read-only root with a small /tmp, the named
volumes, secrets as files, the capabilities and the user that the file says, and a first process that collects orphans.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil
from deploy.compose_files import COMPOSE, CONTAINER

from image.building import Image

OPEN_PROC = {"SYSTEMD_NSPAWN_API_VFS_WRITABLE": "yes", "SYSTEMD_SECCOMP": "0"}
"""The equivalent of Docker's `systempaths=unconfined` and `seccomp=unconfined`."""

_ALL = (
    *("AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN"),
    *("DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE"),
    *("LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST"),
    *("NET_RAW", "PERFMON", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT"),
    *("SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME"),
    *("SYS_TTY_CONFIG", "WAKE_ALARM"),
)


def service(agent: str, *, account: bool) -> dict[str, Any]:
    """Return one service of the Compose file; with `account` the file for mode `container` is laid over it."""
    found: dict[str, Any] = COMPOSE["services"][agent]
    return found | CONTAINER["services"][agent] if account else found


@dataclass
class Container:
    """A service on an image, with the host's places of its volumes and files; to be started any number of times."""

    image: Image
    service: Mapping[str, Any]
    place: Path
    """Holds its volumes and its logs."""
    files: Mapping[str, Path]
    """Target in the container -> file or directory of the host, read-only."""
    running: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def user(self) -> tuple[int, int]:
        """Ids of user and group."""
        user, _, group = str(self.service.get("user", self.image.config["User"])).partition(":")
        return int(user), int(group)

    @property
    def lives(self) -> bool:
        """True if the service was started and has not ended."""
        return self.running is not None and self.running.poll() is None

    @property
    def log(self) -> Path:
        """The file with all output of the service, over all starts."""
        return self.place / "log"

    @property
    def first_process(self) -> int:
        """The number that process 1 of the container has outside; 0 before there is one."""
        assert self.running is not None
        found = psutil.Process(self.running.pid).children()
        return int(found[0].pid) if found else 0

    @property
    def agent_process(self) -> int:
        """The same of the service's command."""
        first = self.first_process
        found = psutil.Process(first).children() if first else []
        return int(found[0].pid) if found else 0

    def give(self, file: Path) -> None:
        """Make a file of the host its user's."""
        os.chown(file, *self.user)

    @contextmanager
    def started(self, *command: str) -> Iterator[None]:
        """Run the service's command, or another one, while the block runs; what is left then is killed."""
        with self.log.open("ab") as log:
            running = self.running = subprocess.Popen(
                self.argv(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment()
            )
        try:
            yield
        finally:
            if running.poll() is None:
                for process in (*psutil.Process(running.pid).children(recursive=True), running):
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
                running.wait()
            if self.running is running:  # and not a later start of the same service
                self.running = None

    def ran(self, *command: str) -> tuple[int, str]:
        """Run another command in a separate container; return code and output, with error output if it failed."""
        done = subprocess.run(
            self.argv(*command), capture_output=True, text=True, timeout=1200, check=False, env=self._environment()
        )
        return done.returncode, done.stdout + (done.stderr if done.returncode else "")

    async def stopped(self) -> int:
        """Send SIGTERM and wait for the Compose file's grace period; return the exit code. Raises TimeoutError."""
        assert self.running is not None
        os.kill(self.agent_process, signal.SIGTERM)
        with anyio.fail_after(int(self.service["stop_grace_period"].removesuffix("s"))):
            return await anyio.to_thread.run_sync(self.running.wait)

    def healthy(self) -> tuple[bool, str]:
        """Return whether the image's health check passes inside the running container as its user, and its output."""
        kind, *check = self.image.config["Healthcheck"]["Test"]
        assert kind == "CMD"
        user, group = self.user
        ids = ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs", "--")
        inside = ("nsenter", f"--target={self.first_process}", "--mount", "--pid", "--ipc", "--uts", "--root", "--wd=/")
        words = (*inside, "env", "-i", *self._variables(), *ids, *check)
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode == 0, (done.stdout + done.stderr).strip()

    def argv(self, *command: str) -> list[str]:
        """Return systemd-nspawn's command line."""
        program, *arguments = command or self.service["command"]
        kept = set(self.service.get("cap_add", ()))
        dropped = ",".join(f"CAP_{name}" for name in _ALL if name not in kept)
        assert self.service["read_only"] is True
        assert self.service["init"] is True
        (temporary,) = self.service["tmpfs"]
        options = [
            *("--quiet", "--register=no", "--keep-unit", "--console=pipe", "--as-pid2", "--read-only"),
            *(f"--machine=agent-{secrets.token_hex(6)}", f"--directory={self.image.root}", f"--tmpfs={temporary}"),
            *(f"--user={self.user[0]}", f"--chdir={self.image.config['WorkingDir']}"),
            *(f"--drop-capability={dropped}", "--no-new-privileges=yes"),
            *(f"--setenv={variable}" for variable in self._variables()),
            *(f"--bind={self._volume(name)}:{target}" for name, target in self._volumes()),
            *(f"--bind-ro={file}:{target}" for target, file in self.files.items()),
        ]
        return ["systemd-nspawn", *options, "--", self._program(program), *arguments]

    def _program(self, name: str) -> str:
        """Return the path of a program in the image."""
        path = next(one for one in self.image.config["Env"] if one.startswith("PATH="))
        places = [f"{self.image.root}{place}" for place in path.removeprefix("PATH=").split(":")]
        found = shutil.which(name, path=os.pathsep.join(places))
        assert found, f"{name} is not in the image"
        return found.removeprefix(str(self.image.root))

    def _variables(self) -> Sequence[str]:
        given = {name: value for name, value in self.service["environment"].items() if not value.startswith("${")}
        return [*self.image.config["Env"], *(f"{name}={value}" for name, value in given.items())]

    def _volumes(self) -> Iterator[tuple[str, str]]:
        for volume in self.service["volumes"]:
            name, _, target = volume.partition(":")
            yield name, target

    def _volume(self, name: str) -> Path:
        """Return the host's directory, made with owner and mode of the image's, as Docker makes a named volume."""
        place = self.place / name
        if not place.exists():
            there = Path(f"{self.image.root}{dict(self._volumes())[name]}")
            place.mkdir(parents=True)
            os.chown(place, there.stat().st_uid, there.stat().st_gid)
            place.chmod(there.stat().st_mode & 0o7777)
        return place

    def _environment(self) -> dict[str, str]:
        """Return the environment of systemd-nspawn itself."""
        opened = any(option == "systempaths=unconfined" for option in self.service["security_opt"])
        return {"PATH": os.defpath + ":/usr/sbin:/sbin", **(OPEN_PROC if opened else {})}
