"""With which key, or which login, coding backends reach their vendors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from config.credentials import MissingCredentials
from config.model_access import anthropic, model_secrets, openai
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


def test_a_login_of_codex_is_said_to_be_of_no_use() -> None:
    with pytest.raises(MissingCredentials, match=r"ChatGPT login .* is not used; docs/backends\.md"):
        openai({"HOME": "/home/ada"})


def test_every_key_and_login_is_a_secret() -> None:
    names = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY")
    assert sorted(model_secrets({name: name for name in names} | {"PATH": "/bin"})) == sorted(names)
    assert model_secrets({"OPENAI_API_KEY": " "}) == []
