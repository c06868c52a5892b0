"""The sources of an answer: the base branch, the thread, and the change of a pull request."""

from __future__ import annotations

from planner_agent import context
from planner_agent.assistant.answer_call import Background
from shared.commands.discussion import Discussion, bounded, talked
from shared.commands.text_unchanged import Texts
from shared.errors import Blocked
from shared.git.ports import Mirror
from shared.github.base_branch import BaseBranch
from shared.github.ports import Comments, People, Pulls
from shared.models import Comment, Issue


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
