"""Credentials recognised by their form: our own patterns, those of vendors' tokens, and those of detect-secrets.

Of detect-secrets only the patterns are used: no entropy, no keywords, no settings of its own, no request to a vendor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Protocol

from shared.light_imports import standing_in
from shared.outgoing.vendor_tokens import vendor_tokens
from shared.text.redaction import CREDENTIALS

PLUGINS = {
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "mailchimp": "MailchimpDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
"""Detectors of detect-secrets whose patterns do not match ordinary code.

Left out for their noise: entropy, keywords, addresses, Basic Auth, Artifactory (`APCalculator`), Discord (dotted
names), and private keys (a header alone is none). Left out because a hostile text can make them slow: npm,
OpenAI and JSON Web Tokens, whose forms are among our own.
"""

_KEY_BODY = re.compile(r"-----\s[^-]{40,}")
"""At least this much text follows the header of a real private key; code that only looks for the header has none."""

_PLACEHOLDER = re.compile(r"example|dummy|placeholder|(?:x{6}|\*{3}|0{8}|1234567890|\.\.\.)", re.IGNORECASE)
"""Placeholders that documentation has in place of a credential."""


class _Detector(Protocol):
    secret_type: str

    def analyze_string(self, string: str) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential found in a text: its kind in words, and the credential itself, which no message may repeat."""

    kind: str
    value: str


def credentials(text: str) -> Iterator[Credential]:
    """Yield every credential in a text, except placeholders; one may be found twice."""
    for kind, pattern in CREDENTIALS.items():
        yield from (Credential(kind, found[0]) for found in pattern.finditer(text) if _is_real(kind, found[0]))
    yield from (Credential(kind, value) for kind, value in vendor_tokens(text) if _is_real(kind, value))
    for detector in _detectors():
        kind = detector.secret_type
        for value in detector.analyze_string(text):
            if value and _is_real(kind, value):
                yield Credential(kind, value)


def _is_real(kind: str, value: str) -> bool:
    if kind == "private key":
        return _KEY_BODY.search(value) is not None
    return _PLACEHOLDER.search(value) is None and len(set(value[-16:])) > 3


@cache
def _detectors() -> tuple[_Detector, ...]:
    """Import the detectors on first use, without `requests`: 9 MiB that detect-secrets needs only to ask vendors."""
    with standing_in({"requests": ModuleType("requests")}):
        modules = {name: import_module(f"detect_secrets.plugins.{name}") for name in PLUGINS}
    return tuple(getattr(module, PLUGINS[name])() for name, module in modules.items())
