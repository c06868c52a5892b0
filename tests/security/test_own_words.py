"""An agent's own reports of a failure: tracebacks, and its objects as text, contain no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import structlog
from engine import REPOSITORY
from logging_scene import logging_as_before
from pydantic import SecretStr

from config.collector import collector
from config.credentials import signing_keys
from config.engine import NotifySettings
from config.loading import load
from config.observability import EventSettings
from config.settings import Settings
from config.state import StateDirectory
from runtime.building.process import Process, ProcessSecrets
from security.canaries import Canaries
from security.detector import FORMS, Detector
from shared.escalation.delivery import Webhook
from shared.llm.claude import anthropic
from shared.llm.proxy.api_protocols import ApiProtocol, Upstream
from shared.loop.real_clock import RealClock
from shared.outgoing.outbound_filter import Outgoing
from shared.telemetry.logging import configure
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role


@pytest.fixture
def canaries(tmp_path: Path) -> Canaries:
    place = tmp_path / "secrets"
    place.mkdir(mode=0o700)
    return Canaries(place)


def settings_of(canaries: Canaries, **github: object) -> Settings:
    """Return a configuration that names every kind of secret."""
    settings = {
        "repositories": [{"name": REPOSITORY}],
        "state_dir": str(canaries.place / "state"),
        "github": github,
        "lock": {"key_files": [str(canaries.file("lock.key", canaries.lock_key * 2))]},
        "notify": {
            "webhook": f"https://hooks.example.org/{canaries.webhook_path}",
            "webhook_secret_file": str(canaries.file("webhook.secret", canaries.webhook_secret)),
            "smtp": f"smtp://engine:{canaries.mail_password}@127.0.0.1:9",
            "sender": "engine@example.org",
            "to": ["ada@example.org"],
        },
        "webhook": {"port": 0, "secret_file": str(canaries.file("hook.secret", canaries.hook_secret))},
        "events": {"url": f"postgresql://engine:{canaries.database_password}@127.0.0.1:9/engine"},
        "telemetry": {"otlp_endpoint": "http://127.0.0.1:9"},
    }
    path = canaries.file("config.yml", json.dumps(settings))
    return load(path, repository=None, environment=canaries.environment)


@pytest.fixture
def processes(canaries: Canaries) -> tuple[Process, ...]:
    """Return the processes of a worker that signs in by a token, and of one that is an App."""
    app = {"app": {"id": 1, "private_key_file": str(canaries.file("app.pem", canaries.pem))}}
    made = []
    for name, github in (("by-token", {}), ("by-app", app)):
        settings = settings_of(canaries, **github)
        with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER, name) as identity:
            made.append(Process(settings, Role.WORKER, RealClock(), identity, canaries.environment))
    return tuple(made)


def named(canaries: Canaries) -> Mapping[str, str]:
    """Return the secrets that an agent knows, one line of the App's key for all; a cloud key is not among them."""
    left_out = re.compile(r"cloud key|App key, line (?!7$)\d+")
    return {name: value for name, value in canaries.named({}).items() if not left_out.fullmatch(name)}


def test_every_secret_of_a_process_is_known_to_it(canaries: Canaries, processes: tuple[Process, ...]) -> None:
    known = [word for process in processes for word in process.secrets.known()]
    assert [name for name, value in named(canaries).items() if not any(value in word for word in known)] == []


