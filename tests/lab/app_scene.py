"""The engine as two GitHub Apps: one writes, the other reviews, and GitHub tells of neither that it may write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from engine import REPOSITORY, WRITES, Engine

WRITER, REVIEWER, STRANGER = "engine[bot]", "engine-reviewer[bot]", "helpful[bot]"


@dataclass(frozen=True, slots=True)
class Registered:
    """An App as its owner knows it: its number, the file with its key, and the number of its bot."""

    id: int
    key: Path
    account: int


def register(engine: Engine, slug: str) -> Registered:
    """Register an App with everything that the engine needs, and install it."""
    key = generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    app = engine.lab.app(slug, owner="ada", public_key=public.decode(), permissions=WRITES)
    engine.lab.install(app, REPOSITORY)
    file = engine.directory / f"{slug}.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    file.chmod(0o600)
    return Registered(app.id, file, engine.lab.account(app.bot).id)


def as_two_apps(engine: Engine, *, known: bool = True) -> None:
    """Let the agents sign in as two Apps; `known` says whether `github.accounts` names them. A third is installed."""
    writer, reviewer = register(engine, "engine"), register(engine, "engine-reviewer")
    register(engine, "helpful")
    engine.more_settings["github"] = {
        "api_url": engine.lab.url,
        "write_interval_seconds": 0.0,
        "app": {"id": writer.id, "private_key_file": writer.key},
        "reviewer_app": {"id": reviewer.id, "private_key_file": reviewer.key},
        "accounts": [writer.account, reviewer.account] if known else [],
    }
