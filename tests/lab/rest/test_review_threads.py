"""Threads of reviews are resolved by GraphQL, as the lab executes it; what GitHub refuses stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from github_bench import NAME, bench
from github_script import lease
from label_scene import PERSON

from shared.github.errors import Refused
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.models import Finding, ReviewState


async def test_only_the_threads_that_are_named_and_open_are_resolved(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        held = lease(b.clock)
        sha = await b.branch("work", "a.py", "".join(f"line {n}\n" for n in range(130)))
        github = b.client("engine")
        opened = await Pulls(github, NAME).open("T", "B", "work", "main", PERSON)
        findings = tuple(Finding("a.py", line, f"Remark {line}.") for line in range(1, 121))
        reviews = Reviews(github, NAME)
        await reviews.submit(opened.number, sha, ReviewState.COMMENTED, "See below.", findings, held)
        roots = [one.id for one in await reviews.comments(opened.number)]
        assert len(roots) == 120, "two pages of threads"
        wanted = [roots[0], roots[110]]
        assert await reviews.resolve(opened.number, wanted, held) == 2
        inline = b.lab.at(NAME).pulls.inline
        assert [one.id for one in inline.values() if one.resolved] == wanted
        assert await reviews.resolve(opened.number, wanted, held) == 0, "they are resolved already"
        with pytest.raises(Refused, match="Could not resolve to a PullRequest"):
            await reviews.resolve(99, wanted, held)
