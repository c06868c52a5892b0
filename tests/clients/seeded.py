"""A repository with what the API cannot make: branches, a red run of CI, a protected branch, an App and its key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from lab_scene import FILES, WORK, Scene

from lab.github.server import CHECK_NAME
from lab.github.world.repository import Protection

NAME = "octo/built"
PROTECTED = "release"
RED = "echo 'src/new.txt:1: error: line too long'; exit 1"
"""The command of its CI."""


@dataclass(frozen=True)
class Seeds:
    """The ids of what was made: two branches' commits, the red run on `main`, the App and its key (PEM)."""

    main: str
    work: str
    job: int
    run: int
    app: int
    installation: int
    private_key: str


async def seed(scene: Scene) -> Seeds:
    """Make the branches `work`, `next`, `behind` (main has moved on since) and `release`; CI found all of them red."""
    built = await scene.lab.repository(NAME, FILES, collaborators={"ada": "write"}, check_command=RED)
    there = replace(scene, repository=built)
    await there.commit("behind", {"behind.txt": "behind\n"})
    main = await there.commit("main", {"src/new.txt": "new\n"})
    work, *_ = [await there.commit(name, {f"{name}.txt": "1\n2\n3\n"}) for name in ("work", "next", PROTECTED)]
    scene.lab.configure(NAME, protections={PROTECTED: Protection(checks=(CHECK_NAME,), approvals=1)})
    await scene.lab.idle()
    (job,) = built.checks.of(main)
    private, public = _key_pair()
    app = scene.lab.app("engine", owner="octo", public_key=public, permissions={**WORK, "checks": "write"})
    return Seeds(main, work, job.id, job.run_id, app.id, scene.lab.install(app, NAME).id, private)


def _key_pair() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()
