"""People and strangers: they delete, edit, relabel, stop and close, and post ACKs without any right to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared.lock.comment import read_ack
from shared.models import Account, Comment
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

from .github import BOT, PERSON, STRANGER, is_engine
from .process import Fate
from .rules import ISSUE, stages_of

FOREIGN_KEY = Keyring(99, (Key.of(b"somebody else's key"),))
FENCE = f"refs/ack/worker/{ISSUE}"
FOREIGN = "e" * 40
"""The commit of a foreign object in a fence's ref."""

NONCE = "f" * 24
"""Beginning of strangers' nonces."""


class People:
    """Everybody but the agents. Their acts are drawn before the schedule begins."""

    def __init__(self, fate: Fate, keyed: bool, work_seconds: float) -> None:
        self._fate = fate
        self._keyed = keyed
        self._spoofs = 0
        self._chance = int(work_seconds)
        rng, world = fate.rng, fate.world
        horizon = min(work_seconds * 1.3 + 60, 6600.0)
        acts: list[tuple[float, Callable[[], None]]] = [
            (1.0, self._delete_ack),
            (1.0, self._edit_ack),
            (1.0, self._ask_again),
            (0.7, self._withdraw),
            (0.3, self._close),
            (1.0, self._command),
        ]
        for share, act in acts:
            if rng.random() < world.people * share:
                fate.kernel.at(rng.random() * horizon, self._there, act)
        special = world.special
        rarer = (
            (special.ref_deleted, self._delete_ref),
            (special.ref_put_back, self._put_ref_back),
            (special.transferred, self._transfer),
        )
        for odds, act in rarer:
            if odds and rng.random() < odds:
                fate.kernel.at(rng.random() * horizon, self._there, act)
        if rng.random() < world.strangers:
            self._spoof()
            for _ in range(rng.randrange(3)):
                fate.kernel.at(rng.random() * horizon, self._there, self._spoof)

    def _there(self, act: Callable[[], None]) -> None:
        """Do it, unless the issue was transferred."""
        if ISSUE not in self._fate.github.gone:
            act()

    # With rights

    def _newest_ack(self) -> Comment | None:
        found = None
        for versions in self._fate.github.threads.get(ISSUE, ()):
            comment = versions.now
            if comment is not None and is_engine(comment.author):
                ack = read_ack(comment)
                if ack is not None and ack.state == "active" and not ack.nonce.startswith(NONCE):
                    found = comment
        return found

    def _act(self, what: str, comment: int = 0) -> None:
        fate = self._fate
        fate.github.now = fate.github.sent_at = fate.kernel.now
        fate.github.sender = 0
        fate.journal.acts.append((fate.kernel.now, what, comment))
        fate.journal.counts[what] += 1
        fate.journal.say(fate.kernel.now, "a person", f"{what} {comment or ''}")

    def _delete_ack(self) -> None:
        ack = self._newest_ack()
        if ack is not None:
            self._act("ACK deleted by a person", ack.id)
            self._fate.github.delete(ack.id)

    def _edit_ack(self) -> None:
        ack = self._newest_ack()
        if ack is not None:
            self._act("ACK edited by a person", ack.id)
            said = " is working on this"
            thanks = ack.body.replace(said, f"{said}, thanks", 1) if ack.id % 2 else ack.body
            self._fate.github.edit(ack.id, thanks if thanks != ack.body else f"{ack.body}\nThanks!", PERSON)

    def _ask_again(self) -> None:
        self._act("asked again by a person")
        self._fate.github.add_label(ISSUE, str(Stage.READY), PERSON)

    def _withdraw(self) -> None:
        github, rng = self._fate.github, self._fate.rng
        self._act("withdrawn by a person")
        for stage in sorted(stages_of(github.items[ISSUE].now.labels)):
            github.remove_label(ISSUE, str(stage), PERSON)
        if rng.random() < 0.4:
            self._fate.kernel.at(self._fate.kernel.now + 60 + 3000 * rng.random(), self._there, self._ask_again)

    def _close(self) -> None:
        self._act("closed by a person")
        self._fate.github.close(ISSUE)

    def _command(self) -> None:
        """Give the agents a command that is answered and changes nothing; agents read it in their inbox."""
        self._fate.commands.append(int(1000 + self._fate.kernel.now))
        self._fate.journal.say(self._fate.kernel.now, "a person", "gives a command")

    def _delete_ref(self) -> None:
        github, ref = self._fate.github, FENCE
        if github.refs.pop(ref, None) is not None:
            self._act("ref deleted by a person")
            self._fate.journal.ref_acts.append((self._fate.kernel.now, ref, None))

    def _put_ref_back(self) -> None:
        """Set the fence's ref back to an older value, as from a backup or by a push by hand."""
        github, ref = self._fate.github, FENCE
        older = [push.oid for push in github.pushes if push.ref == ref and push.oid != github.refs.get(ref)]
        if older:
            self._act("ref put back by a person")
            github.refs[ref] = older[self._fate.rng.randrange(max(0, len(older) - 4), len(older))]
            self._fate.journal.ref_acts.append((self._fate.kernel.now, ref, github.refs[ref]))

    def _transfer(self) -> None:
        if not any(pull.merged for pull in self._fate.github.pulls.values()):
            self._act("transferred by a person")
            self._fate.github.gone.add(ISSUE)

    # Without

    def _spoof(self) -> None:
        """Post an ACK that must not count; one of an unknown key of our account counts until its timeout."""
        fate, github, rng = self._fate, self._fate.github, self._fate.rng
        newest = self._newest_ack()
        kind = rng.randrange(6)
        author: Account = STRANGER
        opaque = False
        prev = newest.id if newest and rng.random() < 0.5 else 0
        body = self._text(prev)
        if kind == 1 and newest:
            body = newest.body
        elif kind == 2 and self._keyed:
            author = BOT
        elif kind == 3 and self._keyed and rng.random() < 0.3:
            author, body = BOT, FOREIGN_KEY.sign("ack:worker", ISSUE, body)
            opaque = True
        elif kind == 4 and rng.random() < 0.3:
            author, body = BOT, self._of_other_engine(body)
            opaque = True
        elif kind == 5:
            author, body = BOT, "> " + body.replace("\n", "\n> ")
        github.now = github.sent_at = fate.kernel.now
        github.sender = 0
        posted = github.post(ISSUE, body, author)
        if opaque:
            fate.journal.acts.append((fate.kernel.now, "opaque", 0 if prev else posted.id))
        fate.journal.counts["spoof ignored"] += 1
        fate.journal.say(fate.kernel.now, author.login, f"posts {body!r}")

    def _of_other_engine(self, body: str) -> str:
        """Return an ACK's text as an engine of the first version, or of a future one, leaves it on the thread."""
        first = body.partition("\n")[0]
        newer = f"<!-- ack/9 seq=7 nonce={NONCE}{self._spoofs:08x} state=active ttl=1200 mac=x -->"
        told = f"<!-- engine-status/9 kind=worker n={ISSUE} mac=x -->\nIt works.\n\n{first}\n{newer}"
        return (first, f"{first}\n{newer}", told)[(self._spoofs + self._chance) % 3]

    def _text(self, prev: int) -> str:
        self._spoofs += 1
        nonce = f"{NONCE}{self._spoofs:08x}"
        return (
            f"ACK:{Role.WORKER}:worker-deadbeef:{1767603600000 + self._spoofs}\n"
            f"<!-- ack/2 prev={prev} nonce={nonce} state=active hb=0 ttl=1800 mac=none -->\n"
            "worker-deadbeef is working on this."
        )


def foreign_fence(fate: Fate, ref: str, message: str) -> None:
    """Put a foreign object into the fence's ref, until a person deletes it."""
    github = fate.github
    github.refs[ref] = FOREIGN
    github.messages[FOREIGN] = message

    def delete(*_: Any) -> None:
        if github.refs.get(ref) == FOREIGN:
            del github.refs[ref]
            fate.journal.acts.append((fate.kernel.now, "opaque", 0))

    fate.kernel.at(600 + 900 * fate.rng.random(), delete)