@pytest.mark.parametrize(
    ("webhook", "password", "secret", "ordinary"),
    [
        ("https://www.example.org/in/Qz81kLmNp0aB", "password", ["Qz81kLmNp0aB"], "https://www.example.org password"),
        (
            "https://api.telegram.org/bot4711:AAx9Zq0k/sendMessage",
            "postgres",
            ["bot4711:AAx9Zq0k"],
            "https://api. postgres",
        ),
        (
            "https://chat.example.org/api/webhooks/90817263544536271/t0p-S3cr3t-w0rd",
            "x7",
            ["t0p-S3cr3t-w0rd"],
            "/api/webhooks/",
        ),
        (
            "https://x.example/hook?id=7&key=Yb28Qk55mmPt",
            "p%40ss%20word",
            ["Yb28Qk55mmPt", "p@ss word"],
            "/hook?id= word",
        ),
        (
            "https://ntfy.example/our-topic",
            "correcthorsebattery",
            ["/our-topic", "correcthorsebattery"],
            "https://ntfy.example",
        ),
    ],
)
def test_of_an_address_only_what_is_secret_is_hidden(
    canaries: Canaries, webhook: str, password: str, secret: list[str], ordinary: str
) -> None:
    notify = NotifySettings(webhook=SecretStr(webhook))
    events = EventSettings(url=SecretStr(f"postgresql://engine:{password}@db.example/engine"))
    changed = settings_of(canaries).model_copy(update={"notify": notify, "events": events})
    gate = Outgoing(ProcessSecrets(changed, Role.WORKER, canaries.environment).known())
    assert [value for value in secret if gate.leak(f"It is {value}.") is None] == []
    assert gate.hide(f"See {ordinary}") == f"See {ordinary}"


def logged(value: str) -> str:
    """Log a secret, written in each form, as a library's error would hold it; return what was logged."""
    log, raw = structlog.get_logger(), ""
    for form, write in FORMS.items():
        request = f"POST /x headers={{'Authorization': 'token {write(value.encode()).decode('latin-1')}'}}"
        raw += f"{form}: {request}\n"
        try:
            try:
                raise OSError(request)
            except OSError as error:
                raise RuntimeError("the request failed", request) from error
        except RuntimeError as error:
            log.exception("tick_failed", request=request, error=repr(error))
    return raw


@pytest.mark.parametrize("as_json", [True, False])
def test_no_traceback_tells_a_secret(
    canaries: Canaries, processes: tuple[Process, ...], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library may raise with the whole request in its message, in whatever form."""
    secrets = named(canaries)
    with logging_as_before():
        configure(json=as_json, verbose=True, secrets=[word for one in processes for word in one.secrets.known()])
        raw = "".join(map(logged, secrets.values()))
    said = capsys.readouterr().err
    detector = Detector(secrets)
    assert said.count("tick_failed") == len(secrets) * len(FORMS)
    assert "RuntimeError" in said
    assert detector.found(said.encode()) == frozenset()
    assert {name.rpartition(" (")[0] for name in detector.found(raw.encode())} == set(secrets), "the control"


def test_nothing_of_a_process_tells_a_secret_as_text(canaries: Canaries, processes: tuple[Process, ...]) -> None:
    process, as_app = processes
    keys = Keyring(1, tuple(Key.of(key) for key in signing_keys(process.settings.lock)))
    access = anthropic(canaries.environment)
    as_app.secrets.token()
    held = [
        *(one for each in processes for one in (each, each.settings, each.secrets, each.outgoing, each.outbox)),
        *(process.settings.notify, process.settings.events, process.settings.webhook, process.telemetry),
        *(keys, *keys.keys, access, collector(process.settings.telemetry, canaries.environment)),
        Webhook(f"https://x/{canaries.webhook_path}", canaries.webhook_secret.encode(), dict),  # type: ignore[arg-type]
        Upstream(ApiProtocol.ANTHROPIC, "https://x", access.token),
    ]
    detector = Detector(canaries.named({}))
    for one in held:
        for text in (repr(one), str(one), f"{one}", f"{[one]!r}", "{!r}".format({"x": one})):
            assert detector.found(text.encode()) == frozenset(), type(one).__name__
    for text in (process.settings.model_dump_json(), str(process.settings.model_dump())):
        assert detector.found(text.encode()) == frozenset()
    assert detector.found(repr(dict(canaries.environment)).encode()), "the control"
