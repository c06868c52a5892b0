"""A lab with one repository, three people and plain HTTP calls in their names, for the lab's own tests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from judge import Judge

from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord

NAME = "octo/thing"
LETTERS = "".join(f"{letter}\n" for letter in "abcdefghijkl")
FILES = {"README.md": "# Thing\n", "src/letters.txt": LETTERS}

WORK = {
    **dict.fromkeys(("contents", "issues", "pull_requests", "actions", "statuses"), "write"),
    **dict.fromkeys(("metadata", "checks"), "read"),
}
READ = dict.fromkeys(WORK, "read")


@dataclass(frozen=True)
class Answer:
    """One answer of the lab."""

    status: int
    body: Any
    headers: Mapping[str, str]
    text: str

    def link(self, rel: str) -> str | None:
        """Return the address of a related page."""
        for part in self.headers.get("Link", "").split(", "):
            if part.endswith(f'rel="{rel}"'):
                return part[1 : part.index(">")]
        return None


@dataclass
class Scene:
    """`octo` owns the repository, `ada` may write, `bob` is a stranger; `reader` is ada's read-only token."""

    lab: Lab
    repository: RepositoryRecord
    http: aiohttp.ClientSession
    tokens: dict[str, str]

    async def ask(
        self, method: str, path: str, body: Any = None, *, by: str = "ada", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request; a path without leading slash continues the repository's, a whole URL is taken as it is."""
        url = path if path.startswith("http") else f"{self.lab.url}{path}"
        if path == "" or path[0] not in "/h":
            url = f"{self.lab.url}/repos/{NAME}{'/' if path else ''}{path}"
        sent = {"Authorization": f"Bearer {self.tokens[by]}", **(headers or {})}
        async with self.http.request(method, url, json=body, headers=sent, allow_redirects=False) as answer:
            text = await answer.text()
            is_json = answer.content_type == "application/json" and text
            return Answer(answer.status, json.loads(text) if is_json else None, answer.headers, text)

    async def get(self, path: str, *, by: str = "ada") -> Any:
        """Read a path that must exist, and return the body."""
        answer = await self.ask("GET", path, by=by)
        assert answer.status == 200, answer.text
        return answer.body

    async def commit(self, branch: str, files: Mapping[str, str], *, onto: str = "main") -> str:
        """Make one more commit on a branch, as by a push; return the branch's new tip."""
        start = f"refs/heads/{onto}" if await self.repository.bare.sha(f"refs/heads/{branch}") is None else ""
        origin = start or f"refs/heads/{branch}^0"
        parts = [f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> now\ndata 6\nChange\nfrom {origin}\n"]
        parts += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
        async with self.repository.bare.changing("ada"):
            stream = "".join(parts).encode()
            await self.repository.bare.git.check("fast-import", "--quiet", "--date-format=now", stdin=stream)
        tip = await self.repository.bare.sha(f"refs/heads/{branch}")
        assert tip is not None
        return tip

    async def pull(self, branch: str = "work", *, body: str = "", text: str | None = None) -> Any:
        """Open a pull request of ada's from a new branch that replaces the letter d."""
        await self.commit(branch, {"src/letters.txt": text or LETTERS.replace("d\n", "D\n")})
        wanted = {"title": "Make it loud", "head": branch, "base": "main", "body": body}
        answer = await self.ask("POST", "pulls", wanted)
        assert answer.status == 201, answer.text
        return answer.body


@asynccontextmanager
async def scene_at(directory: Path, judge: Judge, *, unix_socket: Path | None = None) -> AsyncIterator[Scene]:
    """Yield a scene with judged exchanges; assert at the end that nothing unlisted was asked and no fault is left."""
    async with Lab(directory, unix_socket=unix_socket) as lab, aiohttp.ClientSession() as http:
        lab.exchanges.observe(judge)
        repository = await lab.repository(NAME, FILES, collaborators={"ada": "write"})
        lab.account("bob")
        tokens = {
            "octo": lab.token("octo", {**WORK, "administration": "write"}),
            "ada": lab.token("ada", WORK),
            "reader": lab.token("ada", READ),
            "bob": lab.token("bob", WORK),
        }
        yield Scene(lab, repository, http, tokens)
        assert not lab.unlisted, lab.unlisted
        assert not lab.faults.unused, lab.faults.unused
    assert judge.judged > 0
    assert not judge.complaints, judge.complaints
