"""The real Codex by a ChatGPT login: without a key, without the proxy, with one login that must outlive its calls."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from cli.codex_calls import shell
from cli.coding import SCHEMA, Desk, left_behind
from lab.model.script import Script
from lab.model_server import Issuer, ModelServer
from shared.llm import coder, codex_login
from shared.llm.backend import Program, Setup
from shared.llm.codex_login import Login, LoginLease
from shared.llm.endpoint import Endpoint
from shared.llm.kept_sessions import Continuation, ResumeLimits, SessionStore, session_file
from shared.llm.port import Coder, CoderCall, Ending, RunLimits, RunOutcome
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Isolation, Wrap

LOOK = "(cat {file}; cat $HOME/.codex/auth.json; cat ~/.codex/*; env) > {tree}/seen 2>&1; touch {tree}/looked"
"""A tool that looks for the login where it is and where its copy is."""


@dataclass
class Person:
    """A person with a ChatGPT login in a file, and Codex at ChatGPT."""

    desk: Desk
    issuer: Issuer
    file: Path

    @property
    def login(self) -> Login:
        """The login that the file holds now."""
        found = codex_login.read(self.file)
        assert found is not None
        return found

    def leave(self, *, over: bool = False, key: str | None = None) -> None:
        """Write the file as `codex login` does."""
        self.file.write_text(self.issuer.login(over=over, key=key))
        self.file.chmod(0o600)

    def coder(self) -> Coder:
        """Return the backend as the daemon builds it for a login."""
        server = self.desk.server.url
        renewal = {"CODEX_REFRESH_TOKEN_URL_OVERRIDE": f"{server}/oauth/token"}
        launcher = self.desk.launcher()
        launcher = replace(launcher, environment={**launcher.environment, **renewal})
        lent = LoginLease(Endpoint(server, "", login=True, file=self.file), self.file)
        return coder("codex", Setup(RealClock(), program=Program(self.desk.executable.resolve(), launcher, lent)))

    async def edit(self, **changes: Any) -> RunOutcome:
        """Run one call."""
        return await self.coder().run(self.desk.request(CoderCall.IMPLEMENT, "Do it.", **changes))


@pytest.fixture
async def person(root: Path, codex_program: Path, wrap: Wrap) -> AsyncIterator[Person]:
    """Yield a person who has just logged in."""
    (root / "tree").mkdir()
    home = root / "home of a person"
    home.mkdir()
    issuer = Issuer()
    async with ModelServer(Script(()), issuer=issuer) as server:
        known = Person(Desk(server, root, codex_program, "codex", wrap), issuer, home / "auth.json")
        known.leave()
        yield known
        assert server.unscripted == []
        assert list(known.desk.calls.iterdir()) == []
        assert sorted(path.name for path in home.iterdir()) == [".auth.json.engine-lock", "auth.json"]


@pytest.mark.parametrize("kind", [Isolation.TREE_BY_BUBBLEWRAP, Isolation.SANDBOX, Isolation.TREE_BY_UNSHARE])
async def test_it_works_without_a_key_and_its_tools_cannot_read_the_login(person: Person, kind: Isolation) -> None:
    desk, before = person.desk, person.file.read_bytes()
    desk.wrap = Wrap(kind)
    desk.script(
        shell(LOOK.format(file=shlex.quote(str(person.file)), tree=shlex.quote(str(desk.tree)))), {"say": "Done."}
    )
    outcome = await person.edit()
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")
    assert {seen.path for seen in desk.server.journal} == {"/backend-api/codex/responses"}
    assert {seen.token for seen in desk.server.journal} == {person.issuer.access}
    assert (desk.tree / "looked").exists()
    found = (desk.tree / "seen").read_text(errors="replace")
    assert "PATH=" in found
    assert "c4n4ry" not in found
    assert person.issuer.access not in found
    assert (person.issuer.renewals, person.file.read_bytes()) == (0, before)


@pytest.mark.parametrize("kind", [Isolation.TREE_BY_BUBBLEWRAP, Isolation.SANDBOX, Isolation.TREE_BY_UNSHARE])
async def test_a_login_behind_a_link_works_and_cannot_be_read_by_either_name(person: Person, kind: Isolation) -> None:
    desk, real = person.desk, person.file
    person.leave(key="sk-c4n4ry-exchanged")  # beside a ChatGPT login it is not used
    person.file = desk.root / "dot" / "auth.json"
    person.file.parent.mkdir()
    person.file.symlink_to(real)
    desk.wrap = Wrap(kind)
    names = f"{shlex.quote(str(person.file))}; cat {shlex.quote(str(real))}"
    look = LOOK.format(file=names, tree=shlex.quote(str(desk.tree)))
    desk.script(shell(look), {"say": "Done."})
    outcome = await person.edit()
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")
    assert {seen.token for seen in desk.server.journal} == {person.issuer.access}
    assert (desk.tree / "looked").exists()
    assert "c4n4ry" not in (desk.tree / "seen").read_text(errors="replace")


async def test_a_question_cannot_be_used_to_read_the_login(person: Person) -> None:
    desk = person.desk
    answer = {"answer": {"verdict": "approve", "why": None}}
    file, mark = shlex.quote(str(person.file)), shlex.quote(str(desk.tree / "x"))
    desk.script(shell(f"cat {file} ~/.codex/auth.json; touch {mark}; echo look$((1 + 1))"), answer)
    request = desk.request(CoderCall.REVIEW, "Review it.", schema=SCHEMA)
    outcome = await person.coder().run(request)
    assert (outcome.ending, outcome.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    told = json.dumps(desk.server.journal[-1].body)
    assert "look2" in told
    assert "c4n4ry" not in told
    assert list(desk.tree.iterdir()) == []


async def test_calls_at_once_renew_the_login_once_and_it_is_brought_back(person: Person) -> None:
    person.leave(over=True)
    person.desk.script(shell("true"), {"say": "Done."})
    outcomes: list[RunOutcome] = []

    async def call() -> None:
        outcomes.append(await person.edit())

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(call)
    assert [one.ending for one in outcomes] == [Ending.COMPLETED] * 3, outcomes
    assert (person.issuer.renewals, person.issuer.ended) == (1, False)
    assert (person.login.renewal, person.login.access) == ("rt-c4n4ry-1", person.issuer.access)
    assert person.file.stat().st_mode & 0o777 == 0o600
    assert json.loads(person.file.read_text())["auth_mode"] == "chatgpt"


@pytest.mark.fault(23)
async def test_what_a_stopped_call_has_renewed_is_brought_back_too(person: Person) -> None:
    person.leave(over=True)
    person.desk.script(shell("sleep 600"))
    outcome = await person.edit(limits=RunLimits(deadline_seconds=5))
    assert outcome.ending is Ending.TIMED_OUT
    assert await left_behind(person.desk.root) == []
    assert (person.issuer.renewals, person.login.renewal) == (1, "rt-c4n4ry-1")


@pytest.mark.fault(22)
async def test_a_login_that_has_ended_is_a_matter_of_signing_in(person: Person) -> None:
    person.leave(over=True)
    person.issuer.renewals = 1
    person.desk.script({"say": "Done."})
    outcome = await person.edit()
    assert outcome.ending is Ending.AUTH, outcome
    assert person.login.renewal == "rt-c4n4ry-0"


async def test_a_session_goes_on_by_a_login_and_one_that_is_no_session_begins_anew(person: Person) -> None:
    """Each call borrows the login anew, also the second call of a request."""
    desk = person.desk
    desk.script({"say": "All written."})
    store = SessionStore(desk.root / "state" / "sessions", RealClock(), ResumeLimits())
    file = session_file(store.root / "ada__directory" / "issue-1" / "worker-1", "implement")

    async def call() -> RunOutcome:
        continues = Continuation(store, file, "text", store.read(file), "TOLD.")
        outcome = await person.edit(continues=continues)
        continues.leave("t1")
        return outcome

    first = await call()
    second = await call()
    assert ([first.ending, second.ending], [first.resumed, second.resumed]) == (2 * [Ending.COMPLETED], [None, 300])
    assert second.usage == first.usage
    kept = store.read(file)
    assert kept is not None
    assert person.issuer.access.encode() not in kept.found.content
    store.write(file, replace(kept, found=replace(kept.found, content=b"another format\n")))
    third = await call()
    assert (third.ending, third.resumed, third.usage) == (Ending.COMPLETED, None, first.usage)
    assert len(desk.server.journal) == 3
