"""The recording proxy changes nothing: the engine's client and git work through it, and everything is noted."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from benchmarks.proxy import recording
from config.environment import child_environment
from lab.__main__ import ENGINE, PERMISSIONS
from lab.github.server import Lab
from shared.git.command import Git
from shared.git.credentials import Credentials
from shared.git.mirror import Mirror
from shared.github.client import GitHub
from shared.github.issues import Issues
from shared.github.limits import Pacing
from shared.github.tokens import Kept
from shared.lock.port import RefUpdate
from shared.loop.real_clock import RealClock

NAME = "ada/thing"


async def test_pages_etags_and_git_pass_through_and_are_counted(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github") as lab, recording(lab.url) as proxy, aiohttp.ClientSession() as session:
        await lab.repository(NAME, {"README.md": "# Thing\n"}, collaborators={ENGINE: "write"})
        token, clock = Kept(lambda: lab.token(ENGINE, PERMISSIONS[ENGINE])), RealClock()
        for number in range(101):
            lab.issue(NAME, f"Issue {number}", author="ada", labels=("bug",))
        pacing = Pacing(clock, write_interval_seconds=0)
        github = GitHub(session, token=token, api_url=proxy.url, clock=clock, pacing=pacing)
        github.name_agent("worker-1")
        issues = Issues(github, NAME)
        assert len(await issues.labelled("bug")) == 101  # the second page's address leads through the proxy again
        assert await issues.recent() is not None
        assert await issues.recent() is None
        seen = proxy.tally()
        assert (seen.requests, seen.charged, seen.charged_change_lists) == (4, 3, 1)
        assert {one.agent for one in proxy.exchanges} == {"worker-1"}
        answers = Credentials(tmp_path / "askpass", proxy.url, token)
        git = Git(tmp_path / "mirror.git", child_environment(), credentials=answers)
        mirror = Mirror(git, f"{proxy.url}/{NAME}.git")
        await mirror.ensure()
        tip = await mirror.tip("main")
        assert tip is not None
        assert await git.push(mirror.url, [RefUpdate("refs/heads/work", None, tip)])
        assert await lab.at(NAME).bare.sha("refs/heads/work") == tip
        assert proxy.tally().git >= 4
        assert proxy.tally().requests == 4
