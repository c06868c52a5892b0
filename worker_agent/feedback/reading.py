"""The reader of remarks by people and the reviewer on a pull request; texts of untrusted accounts are only counted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from shared.github.ports import Comments, Reviews
from shared.models import GHOST_ID, Account
from shared.text.comment_signatures import Keyring
from worker_agent.feedback import answers
from worker_agent.feedback.items import AnswerRecord, Item, Page, open_items
from worker_agent.intake.trusted_accounts import TrustedWriters

MOST = 50
"""The most items that are worked on in one round; the rest waits for the next."""


@dataclass(frozen=True, slots=True)
class FeedbackSnapshot:
    """One look: open items, the oldest first; existing texts; answered versions; ignored texts.

    `ignored` maps the key of a text to the reason. `present` are keys, `roots` inline comments that take replies.
    """

    items: tuple[Item, ...] = ()
    present: frozenset[str] = frozenset()
    roots: frozenset[int] = frozenset()
    answered: frozenset[str] = frozenset()
    ignored: tuple[tuple[str, str], ...] = ()


class TrustFilter:
    """A filter for the accounts whose words reach the coder: people with write access, our own, and listed Apps."""

    def __init__(self, writers: TrustedWriters, bots: Collection[str]) -> None:
        """`bots` are logins of Apps as their comments show them, for example `linter[bot]`."""
        self._writers = writers
        self._bots = {login.casefold() for login in bots}

    async def why_not(self, account: Account) -> str:
        """Return why an account is ignored, else an empty text. Raises `Transient` if GitHub does not answer."""
        if account.id == GHOST_ID:
            return "the account was deleted"
        login = account.login.casefold()
        if login.endswith("[bot]"):  # nobody asks what an App may do: GitHub does not say
            heard = login in self._bots or self._writers.is_engine(account)
            return "" if heard else "feedback.bots does not name it"
        return "" if await self._writers.may_order(account) else "no write access"


class Feedback:
    """The feedback on the pull requests of one repository that its worker takes into account."""

    def __init__(
        self,
        reviews: Reviews,
        comments: Comments,
        trust_filter: TrustFilter,
        ours: Collection[int],
        keys: Keyring,
    ) -> None:
        """`ours` are the account ids whose answers count as the engine's."""
        self._reviews = reviews
        self._comments = comments
        self._trust_filter = trust_filter
        self._ours = ours
        self._keys = keys

    async def read(self, number: int, answered_names: Collection[str] = ()) -> FeedbackSnapshot:
        """Return everything on pull request `number` as it is now; remarks in `answered_names` are not open."""
        page = Page(
            number,
            await self._reviews.of(number),
            await self._reviews.comments(number),
            await self._comments.thread(number),
        )
        said = tuple(page.texts())
        deaf = {id: await self._trust_filter.why_not(one) for id, one in {one.id: one for _, one, _ in said}.items()}
        answered = answers.answered(page, self._ours, self._keys)
        heard = {id for id, why in deaf.items() if not why} | set(self._ours)
        known = AnswerRecord(heard, answered | set(answered_names), self._keys)
        return FeedbackSnapshot(
            items=open_items(page, known),
            present=frozenset(key for key, _, _ in said),
            roots=frozenset(one.id for one in page.inline if not one.in_reply_to),
            answered=answered,
            ignored=tuple((key, deaf[author.id]) for key, author, _ in said if deaf[author.id]),
        )
