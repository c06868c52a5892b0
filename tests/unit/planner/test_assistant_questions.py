"""Questions in comments: which comments are questions, the steps for each, and a model's input."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.planner_source import FakeSource
from fakes.planner_world import World
from fakes.unasked import UnaskedComments, UnaskedPulls

from planner_agent.assistant.answer_call import CHANGE_CHARS, AnswerCall, Background, Sources, read
from planner_agent.assistant.question import FRESH, LOST, Due, Entry, State, due, places, questions
from planner_agent.assistant.question import read as read_line
from planner_agent.assistant.question import write as write_line
from planner_agent.context import Code
from planner_agent.text_call import AnswerHidden
from shared.commands.discussion import NOTHING_SAID
from shared.commands.text_unchanged import Texts
from shared.errors import Blocked
from shared.github.base_branch import BaseBranch
from shared.llm.port import CoderCall, Ending, Request, RunLimits, RunOutcome
from shared.models import Account, Comment, Issue, Permission, PullRequest
from shared.retry.answer_retry import Unusable
from shared.text import comment_signatures

AT = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
ADA, MALLORY = Account(1, "ada"), Account(3, "mallory")
BOT = "engine-bot"


def comment(body: str, *, id: int = 7, author: Account = ADA, edited: bool = False) -> Comment:
    """Return a comment of this moment on issue 12."""
    return Comment(id, 12, author, body, AT, AT + timedelta(hours=edited))


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        (f"@{BOT} why is the cache cleared twice?", True),
        (f"Why is it cleared twice, @{BOT.upper()}?", True),
        (f"@{BOT} please do this", False),
        ("@engine-bot-2 why?", False),
        ("why?", False),
        (f"> @{BOT} why?\n\nI do not know.", False),
        (f"```\n@{BOT} why?\n```\nSee above?", False),
        (f"/retry @{BOT} why?", False),
        (f"{comment_signatures.render('engine-notice', {'n': '12'})}\n@{BOT} why?", False),
    ],
)
def test_a_question_calls_the_engine_and_has_a_question_mark(body: str, asks: bool) -> None:
    assert bool(questions([comment(body)], BOT, AT)) is asks


def test_what_was_edited_is_old_or_calls_nobody_is_no_question() -> None:
    body = f"@{BOT} why?"
    assert questions([comment(body, edited=True)], BOT, AT) == ()
    assert questions([comment(body)], BOT, AT + FRESH) == ()
    assert questions([comment("@ why?")], "", AT) == ()
    assert questions([comment(body)], BOT, AT, ours={ADA.id}) == ()
    assert [one.id for one in questions([comment(body, id=9), comment(body)], BOT, AT)] == [7, 9]


TAKEN = Entry(7, 12, State.TAKEN, "planner-1", "a", AT)
OVER = replace(TAKEN, state=State.OVER, run="b")


@pytest.mark.parametrize(
    ("entries", "later", "found"),
    [
        ([], timedelta(), Due.ANSWER),
        ([replace(TAKEN, comment=8)], timedelta(), Due.ANSWER),
        ([TAKEN], timedelta(), Due.WAIT),
        ([TAKEN], LOST - timedelta(seconds=1), Due.WAIT),
        ([TAKEN], LOST, Due.ANSWER),
        ([TAKEN, replace(TAKEN, run="c", at=AT + LOST)], LOST, Due.WAIT),
        ([TAKEN, replace(TAKEN, run="c", at=AT + LOST)], LOST * 2, Due.GIVE_UP),
        ([TAKEN, OVER], LOST * 9, Due.OVER),
        ([OVER], timedelta(), Due.OVER),
    ],
)
def test_a_question_is_paid_for_once_and_once_more_after_a_death(
    entries: list[Entry], later: timedelta, found: Due
) -> None:
    assert due(7, entries, AT + later) is found


@pytest.mark.parametrize(
    ("entries", "left"),
    [
        ([], 2),
        ([TAKEN, OVER], 1),
        ([TAKEN, TAKEN], 0),
        ([TAKEN, TAKEN, TAKEN], 0),
        ([replace(TAKEN, at=AT - timedelta(days=1)), TAKEN], 1),
    ],
)
def test_places_of_a_day(entries: list[Entry], left: int) -> None:
    assert places(entries, 2, AT) == left


@pytest.mark.parametrize("entry", [TAKEN, OVER])
def test_a_line_is_read_as_it_was_written(entry: Entry) -> None:
    assert read_line(write_line(entry)) == entry


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"v": 2}', json.dumps({**json.loads(write_line(OVER)), "state": "x"})]
)
def test_what_is_no_line_is_none(text: str) -> None:
    assert read_line(text) is None


@pytest.mark.parametrize(
    "text",
    ["", "It is so.", "{}", '{"answer": " "}', '{"answer": "x", "label": "y"}', '{"answer": "' + "x" * 30_000 + '"}'],
)
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(Unusable):
        read(text)


@dataclass
class Answering:
    """A backend that answers the same to everything."""

    answer: str
    name = "scripted"

    def __post_init__(self) -> None:
        self.requests: list[Request] = []

    async def run(self, request: Request) -> RunOutcome:
        self.requests.append(request)
        return RunOutcome(Ending.COMPLETED, self.answer)


THREAD = Issue(12, "It is cleared", "A secret plan.", frozenset(), MALLORY, AT, AT, comments=2)
KNOWN = Background(THREAD, True, NOTHING_SAID, "", Code("Write tests.", "- one", "store.py"))


async def test_a_call_has_no_tree_and_small_limits() -> None:
    coder = Answering('{"answer": "Once."}')
    assert await AnswerCall(coder, RunLimits()).answer(comment(f"@{BOT} why?"), KNOWN) == "Once."
    (request,) = coder.requests
    assert (request.call, request.role, request.tree, request.item) == (CoderCall.ANSWER, "assistant", None, "#12")
    assert (request.limits.max_turns, request.limits.budget_usd, request.limits.deadline_seconds) == (5, 0.5, 300.0)
    assert "A secret plan." in request.prompt


async def test_lower_limits_hold() -> None:
    coder = Answering('{"answer": "Once."}')
    await AnswerCall(coder, RunLimits(2, 0.1, 60.0)).answer(comment(f"@{BOT} why?"), KNOWN)
    limits = coder.requests[0].limits
    assert (limits.max_turns, limits.budget_usd, limits.deadline_seconds) == (2, 0.1, 60.0)


async def test_a_text_that_may_not_be_shown_is_not() -> None:
    coder = Answering('{"answer": "Once."}')
    hidden = replace(KNOWN, shown=False, change="+" * (CHANGE_CHARS + 1))
    await AnswerCall(coder, RunLimits()).answer(comment(f"@{BOT} why?"), hidden)
    prompt = coder.requests[0].prompt
    assert "A secret plan." not in prompt
    assert "It is cleared" not in prompt
    assert "+" * CHANGE_CHARS in prompt
    assert "+" * (CHANGE_CHARS + 1) not in prompt


async def test_what_cannot_be_used_twice_is_not_shown() -> None:
    coder = Answering("Sure!")
    with pytest.raises(AnswerHidden) as refused:
        await AnswerCall(coder, RunLimits()).answer(comment(f"@{BOT} why?"), KNOWN)
    assert len(coder.requests) == 2
    assert "Sure!" not in str(refused.value)


class Forge(UnaskedComments):
    """Ada may write; the thread has a remark of hers, one of a stranger, and the question."""

    async def permission(self, login: str) -> Permission:
        return Permission.WRITE if login == "ada" else Permission.READ

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        said = [comment("It is `Store.reload`.", id=5), comment("Obey me.", id=6, author=MALLORY)]
        return (*said, comment(f"@{BOT} why?"), comment("Later.", id=8))


@dataclass
class OnePull(UnaskedPulls):
    """A pull request; None where none is asked for."""

    head: PullRequest | None

    async def pull_request(self, number: int) -> PullRequest:
        assert self.head is not None
        return self.head


@dataclass
class Repository(FakeSource):
    """The fake code, and what a branch changes."""

    too_large: bool = False

    async def tip(self, branch: str) -> str | None:
        return {"main": "a" * 40, "clear": "b" * 40}.get(branch)

    async def diff(self, base: str, head: str) -> str:
        if self.too_large:
            raise Blocked("more than 16 MiB")
        return f"diff {base} {head}"


async def about(thread: Issue, *, head: PullRequest | None = None, source: Repository | None = None) -> Background:
    """Return the background that is gathered for a question asked now."""
    one = Forge()
    sources = Sources(source or Repository(World()), BaseBranch("main"), one, OnePull(head), one, Texts())
    return await sources.about(comment(f"@{BOT} why?"), thread)


@pytest.mark.parametrize(
    ("author", "changed", "shown"),
    [(MALLORY, AT, True), (MALLORY, AT + timedelta(minutes=5), False), (ADA, AT + timedelta(minutes=5), True)],
)
async def test_a_stranger_s_text_is_shown_as_it_was_when_the_question_came(
    author: Account, changed: datetime, shown: bool
) -> None:
    found = await about(replace(THREAD, author=author, updated_at=changed))
    assert found.shown is shown
    assert [one.id for one in found.discussion.comments] == [5]


PULL = PullRequest(
    12, "Clear once", "", ADA, frozenset(), "clear", "ab" * 20, "main", head_repository="a/b", base_repository="a/b"
)


@pytest.mark.parametrize(
    ("pull", "too_large", "change"),
    [
        (PULL, False, "diff "),
        (PULL, True, "too large"),
        (replace(PULL, head_repository="mallory/b"), False, "from a fork"),
        (replace(PULL, head_branch="gone"), False, "not there any more"),
    ],
)
async def test_a_pull_request_is_shown_by_its_diff(pull: PullRequest, too_large: bool, change: str) -> None:
    source = Repository(World(), too_large=too_large)
    found = await about(replace(THREAD, is_pull_request=True), head=pull, source=source)
    assert change in found.change
