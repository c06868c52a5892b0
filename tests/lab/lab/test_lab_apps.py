"""GitHub Apps in the embedded GitHub: who they are, where they work, and what their tokens reach."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from gidgethub.apps import get_jwt
from lab_scene import NAME, Scene

from lab.github.http.refusals import Refusal
from lab.github.world.accounts import HOUR, AppRecord, InstallationRecord

PERMISSIONS = {"contents": "write", "issues": "write", "checks": "write", "pull_requests": "read"}


@cache
def key(number: int) -> RSAPrivateKey:
    """Return a private key, one per number and process."""
    return generate_private_key(public_exponent=65537, key_size=2048)


def pem(private: RSAPrivateKey) -> str:
    """Return the public half as it is registered."""
    encoding, shape = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return private.public_key().public_bytes(encoding, shape).decode()


def installed(scene: Scene, *full_names: str) -> tuple[AppRecord, InstallationRecord]:
    """Install the App `engine` in the scene's repository, or in these."""
    app = scene.lab.app("engine", owner="octo", public_key=pem(key(0)), permissions=PERMISSIONS)
    return app, scene.lab.install(app, *(full_names or (NAME,)))


def signed(scene: Scene, app: AppRecord, claims: Mapping[str, Any] | None = None, *, by: int = 0) -> str:
    """Return a JSON web token of the App, valid now, with these claims changed."""
    now = int(scene.lab.clock.now())
    content = {"iat": now - 60, "exp": now + 540, "iss": str(app.id), **(claims or {})}
    return jwt.encode({name: value for name, value in content.items() if value is not None}, key(by), "RS256")


async def token(scene: Scene, app: AppRecord, installation: InstallationRecord, body: Any = None) -> Any:
    """Ask for an installation token, and return the answer."""
    scene.tokens["app"] = signed(scene, app)
    return await scene.ask("POST", f"/app/installations/{installation.id}/access_tokens", body, by="app")


async def test_an_app_finds_itself_and_its_installation(scene: Scene) -> None:
    app, installation = installed(scene)
    scene.tokens["app"] = signed(scene, app)
    me = await scene.get("/app", by="app")
    assert (me["id"], me["slug"], me["installations_count"]) == (app.id, "engine", 1)
    found = await scene.get("installation", by="app")
    assert (found["id"], found["app_id"], found["account"]["login"]) == (installation.id, app.id, "octo")
    await scene.lab.repository("octo/other", {"a": "a\n"})
    assert (await scene.ask("GET", "/repos/octo/other/installation", by="app")).status == 404


async def test_a_token_that_gidgethub_signs_is_accepted(scene: Scene) -> None:
    app, _ = installed(scene)
    private = key(0).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for issuer in (str(app.id), app.client_id):
        scene.tokens["app"] = get_jwt(app_id=issuer, private_key=private.decode())
        assert (await scene.get("/app", by="app"))["id"] == app.id


@pytest.mark.parametrize(
    ("claims", "status", "sentence"),
    [
        ({"exp": -1}, 401, "'Expiration time' claim ('exp') must be a numeric value"),
        ({"exp": None}, 401, "'Expiration time' claim ('exp') must be a numeric value"),
        ({"exp": 700}, 401, "'Expiration time' claim ('exp') is too far in the future"),
        ({"iat": 120}, 401, "'Issued at' claim ('iat') must be an Integer"),
        ({"iss": "7"}, 404, "Integration not found"),
    ],
)
async def test_claims_are_checked_by_the_servers_time(
    scene: Scene, claims: Mapping[str, Any], status: int, sentence: str
) -> None:
    app, installation = installed(scene)
    now = int(scene.lab.clock.now())
    moved = {name: now + value if isinstance(value, int) else value for name, value in claims.items()}
    scene.tokens["app"] = signed(scene, app, moved)
    refused = await scene.ask("POST", f"/app/installations/{installation.id}/access_tokens", by="app")
    assert refused.status == status
    assert refused.body["message"].startswith(sentence)


