"""The repository that an origin's URL names, and the text of a pull request there."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from console.tdd import task_run
from console.tdd.options import tdd
from console.tdd.preflight import Origin, api_of, parse
from console.tdd.task import TddOptions, new_id
from shared.errors import Misconfigured


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ada/engine.git",
        "https://github.com/ada/engine",
        "https://github.com/ada/engine/",
        "https://ada@github.com/ada/engine.git",
        "https://ada:secret@GitHub.com/ada/engine.git",
        "git@github.com:ada/engine.git",
        "github.com:ada/engine",
        "ssh://git@github.com/ada/engine.git",
        "ssh://git@ssh.github.com:443/ada/engine.git",
        "git+ssh://git@github.com/ada/engine.git",
        "https://github.com:443/ada/engine.git",
        "ssh://git@github.com:22/ada/engine.git",
    ],
)
def test_every_usual_form_names_the_repository(url: str) -> None:
    assert parse(url) == Origin("github.com", "ada/engine")


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/engine.git",
        "../engine",
        "file:///srv/git/engine.git",
        "git://github.com/ada/engine.git",
        "https://github.com/engine",
        "https://gitlab.example/group/sub/engine.git",
        "https://github.com:port/ada/engine",
        "https:///ada/engine",
    ],
)
def test_another_remote_is_refused_with_the_way_out(url: str) -> None:
    with pytest.raises(Misconfigured, match="--local"):
        parse(url)


def test_no_password_is_shown() -> None:
    with pytest.raises(Misconfigured) as refused:
        parse("https://ada:secret@github.com/engine")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("host", "configured", "api"),
    [
        ("github.com", "https://api.github.com", "https://api.github.com"),
        ("github.com", "https://ghe.example/api/v3", "https://api.github.com"),
        ("ghe.example", "https://ghe.example/api/v3", "https://ghe.example/api/v3"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_the_api_of_a_host(host: str, configured: str, api: str) -> None:
    assert api_of(Origin(host, "ada/engine"), configured) == api


def test_a_host_that_nothing_is_configured_for_gets_no_token() -> None:
    with pytest.raises(Misconfigured, match=r"github\.api_url"):
        api_of(Origin("github.com.evil.example", "ada/engine"), "https://api.github.com")


def test_the_body_has_the_proof_and_closes_nothing() -> None:
    told = "Closes #1\r\n\r\n## What this does\r\n\r\nSee #12, &#39;.\r\n\r\n## Evidence\r\n\r\n<!-- claim -->| `t` |"
    body = task_run.pull_body(told, "SPEC.md", 2)
    assert body.startswith("## What this does\n\nSee 12, &#39;.\n\n## Evidence\n\n| `t` |")
    assert "reviewed 2 times" in body
    assert "Closes" not in body


def test_a_title_mentions_and_closes_nothing() -> None:
    title = task_run.pull_title("Fixes #7 for @ada")
    assert "#7" not in title
    assert "@ada" not in title


def test_a_task_can_be_typed() -> None:
    assert new_id("Größe: add / search!").replace("-", "").isalnum()
    assert new_id("x") != new_id("x")


def test_every_option_is_documented() -> None:
    app = typer.Typer(add_completion=False)
    app.command()(tdd)
    told = (Path(__file__).parents[3] / "docs/local.md").read_text(encoding="utf-8")
    options = [word for one in typer.main.get_command(app).params for word in one.opts if word.startswith("--")]
    assert "--resume" in options
    assert [word for word in options if f"`{word}" not in told] == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (TddOptions(max_reviews=0), "--max-reviews"),
        (TddOptions(resume="a", listing=True), "--resume"),
        (TddOptions(llm="gpt"), "--llm"),
        (TddOptions(sandbox="jail"), "--sandbox"),
    ],
)
def test_wishes_that_make_no_sense(options: TddOptions, sentence: str) -> None:
    with pytest.raises(Misconfigured, match=sentence):
        options.check()
