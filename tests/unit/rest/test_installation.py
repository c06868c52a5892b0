"""The tokens of an App for several repositories: one that it cannot reach is left out, and the others go on."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from fakes.clock import PassingClock
from structlog.testing import capture_logs

from shared.errors import Misconfigured
from shared.github.client import GitHub
from shared.github.errors import NotFound, Refused
from shared.github.tokens import SPREADING_SECONDS, Installation
from shared.lock.write_permit import WritePermit

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


class App:
    """GitHub as an App sees it: where it is `installed`, which names it `answers` to, and what it was asked."""

    def __init__(self, installed: Collection[str], answers: Collection[str] = ()) -> None:
        self.installed, self.answers = set(installed), {*installed, *answers}
        self.server_time = NOW
        self.clock = PassingClock()
        self.status = 422
        self.reads: list[str] = []
        self.wishes: list[list[str]] = []

    async def get(self, path: str) -> dict[str, int]:
        name = path.removeprefix("/repos/").removesuffix("/installation")
        self.reads.append(name)
        if name not in self.answers:
            raise NotFound(f"GitHub does not find {name}")
        return {"id": 7}

    async def write(self, method: str, path: str, body: dict[str, list[str]], permit: WritePermit) -> dict[str, str]:
        assert (method, path) == ("POST", "/app/installations/7/access_tokens")
        self.wishes.append(body["repositories"])
        if not {f"o/{name}" for name in body["repositories"]} <= self.installed:
            raise Refused("POST access_tokens", self.status, "There is at least one repository that does not exist")
        expires = self.server_time + timedelta(hours=1)
        return {"token": f"t{len(self.wishes)}", "expires_at": expires.isoformat()}


def tokens(app: App, *names: str) -> Installation:
    return Installation(cast(GitHub, app), names)


async def test_one_that_is_gone_is_left_out_and_said_once() -> None:
    app = App({"o/a", "o/b", "o/c"})
    source = tokens(app, "o/a", "o/b", "o/c")
    assert await source() == "t1"
    app.installed.remove("o/b")
    app.answers.remove("o/b")
    with capture_logs() as logs:
        for _ in range(2):
            app.server_time += timedelta(hours=1)
            app.wishes.clear()
            assert await source() == "t2"
            assert app.wishes == [["a", "b", "c"], ["a", "c"]]
    assert [(one["event"], one["repositories"]) for one in logs] == [("repositories_without_token", ["o/b"])]
    await source.admit("o/a")
    with pytest.raises(Misconfigured, match="not installed in o/b"):
        await source.admit("o/b")


async def test_any_repository_tells_the_installation() -> None:
    app = App({"o/b", "o/c"})
    source = tokens(app, "o/a", "o/b", "o/c")
    assert await source() == "t1"
    assert (app.reads, app.wishes) == (["o/a", "o/b"], [["b", "c"]]), "what does not answer is not asked for"
    with pytest.raises(Misconfigured, match="not installed in o/a"):
        await source.admit("o/a")


async def test_one_that_was_renamed_answers_and_is_left_out_all_the_same() -> None:
    app = App({"o/a"}, answers={"o/old"})
    source = tokens(app, "o/old", "o/a")
    assert await source() == "t5"
    assert app.wishes == [["old", "a"], ["old", "a"], ["old"], ["a"], ["a"]]


async def test_one_that_is_back_is_admitted_with_another_token() -> None:
    app = App({"o/a"})
    source = tokens(app, "o/a", "o/b")
    before = await source()
    app.installed.add("o/b")
    app.answers.add("o/b")
    await source.admit("o/b")
    assert app.wishes[-1] == ["a", "b"]
    assert await source() != before
    asked = len(app.wishes), len(app.reads)
    await source.admit("o/b")
    assert (len(app.wishes), len(app.reads)) == asked


async def test_with_none_left_it_says_where_to_install_it() -> None:
    with pytest.raises(Misconfigured, match="not installed in o/a"):
        await tokens(App(()), "o/a", "o/b")()
    with pytest.raises(Misconfigured, match="not installed in o/a"):
        await tokens(App((), answers={"o/a"}), "o/a")()


async def test_another_refusal_is_no_missing_repository() -> None:
    app: Any = App((), answers={"o/a"})
    app.status = 400
    with pytest.raises(Refused):
        await tokens(app, "o/a")()
    assert len(app.wishes) == 1


async def test_a_young_token_is_given_time_and_no_other_one_is_made() -> None:
    app = App({"o/a"})
    source, began = tokens(app, "o/a"), app.clock.boot()
    token = await source()
    while await source.renew(token):
        assert await source() == token
    assert SPREADING_SECONDS <= app.clock.boot() - began < 2 * SPREADING_SECONDS
    assert len(app.wishes) == 1
    assert await source() != token, "the next try, minutes later, is one with another token"


async def test_a_token_that_has_worked_and_is_refused_is_replaced_once_by_many() -> None:
    app = App({"o/a"})
    source = tokens(app, "o/a")
    token = await source()
    app.clock.seconds += 60
    renewed = [await source.renew(token) for _ in range(3)]
    assert renewed == [True, True, True]
    assert {await source() for _ in range(3)} == {"t2"}
    assert app.clock.slept == []


async def test_a_token_that_was_refused_when_young_and_has_worked_since_is_replaced_too() -> None:
    app = App({"o/a"})
    source = tokens(app, "o/a")
    assert await source.renew(await source())
    app.clock.seconds += 600
    assert await source.renew(await source())
    assert await source() == "t2"
