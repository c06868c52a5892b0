"""Answers kept over a restart: they cost nothing at the next start, and are never believed unconfirmed."""

from __future__ import annotations

from pathlib import Path

import pytest
from github_bench import EVERYTHING, NAME, Bench, bench

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import UnknownOutcome
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.issues import Issues
from shared.github.item_changes import ItemChange, ItemChanges
from shared.github.kept_answers import KeptAnswer, KeptAnswers
from shared.github.label_board import LabelBoard
from shared.github.people import People
from shared.lock.write_permit import OperatorPermit
from shared.workflow.labels import Labels


def started(b: Bench, directory: Path, token: str) -> GitHub:
    """Return a client as a new process would make it."""
    return b.client_of(token, KeptAnswers(directory / "answers" / "answers.db", token, b.clock))


async def look(github: GitHub) -> tuple[object, ...]:
    """Read everything that an agent reads at its start."""
    return (
        await People(github, NAME).me(),
        await People(github, NAME).repository(),
        await LabelBoard(github, NAME, Labels()).missing(),
        await Issues(github, NAME).recent(),
        await Issues(github, NAME).open(),
    )


async def test_a_start_after_a_stop_is_not_charged(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        for number in range(130):  # two pages
            b.lab.issue(NAME, f"T{number}", "B", author="ada", labels=("bug",))
        first = await look(started(b, tmp_path, token))
        before = b.charged
        assert await look(started(b, tmp_path, token)) == first
        assert b.charged == before
        assert len(b.lab.exchanges) == 2 * before, "all of it was asked again"


async def test_of_many_answers_memory_holds_a_few_and_none_is_charged_again(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        numbers = [b.lab.issue(NAME, f"T{number}", "B", author="ada").number for number in range(12)]
        file = tmp_path / "answers" / "answers.db"
        kept = KeptAnswers(file, token, b.clock)
        github = b.client_of(token, kept, texts=3)
        first = [await Comments(github, NAME).thread(number) for number in numbers]
        before = b.charged
        assert [await Comments(github, NAME).thread(number) for number in numbers] == first
        assert b.charged == before
        assert len(b.lab.exchanges) == 2 * before, "each was asked again"
        kept.close()
        file.unlink()
        assert [await Comments(github, NAME).thread(number) for number in numbers] == first
        assert b.charged == 2 * before, "without the file none of them is known any more"


async def test_what_one_agent_has_read_is_not_charged_to_the_others_of_its_token(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        issue = b.lab.issue(NAME, "T", "B", author="ada", labels=("bug",))
        lists = [Issues(started(b, tmp_path, token), NAME) for _ in range(3)]
        for title in ("T", "U", "V"):
            b.lab.at(NAME).issues.edit(issue.number, "ada", title=title)
            b.clock.seconds += 1
            before = b.charged
            for agent in lists:
                recent = await agent.recent()
                assert recent is not None
                assert [one.title for one in recent] == [title], "each sees the change"
            assert b.charged == before + 1, f"the first one alone is charged for {title}"


async def test_many_agents_of_a_token_ask_for_a_list_no_more_often_than_three_times_in_an_interval(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path / "lab") as b:
        number, agents = await _beside_many(b, tmp_path, 8)
        asked, charged = [], b.charged
        for second in range(60):  # each polls every 30 s
            if second == 31:
                b.lab.at(NAME).issues.edit(number, "ada", title="U")
            before = len(b.lab.exchanges)
            for agent in (one for place, one in enumerate(agents) if second % 30 == 3 * place):
                await Issues(agent, NAME).recent()
            asked += [second] * (len(b.lab.exchanges) - before)
            b.clock.seconds += 1
        assert asked == [0, 12, 30, 42]
        assert b.charged == charged + 2, "the list at its first reading, and when it had changed"
        for agent in agents:
            agent.points.reads_neighbours = False
            (read,) = await Issues(agent, NAME).recent() or (None,)
            assert read is None or read.title == "U"


async def test_a_list_that_another_agent_read_before_an_own_write_will_not_do(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        number, (one, other) = await _beside_many(b, tmp_path, 2)
        await Issues(other, NAME).recent()
        b.clock.seconds += 1
        await Issues(one, NAME).retitle(number, "U", OperatorPermit("test"))
        assert [read.title for read in await Issues(one, NAME).recent() or ()] == ["U"]
        before = len(b.lab.exchanges)
        assert [read.title for read in await Issues(other, NAME).recent() or ()] == ["U"], "as the first has read it"
        assert len(b.lab.exchanges) == before


async def test_a_list_that_another_agent_read_before_an_own_change_by_graphql_will_not_do(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        number, (one, other) = await _beside_many(b, tmp_path, 2)
        await Issues(one, NAME).recent()
        b.clock.seconds += 20
        await Issues(other, NAME).recent()
        b.clock.seconds += 1
        change = ItemChange(number, body="C", off=("bug",))
        assert await ItemChanges(one, NAME).at_once([change], OperatorPermit("test")) is not None
        assert [read.labels for read in await Issues(one, NAME).recent() or ()] == [frozenset()]


async def test_a_list_that_another_agent_read_before_an_own_write_without_an_answer_will_not_do(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path / "lab") as b:
        number, (one, other) = await _beside_many(b, tmp_path, 2)
        await Issues(other, NAME).recent()
        b.clock.seconds += 1
        b.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "PATCH", "/issues/"))
        with pytest.raises(UnknownOutcome):
            await Issues(one, NAME).retitle(number, "U", OperatorPermit("test"))
        assert [read.title for read in await Issues(one, NAME).recent() or ()] == ["U"]


async def _beside_many(b: Bench, directory: Path, clients: int) -> tuple[int, list[GitHub]]:
    """Return an issue, and clients of agents that poll every 30 seconds beside nine others; each has been answered."""
    token = b.lab.token("engine", EVERYTHING)
    issue = b.lab.issue(NAME, "T", "B", author="ada", labels=("bug",))
    agents = [started(b, directory, token) for _ in range(clients)]
    for agent in agents:
        agent.points.neighbours = lambda: (1,) * 9
        agent.points.interval(30)
        await People(agent, NAME).me()
    return issue.number, agents


async def test_an_older_reading_of_another_agent_takes_the_place_of_no_newer_one(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        issue = b.lab.issue(NAME, "T", "B", author="ada", labels=("bug",))
        kept = KeptAnswers(tmp_path / "answers" / "answers.db", token, b.clock)
        github = b.client_of(token, kept)
        await Issues(github, NAME).recent()
        url = f"{b.lab.url}/repos/{NAME}/issues?state=open&sort=updated&direction=desc&per_page=100"
        old = kept.find(url)
        assert old is not None
        b.clock.seconds += 1
        b.lab.at(NAME).issues.edit(issue.number, "ada", title="U")
        await Issues(github, NAME).recent()
        kept.keep(url, old)
        before = b.charged
        await Issues(github, NAME).recent()
        assert b.charged == before


async def test_what_has_changed_meanwhile_is_seen(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        issue = b.lab.issue(NAME, "T", "B", author="ada", labels=("bug",))
        await look(started(b, tmp_path, token))
        b.lab.at(NAME).issues.edit(issue.number, "ada", title="U")
        before = b.charged
        for start in (1, 2):
            recent = await Issues(started(b, tmp_path, token), NAME).recent()
            assert recent is not None
            assert [one.title for one in recent] == ["U"], start
        assert b.charged == before + 1, "once, and the second start knows it"


async def test_another_token_is_told_nothing_of_it(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        b.lab.issue(NAME, "T", "B", author="ada")
        await look(started(b, tmp_path, b.lab.token("engine", EVERYTHING)))
        before = b.charged
        await look(started(b, tmp_path, b.lab.token("reviewer", EVERYTHING)))
        assert b.charged == before + 5


async def test_what_another_version_has_kept_is_read_anew(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        b.lab.issue(NAME, "T", "B", author="ada")
        await look(started(b, tmp_path, token))
        kept = KeptAnswers(tmp_path / "answers" / "answers.db", token, b.clock)
        (url,) = {one for one in urls(b) if "sort=updated" in one}
        for body in (b"no JSON", b'[{"number": 1}]', b""):
            kept.keep(url, KeptAnswer('W/"of-before"', body, None, b.clock.now()))
            recent = await Issues(started(b, tmp_path, token), NAME).recent()
            assert recent is not None
            assert [one.title for one in recent] == ["T"]


def urls(b: Bench) -> list[str]:
    """Return every requested address."""
    return [f"{b.lab.url}{one.path}?{one.query}" for one in b.lab.exchanges]
