"""Certificates that nobody vouches for and proxies that do not answer: refused, and said so in one sentence."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer, TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from fakes.clock import PassingClock
from github_script import NOW

from shared.errors import Transient, UnknownOutcome
from shared.git.command import Git
from shared.git.mirror import Mirror
from shared.github.client import GitHub
from shared.github.errors import NeverSent
from shared.github.limits import Pacing
from shared.lock.write_permit import OperatorPermit

LONG = timedelta(days=15000)


@dataclass
class Server:
    """An https server with a certificate of its own making, and how often it was asked something."""

    url: str
    certificate: Path
    asked: int = 0


def certify(directory: Path, *, until: datetime) -> tuple[Path, Path]:
    """Make a key and a self-signed certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - LONG)
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (directory / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    (directory / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return directory / "key.pem", directory / "certificate.pem"


@asynccontextmanager
async def served(directory: Path, *, until: datetime = NOW + LONG) -> AsyncIterator[Server]:
    key, certificate = certify(directory, until=until)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    here = Server("", certificate)

    async def answer(request: web.Request) -> web.Response:
        here.asked += 1
        return web.json_response({})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=context)
    here.url = f"https://127.0.0.1:{server.port}"
    try:
        yield here
    finally:
        await server.close()


@asynccontextmanager
async def client(url: str, *, proxy: str | None = None, trusting: Path | None = None) -> AsyncIterator[GitHub]:
    async def token() -> str:
        return "canary-token"

    clock = PassingClock()
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=trusting))
    async with aiohttp.ClientSession(connector=connector, proxy=proxy) as session:
        yield GitHub(session, token=token, api_url=url, clock=clock, pacing=Pacing(clock))


def closed_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.fault(46)
@pytest.mark.parametrize(
    ("years", "known", "reason"), [(40, False, "self-signed certificate"), (0, True, "has expired")]
)
async def test_a_certificate_that_is_not_trusted_is_refused_in_one_sentence(
    tmp_path: Path, years: int, known: bool, reason: str
) -> None:
    async with served(tmp_path, until=NOW + timedelta(days=365 * years)) as server:
        async with client(server.url, trusting=server.certificate if known else None) as github:
            for call in (partial(github.get, "/x"), partial(github.write, "POST", "/x", {}, OperatorPermit("test"))):
                with pytest.raises(NeverSent, match=rf"of 127\.0\.0\.1 is not trusted: .*{reason}") as caught:
                    await call()
                assert "SSL_CERT_FILE" in str(caught.value)
                assert not isinstance(caught.value, UnknownOutcome)
        assert server.asked == 0


@pytest.mark.fault(46)
@pytest.mark.parametrize("variables", [{}, {"GIT_SSL_NO_VERIFY": "1"}, {"GIT_CONFIG_GLOBAL": "config"}])
async def test_git_trusts_no_such_certificate_whatever_its_surroundings_say(
    tmp_path: Path, variables: Mapping[str, str]
) -> None:
    config = tmp_path / "config"
    config.write_text("[http]\n\tsslVerify = false\n")
    told = {name: str(config) if value == "config" else value for name, value in variables.items()}
    async with served(tmp_path) as server:
        mirror = Mirror(Git(tmp_path / "m.git", {"PATH": os.environ["PATH"], **told}), f"{server.url}/ada/thing.git")
        with pytest.raises(Transient, match="certificate"):
            await mirror.ensure()
        assert server.asked == 0


@pytest.mark.fault(46)
async def test_an_authority_named_in_the_environment_is_trusted(tmp_path: Path) -> None:
    """The positive control: with the certificate in SSL_CERT_FILE the same server answers."""
    async with served(tmp_path) as server:
        async with client(server.url, trusting=server.certificate) as github:
            assert await github.get("/x") == {}
        assert server.asked == 1
        environment = {"PATH": os.environ["PATH"], "SSL_CERT_FILE": str(server.certificate)}
        mirror = Mirror(Git(tmp_path / "m.git", environment), f"{server.url}/ada/thing.git")
        with pytest.raises(Transient, match="not one of git"):
            await mirror.ensure()
        assert server.asked > 1


@pytest.mark.fault(46)
async def test_a_proxy_that_is_down_is_named_without_its_password() -> None:
    port = closed_port()
    async with client("https://api.github.invalid", proxy=f"http://ada:canary@127.0.0.1:{port}") as github:
        for refused in (github.get("/x"), github.write("PUT", "/x", {}, OperatorPermit("test"))):
            with pytest.raises(NeverSent, match=rf"The proxy 127\.0\.0\.1:{port} cannot be reached") as caught:
                await refused
            assert "canary" not in str(caught.value)


@pytest.mark.fault(46)
async def test_a_proxy_that_refuses_is_told_apart() -> None:
    async def refuse(request: web.BaseRequest) -> web.Response:
        return web.Response(status=407, reason="Proxy Authentication Required")

    async with (
        RawTestServer(refuse) as server,
        client("https://api.github.invalid", proxy=str(server.make_url(""))) as github,
    ):
        with pytest.raises(NeverSent, match=r"The proxy refused to connect to GitHub: 407"):
            await github.write("POST", "/x", {}, OperatorPermit("test"))


@pytest.mark.fault(46)
async def test_git_names_a_proxy_that_is_down(tmp_path: Path) -> None:
    port = closed_port()
    environment = {"PATH": os.environ["PATH"], "https_proxy": f"http://127.0.0.1:{port}"}
    mirror = Mirror(Git(tmp_path / "m.git", environment), "https://github.invalid/ada/thing.git")
    with pytest.raises(Transient, match=rf"Failed to connect to 127\.0\.0\.1 port {port}"):
        await mirror.ensure()


@pytest.mark.fault(46)
def test_nothing_switches_verification_off() -> None:
    """There is no place in the program where certificates are not checked."""
    root = Path(__file__).parents[3]
    rooms = ("shared", "config", "console", "worker_agent", "reviewer_agent", "planner_agent")
    switches = ("ssl=False", "verify=False", "CERT_NONE", "check_hostname = False", "_create_unverified", "sslVerify")
    texts = [(path, path.read_text()) for room in rooms for path in (root / room).rglob("*.py")]
    assert texts
    assert [(path, switch) for path, text in texts for switch in switches if switch in text] == []
