"""The paid call for an answer: what it is made from, its prompt, and the reading of its result.

The sources are the base branch, the thread, and the change of a pull request.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner_agent import context
from planner_agent.assistant.question import CALL_SECONDS
from planner_agent.context import Code
from planner_agent.plan import Prose, StrictModel, validated
from planner_agent.text_call import PROMPTS, ask, narrowed
from shared.commands.command import spoken_text
from shared.commands.discussion import Discussion, bounded, talked
from shared.commands.text_unchanged import Texts
from shared.errors import Blocked
from shared.git.ports import Mirror
from shared.github.base_branch import BaseBranch
from shared.github.ports import Comments, People, Pulls
from shared.llm.port import Coder, CoderCall, Request, RunLimits
from shared.llm.role_router import ROLE_OF_CALL
from shared.models import Comment, Issue
from shared.retry.answer_retry import Unusable
from shared.text import clean
from shared.text.prompts import Untrusted

TEXT_CHARS = 8000
QUESTION_CHARS = 4000
CHANGE_CHARS = 20_000

ANSWER_LIMIT = 20_000
"""Maximum number of characters in an answer."""

_UNUSABLE = "The backend's answer cannot be used, and its correction cannot either:"


class Answer(StrictModel):
    """The answer to the question."""

    answer: Prose


@dataclass(frozen=True, slots=True)
class Background:
    """The sources of an answer. `shown`: the thread's title and text may be shown to a model."""

    thread: Issue
    shown: bool
    discussion: Discussion
    change: str
    code: Code


class Sources:
    """Reads them for one repository; what people without write access say is left out."""

    def __init__(
        self, code: Mirror, branch: BaseBranch, comments: Comments, pulls: Pulls, people: People, texts: Texts
    ) -> None:
        self._code, self._branch, self._comments = code, branch, comments
        self._pulls, self._people, self._texts = pulls, people, texts

    @property
    def base(self) -> str:
        """The name of the branch that answers are made from."""
        return self._branch.name

    async def about(self, question: Comment, thread: Issue) -> Background:
        """Return what is known about a question. Raises `Transient`, `Misconfigured`."""
        shown = self._texts.stood(thread, question.created_at) or await self._may_write(thread.author.login)
        discussion = await self._discussion(question)
        text = "\n".join([question.body, *(one.body for one in discussion.comments)])
        told = f"{text}\n{thread.title}\n{thread.body}" if shown else text
        code = await context.look(self._code, self._branch, told)
        change = await self._change(thread.number) if thread.is_pull_request else ""
        return Background(thread, shown, discussion, change, code)

    async def _discussion(self, question: Comment) -> Discussion:
        """Return what was said before the question."""
        before = [one for one in talked(await self._comments.thread(question.number)) if one.id < question.id]
        return bounded([one for one in before if await self._may_write(one.author.login)])

    async def _change(self, number: int) -> str:
        """Return the diff of a pull request from the repository itself, or a sentence why it cannot be shown."""
        pull_request = await self._pulls.pull_request(number)
        if not pull_request.from_own_branch:
            return "(It comes from a fork: its change is not shown.)"
        base, head = await self._code.tip(pull_request.base_branch), await self._code.tip(pull_request.head_branch)
        if base is None or head is None:
            return "(Its branch is not there any more.)"
        try:
            return await self._code.diff(base, head)
        except Blocked:  # more than is kept in memory
            return "(Its change is too large to be shown.)"

    async def _may_write(self, login: str) -> bool:
        return (await self._people.permission(login)).may_write


class AnswerCall:
    """The call of a backend for an answer."""

    def __init__(self, coder: Coder, limits: RunLimits) -> None:
        self._coder = coder
        self._limits = narrowed(limits, CALL_SECONDS)

    async def answer(self, question: Comment, background: Background) -> str:
        """Return Markdown, as the backend wrote it. Raises `AnswerHidden`, `RunFailed`, `RunEnded`."""
        told = _variables(question, background)
        request = Request(
            call=CoderCall.ANSWER,
            item=f"#{background.thread.number}",
            title=background.thread.title,
            role=ROLE_OF_CALL[CoderCall.ANSWER],
            prompt="",
            schema=Answer.model_json_schema(),
            limits=self._limits,
        )
        return await ask(
            self._coder,
            request,
            lambda faults: PROMPTS.render("answer", **told, faults=Untrusted(faults)),
            read,
            _UNUSABLE,
        )


def _variables(question: Comment, background: Background) -> dict[str, str | Untrusted]:
    thread = background.thread
    return {
        "title": Untrusted(thread.title if background.shown else ""),
        "issue": Untrusted(clean(thread.body)[:TEXT_CHARS] if background.shown else ""),
        "discussion": Untrusted(background.discussion.text()),
        "change": background.change[:CHANGE_CHARS],
        "conventions": background.code.conventions,
        "commits": background.code.commits,
        "files": background.code.files,
        "question": Untrusted(clean(spoken_text(question.body))[:QUESTION_CHARS]),
    }


def read(text: str) -> str:
    """Return the Markdown in an answer. Raises `Unusable`."""
    if len(text) > ANSWER_LIMIT:
        raise Unusable([f"it has {len(text):,} characters, {ANSWER_LIMIT:,} are allowed"])
    return validated(Answer, text).answer
