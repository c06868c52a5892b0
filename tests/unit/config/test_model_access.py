"""With which key, or which login, coding backends reach their vendors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lab.model_server import Issuer
from shared.errors import Misconfigured, MissingCredentials
from shared.llm import secrets
from shared.llm.claude import anthropic
from shared.llm.codex import openai
from shared.llm.endpoint import Endpoint

Access = Callable[[Mapping[str, str]], Endpoint]


@pytest.mark.parametrize(
    ("access", "environment", "endpoint"),
    [
        (anthropic, {"ANTHROPIC_API_KEY": " k\n", "CLAUDE_CODE_OAUTH_TOKEN": "l"}, Endpoint(None, "k")),
        (anthropic, {"ANTHROPIC_API_KEY": " ", "CLAUDE_CODE_OAUTH_TOKEN": "l"}, Endpoint(None, "l", login=True)),
        (anthropic, {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://g/a/"}, Endpoint("https://g/a", "k")),
        (openai, {"OPENAI_API_KEY": "k", "CODEX_API_KEY": "c"}, Endpoint(None, "k")),
        (openai, {"CODEX_API_KEY": "c", "OPENAI_BASE_URL": "https://g/v1/"}, Endpoint("https://g", "c")),
    ],
)
def test_the_endpoint_that_the_environment_names(
    access: Access, environment: dict[str, str], endpoint: Endpoint
) -> None:
    assert access(environment) == endpoint


@pytest.mark.parametrize(("access", "name"), [(anthropic, "ANTHROPIC_API_KEY"), (openai, "OPENAI_API_KEY")])
def test_without_a_key_the_variable_to_set_is_named(access: Access, name: str) -> None:
    with pytest.raises(MissingCredentials, match=name):
        access({"PATH": "/bin"})


@pytest.fixture
def signed_in(tmp_path: Path) -> Path:
    """Return a home with the login of ChatGPT."""
    file = tmp_path / ".codex" / "auth.json"
    file.parent.mkdir()
    file.write_text('{"tokens": {"access_token": "access", "refresh_token": "renewal", "account_id": "a"}}')
    return file


def test_without_a_key_the_login_of_codex_is_taken(signed_in: Path) -> None:
    home = {"HOME": str(signed_in.parents[1])}
    login = Endpoint(None, "access", login=True, file=signed_in)
    assert openai(home) == login
    assert openai({"HOME": "/nowhere", "CODEX_HOME": str(signed_in.parent)}) == login
    assert openai({**home, "CODEX_API_KEY": "k"}) == Endpoint(None, "k")
    assert secrets(home) == ["access", "renewal"]


def test_a_key_that_was_logged_in_with_is_a_key(signed_in: Path) -> None:
    signed_in.write_text('{"OPENAI_API_KEY": "k", "tokens": null}')
    environment = {"HOME": str(signed_in.parents[1]), "OPENAI_BASE_URL": "https://g/v1"}
    assert openai(environment) == Endpoint("https://g", "k")


def test_a_key_beside_a_chatgpt_login_is_not_billed_and_is_a_secret(signed_in: Path) -> None:
    issuer = Issuer()
    signed_in.write_text(issuer.login(key="exchanged"))
    environment = {"CODEX_HOME": str(signed_in.parent)}
    assert openai(environment) == Endpoint(None, issuer.access, login=True, file=signed_in)
    assert "exchanged" in secrets(environment)


def test_a_login_of_chatgpt_is_sent_to_nobody_else(signed_in: Path) -> None:
    home = {"HOME": str(signed_in.parents[1])}
    with pytest.raises(Misconfigured, match=r"OPENAI_BASE_URL names another server than ChatGPT.*is not sent"):
        openai({**home, "OPENAI_BASE_URL": "https://gateway.example"})
    assert openai({**home, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}).base_url == "http://127.0.0.1:1"


def test_without_a_login_it_is_said_where_one_is_looked_for() -> None:
    with pytest.raises(
        MissingCredentials, match=r"run `codex login` .* leaves a login in /home/ada/\.codex/auth\.json"
    ):
        openai({"HOME": "/home/ada"})


def test_every_key_and_login_is_a_secret() -> None:
    names = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY")
    assert sorted(secrets({name: name for name in names} | {"PATH": "/bin"})) == sorted(names)
    assert secrets({"OPENAI_API_KEY": " "}) == []
