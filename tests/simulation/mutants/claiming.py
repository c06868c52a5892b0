"""Bugs in how an epoch begins and is shown in its comment."""

from __future__ import annotations

from .mutant import simulated, unit

CLAIMING = (
    simulated("epochs do not grow", ("claim", "max(old.epoch, view.epoch) + 1", "max(old.epoch, view.epoch)")),
    simulated(
        "the epoch of the comment is forgotten",
        ("claim", "max(old.epoch, view.epoch) + 1", "old.epoch + 1"),
        world="ref-put-back",
    ),
    simulated("fences of format 1", ("claim", "        format=2,\n", "        format=1,\n")),
    simulated(
        "the comment's id is the epoch", ("claim", "epoch=max(old.epoch, view.epoch) + 1", "epoch=old.ack_id or 1")
    ),
    simulated(
        "the nonce of the epoch before",
        ("claim", "nonce=claimant.nonces.fresh()", "nonce=old.nonce or claimant.nonces.fresh()"),
    ),
    simulated(
        "the release of the epoch before stays",
        ("claim", '        released="",\n', "        released=old.nonce and claimant.agent,\n"),
        ("fence", "self.released == self.nonce", "bool(self.released)"),
    ),
    unit(
        "the thread's position is forgotten",
        ("claim", "seen=max(old.position, read, claimant.read_up_to(view.key.number))", "seen=0"),
    ),
    simulated(
        "who lost goes on",
        (
            "claim",
            "    if fence is None:\n        claimant.nonces.forget(draft.nonce)\n        return None\n",
            '    if fence is None:\n        fence = replace(draft, oid=expected or "")\n',
        ),
        world="in-step",
    ),
    simulated(
        "no answer counts as won",
        (
            "claim",
            "        return None  # it is not there so far; should it arrive late, our nonce goes on with it\n",
            '        fence = replace(draft, oid=expected or "")\n',
        ),
    ),
    simulated(
        "who lost writes its ACK",
        (
            "claim",
            "        claimant.nonces.forget(draft.nonce)\n        return None\n",
            "        claimant.nonces.forget(draft.nonce)\n        if draft.ack_id:\n"
            "            ack = replace(_ack(draft, claimant), revision=99)\n"
            "            await edit(port, draft.ack_id, ack, claimant.keys, NO_WORDS)\n        return None\n",
        ),
        (
            "claim",
            "from shared.lock.writes import swap\n",
            "from shared.lock.comment import NO_WORDS\nfrom shared.lock.writes import edit, swap\n",
        ),
        world="in-step",
    ),
    unit("what is held is claimed", ("claim", "if view.standing is LockStanding.HELD:", "if False:")),
    unit(
        "the deadline counts from after the push",
        (
            "claim",
            "    lease = Lease(_ack(fence, claimant), fence, at, boot,",
            "    lease = Lease(_ack(fence, claimant), fence, at, port.boot(),",
        ),
    ),
    simulated("a breaker that is not asked", ("claim", "    await _admitted(port, claimant)\n", ""), world="rule-all"),
    simulated(
        "a pause before the comment does not count",
        ("announce", "if self._port.boot() >= self._lease.boot + self._claimant.times.self_fence:", "if False:"),
        world="harsh",
    ),
    simulated(
        "a comment is posted though there is one",
        ("announce", "for comment in adoptable(thread, self._view.key, self._claimant):", "for comment in ():"),
        world="own-edits",
    ),
    unit(
        "any comment of ours is taken for the lock's",
        ("announce", "return 3 if ack is not None and ack.key == key and not ack.opaque else 0", "return 3"),
    ),
    simulated(
        "a comment is posted before it is recorded that one is",
        (
            "announce",
            "        if self._lease.fence.posted <= before:\n"
            '            await self._move(replace(self._lease.fence, ack_id=0, posted=before + 1, oid=""))\n',
            "",
        ),
        ("claim", "        posted=old.posted + _asks_at_once(view, claimant),\n", ""),
        world="limited",
    ),
    simulated(
        "the comment is not recorded",
        (
            "announce",
            "        self._lease = replace(self._lease, posted=self._port.boot())\n        await self._record()\n",
            "        self._lease = replace(self._lease, posted=self._port.boot())\n",
        ),
    ),
    simulated(
        "a second post after a lost reply",
        (
            "announce",
            "            id = await self._posted_unanswered()\n",
            "            id = (await self._port.request(PostComment(self._view.key.number, body))).value.id\n",
        ),
    ),
    simulated(
        "a lost reply is not looked up",
        ("announce", "            id = await self._posted_unanswered()\n", "            id = 0\n"),
    ),
    unit(
        "who cannot be shown does not let go",
        (
            "announce",
            "        except (Transient, Blocked):\n            await self._let_go()\n            raise\n",
            "        except (Transient, Blocked):\n            raise\n",
        ),
    ),
    simulated(
        "posts are asked for without end", ("announce", "MOST_POSTS = 2\n", "MOST_POSTS = 10**6\n"), world="limited"
    ),
    simulated(
        "a loss while it is shown is overlooked",
        (
            "announce",
            '        if moved is None:\n            raise Lost("another agent has taken over")\n'
            "        self._lease = replace(self._lease, fence=moved)",
            "        if moved is None:\n            return\n        self._lease = replace(self._lease, fence=moved)",
        ),
        world="copied",
    ),
    simulated(
        "other ACKs are left as they are",
        ("announce", "or ack.state is not AckState.ACTIVE:", "or True:"),
        world="mixed",
    ),
    unit(
        "a comment that is not shown yet is posted again",
        ("announce", "self._view.standing is LockStanding.OURS or age < YOUNG_SECONDS", "False"),
    ),
    unit("an older text is taken for the last", ("announce", "if not self._may_lack_an_edit(first):", "if True:")),
    unit("the second reading always counts", ("announce", "for one in (first, await", "for one in (None, await")),
    unit("one try to show an epoch", ("announce", "TRIES = 3\n", "TRIES = 1\n")),
    unit("what was paid for is forgotten", ("claim", "old.paid_runs if intent.attempt is None else 0", "0")),
    unit(
        "an approval of another text stays",
        ("claim", '    same_text = intent.body_sha256 in {"", old.body_sha256}\n', "    same_text = True\n"),
    ),
    unit("an approval is forgotten", ("claim", "    if old.stage is Stage.READY:\n        return True\n", "")),
)
"""Of `claim` and `announce`."""
