"""The texts about feedback: a numbered list for the coder, and answers with a signed mark for people (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from textwrap import indent

from shared.git.notes import RemarkAnswer
from shared.text import clean, comment_signatures, neutralise, one_line
from shared.text.comment_signatures import CommentSignatures, Keyring
from worker_agent.feedback.items import Item, Page, Remark

MARK = "engine-answer"
PURPOSE = "answer"

TEXT_CHARS = 4000
"""The most characters of one text that the coder reads."""

SAID_CHARS = 600
"""The most characters of the coder's words about one item."""

SHA = 7
"""Characters of a commit's hash, as GitHub shows and links it."""

ABOUT_CHARS = 160
"""The most characters of a text that an answer in the conversation quotes."""

HUNK_LINES = 6
"""The most lines quoted of those that a comment stood on, the last ones."""

RENEWED = (
    "The text of the specification was edited after this change was made. Bring the change in line with what it says"
    " now; where it is already, change nothing for that and say so."
)

_LINE = re.compile(
    r"^[ \t>*#-]*(?P<number>\d{1,3})[.):*]+[ \t]*"
    r"(?:\**(?P<word>not done|not changed|done|changed)\b\**[ \t]*[:,.;–—-]*[ \t]*)?(?P<said>.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def findings(items: Sequence[Item], *, renewed: bool = False) -> str:
    """Return the items as the coder reads them. Only the beginnings of lines are ours: all quoted text is indented.

    `renewed`: the issue's text was edited after the change was made. Each text is cleaned by itself, so that none can
    hide the next.
    """
    told = [_item_text(number, item) for number, item in enumerate(items, start=1)]
    return "\n\n".join([RENEWED, *told] if renewed else told)


def _item_text(number: int, item: Item) -> str:
    where = f" at {one_line(item.where, 300)}" if item.where else ""
    lines = [f"{number}. {item.remarks[0].author.login}{where}:"]
    if item.hunk:
        shown = "\n".join(item.hunk.splitlines()[-HUNK_LINES:])
        lines += ["   The lines were:", indent(clean(shown), "   | ")]
    for place, said in enumerate(item.remarks):
        if place:
            lines.append(f"   {'You answered' if said.ours else f'{said.author.login} replied'}:")
        lines.append(indent(_clean_text(said), "   "))
    return "\n".join(lines)


def _clean_text(remark: Remark) -> str:
    text = clean(remark.text).strip()
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]} […]"


def answers(items: Sequence[Item], text: str, *, changed: bool) -> tuple[RemarkAnswer, ...]:
    """Return the answer to each item, by the coder's own lines; `changed`: True if it changed anything at all.

    Items that the coder left out are answered as well. About a single item it may speak without a number.
    """
    told = _lines(text, len(items))
    if len(items) == 1 and not told and text.strip():
        told = {1: (changed, text)}
    return tuple(_answer(item, told.get(number), changed) for number, item in enumerate(items, start=1))


def explains(items: Sequence[Item], answer_text: str) -> bool:
    """Return whether the coder gives a reason for every item why it changed nothing."""
    told = _lines(answer_text, len(items))
    return bool(items) and len(told) == len(items) and all(not done and text.strip() for done, text in told.values())


def _lines(text: str, count: int) -> dict[int, tuple[bool, str]]:
    """Map each item to (True if it was done, the coder's words about it); the last line about an item counts."""
    found: dict[int, tuple[bool, str]] = {}
    for line in _LINE.finditer(text):
        number, word = int(line["number"]), (line["word"] or "").casefold()
        if 1 <= number <= count and (word or line["said"].strip()):
            found[number] = not word.startswith("not"), line["said"].strip()
    return found


def _answer(item: Item, line: tuple[bool, str] | None, changed: bool) -> RemarkAnswer:
    done, said = line or (changed, "")
    first = next(one for one in item.remarks if not one.ours)
    about = "" if first.by_engine and not item.root else f"{first.author.login}: {clean(first.text)}"
    return RemarkAnswer(
        item.names, item.root, one_line(about, ABOUT_CHARS), done and changed, one_line(said, SAID_CHARS)
    )


def spoken(replies: Sequence[RemarkAnswer]) -> tuple[RemarkAnswer, ...]:
    """Return the answers that are posted. An empty one is covered by the mark of the first one with a text.

    If all are empty, one answer names the commit: by it the next look knows which remarks were worked on.
    """
    telling = [one for one in replies if one.said and (one.root or one.about)] or [one for one in replies if one.said]
    chosen = telling or sorted(replies, key=lambda one: not one.root)[:1]
    covered = tuple(name for one in replies if one not in chosen for name in one.of)
    return tuple(replace(one, of=(*one.of, *covered)) if not place else one for place, one in enumerate(chosen))


def reply(number: int, answer: RemarkAnswer, commit: str, keys: Keyring) -> str:
    """Return the answer in an inline thread of pull request `number`."""
    return _sign(number, answer.of, _sentence(answer, commit), keys)


def conversation(number: int, replies: Sequence[RemarkAnswer], commit: str, keys: Keyring) -> str:
    """Return one comment that answers the texts of reviews and the comments of the conversation."""
    parts = ((f"> {neutralise(one.about)}\n\n" if one.about else "") + _sentence(one, commit) for one in replies)
    return _sign(number, [name for one in replies for name in one.of], "\n\n".join(parts), keys)


def _sentence(answer: RemarkAnswer, commit: str) -> str:
    said = neutralise(answer.said)
    if answer.done:
        return f"Fixed in {commit[:SHA]}: {said}" if said else f"Changed in {commit[:SHA]}."
    return f"Not changed: {said}" if said else "Not changed."


def _sign(number: int, names: Iterable[str], text: str, keys: Keyring) -> str:
    return keys.sign(PURPOSE, number, f"{comment_signatures.render(MARK, {'of': ','.join(names)})}\n{text}")


def answered(page: Page, ours: Collection[int], keys: Keyring) -> frozenset[str]:
    """Return the versions of texts that the engine has answered: by its own accounts, with an intact mark."""
    written = [(one.author, one.body) for one in page.inline] + [(one.author, one.body) for one in page.thread]
    names: set[str] = set()
    for author, body in written:
        mark = comment_signatures.find(body.partition("\n")[0]) if author.id in ours else None
        if (
            mark is not None
            and mark.name == MARK
            and keys.verify(PURPOSE, page.number, body) is CommentSignatures.VALID
        ):
            names |= set(mark.fields.get("of", "").split(","))
    return frozenset(names - {""})