async def test_only_the_apps_own_key_signs(scene: Scene) -> None:
    app, _ = installed(scene)
    parts = (b'{"alg":"none"}', b'{"iss":"%d"}' % app.id, b"")
    unsigned = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    forged = jwt.encode({"iss": str(app.id), "exp": 9e9}, "secret" * 8, "HS256")
    for wrong in (signed(scene, app, by=1), unsigned, forged, "a.b.c", "nonsense", scene.tokens["ada"]):
        scene.tokens["wrong"] = wrong
        refused = await scene.ask("GET", "/app", by="wrong")
        assert (refused.status, refused.body["message"]) == (401, "A JSON web token could not be decoded")
    scene.tokens["app"] = signed(scene, app)
    assert (await scene.ask("GET", "issues", by="app")).status == 401


async def test_an_installation_token_works_for_an_hour(scene: Scene) -> None:
    app, installation = installed(scene)
    made = await token(scene, app, installation)
    assert (made.status, made.body["repository_selection"]) == (201, "selected")
    assert made.body["permissions"] == {**PERMISSIONS, "metadata": "read"}
    assert [one["full_name"] for one in made.body["repositories"]] == [NAME]
    scene.tokens["bot"] = made.body["token"]
    created = await scene.ask("POST", "issues", {"title": "By an App", "labels": ["a"]}, by="bot")
    assert (created.status, created.body["user"]["login"]) == (201, "engine[bot]")
    assert (created.body["performed_via_github_app"]["slug"], len(created.body["labels"])) == ("engine", 1)
    assert created.headers["github-authentication-token-expiration"].endswith(" UTC")
    scene.lab.clock.advance(HOUR)
    refused = await scene.ask("GET", "issues", by="bot")
    assert (refused.status, refused.body["message"]) == (401, "Bad credentials")


async def test_a_token_can_be_narrower_than_its_installation(scene: Scene) -> None:
    await scene.lab.repository("octo/other", {"a": "a\n"})
    app, installation = installed(scene, NAME, "octo/other")
    made = await token(scene, app, installation, {"repositories": ["other"], "permissions": {"issues": "read"}})
    assert made.body["permissions"] == {"metadata": "read", "issues": "read"}
    scene.tokens["bot"] = made.body["token"]
    for path in ("/repos/octo/other/issues", "/repos/octo/thing/issues"):
        refused = await scene.ask("POST", path, {"title": "x"}, by="bot")
        assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
    scene.lab.configure(NAME, private=True)
    scene.lab.configure("octo/other", private=True)
    assert (await scene.ask("GET", "/repos/octo/other/issues", by="bot")).status == 200
    assert (await scene.ask("GET", "/repos/octo/thing/issues", by="bot")).status == 404


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"permissions": {"administration": "write"}}, "The permissions requested are not granted"),
        ({"permissions": {"pull_requests": "write"}}, "The permissions requested are not granted"),
        ({"repositories": ["nothing"]}, "There is at least one repository that does not exist"),
        ({"repository_ids": [1]}, "There is at least one repository that does not exist"),
        ({"repositories": []}, "There is at least one repository that does not exist"),
    ],
)
async def test_a_token_cannot_be_wider(scene: Scene, body: Mapping[str, Any], sentence: str) -> None:
    app, installation = installed(scene)
    refused = await token(scene, app, installation, body)
    assert refused.status == 422
    assert refused.body["message"].startswith(sentence)
    assert not [one for one in scene.lab.world.tokens.values() if one.login == app.bot]


async def test_an_installation_of_another_app_is_not_there(scene: Scene) -> None:
    _, installation = installed(scene)
    other = scene.lab.app("other", owner="bob", public_key=pem(key(0)), permissions={})
    assert (await token(scene, other, installation)).status == 404


async def test_git_takes_an_installation_token_where_it_was_given(scene: Scene) -> None:
    app, installation = installed(scene)
    value = (await token(scene, app, installation)).body["token"]
    authorise = scene.lab.world.authorise_git
    assert authorise(value, NAME, True) == "engine[bot]"
    await scene.lab.repository("octo/other", {"a": "a\n"})
    assert authorise(value, "octo/other", False) is None
    scene.lab.clock.advance(HOUR)
    with pytest.raises(Refusal, match="Invalid username or token"):
        authorise(value, NAME, True)
