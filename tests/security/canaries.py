"""The secrets of one machine: planted where the documentation says that they belong, each with a name and a value.

`python -m tests.security.canaries DIR...` searches the directories that whole runs of tests have left (`ladder`).
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

FRAME = "-----"


def _made(kind: str) -> str:
    return f"c4n4ry{kind}{secrets.token_hex(12)}"


@dataclass(frozen=True)
class Canaries:
    """The secrets of one machine, which may be found only in `place`, a directory that holds nothing else."""

    place: Path
    app_key: RSAPrivateKey = field(default_factory=lambda: generate_private_key(public_exponent=65537, key_size=2048))
    model_key: str = field(default_factory=lambda: f"sk-ant-api03-{_made('Model')}")
    stray_token: str = field(default_factory=lambda: f"ghp_{secrets.token_hex(18)}")
    cloud_key: str = field(default_factory=lambda: _made("Cloud"))
    lock_key: str = field(default_factory=lambda: _made("Lock"))
    webhook_secret: str = field(default_factory=lambda: _made("Hook"))
    webhook_path: str = field(default_factory=lambda: _made("Path"))
    mail_password: str = field(default_factory=lambda: _made("Mail"))
    hook_secret: str = field(default_factory=lambda: _made("Sign"))
    database_password: str = field(default_factory=lambda: _made("Data"))
    collector_key: str = field(default_factory=lambda: _made("Otel"))

    @property
    def pem(self) -> str:
        """The App's private key as a file holds it."""
        encoding, shape = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        return self.app_key.private_bytes(encoding, shape, serialization.NoEncryption()).decode()

    @property
    def public_pem(self) -> str:
        """The App's public key, which GitHub knows."""
        shape = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.app_key.public_key().public_bytes(serialization.Encoding.PEM, shape).decode()

    def file(self, name: str, text: str) -> Path:
        """Write a file that only its owner may read."""
        path = self.place / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="ascii")
        return path

    @property
    def environment(self) -> Mapping[str, str]:
        """The agents' environment, with variables that they do not want as well."""
        return {
            "ANTHROPIC_API_KEY": self.model_key,
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "GITHUB_TOKEN": self.stray_token,
            "AWS_SECRET_ACCESS_KEY": self.cloud_key,
            "OTEL_EXPORTER_OTLP_HEADERS": f"api-key={self.collector_key}",
        }

    def named(self, tokens: Mapping[str, str]) -> Mapping[str, str]:
        """Return every secret by name, with `tokens`, which GitHub has made."""
        lines = [line for line in self.pem.splitlines() if FRAME not in line and len(line) >= 20]
        return {
            "model key": self.model_key,
            "stray token": self.stray_token,
            "cloud key": self.cloud_key,
            "lock key": self.lock_key,
            "webhook secret": self.webhook_secret,
            "webhook address": self.webhook_path,
            "mail password": self.mail_password,
            "secret of GitHub's webhook": self.hook_secret,
            "database password": self.database_password,
            "collector's key": self.collector_key,
            **{f"App key, line {number}": line for number, line in enumerate(lines)},
            **tokens,
        }


if __name__ == "__main__":
    from .ladder import search

    sys.exit(search([Path(argument) for argument in sys.argv[1:]]))
