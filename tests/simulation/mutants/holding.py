"""Bugs in how an epoch is kept, moved on and ended."""

from __future__ import annotations

from .mutant import simulated, unit

HOLDING = (
    simulated(
        "no self-fence",
        ("hold", "if not held.lost and held.port.boot() >= held.deadline:", "if False:"),
        ("hold", "max(0.0, min(pause, held.deadline - held.port.boot()))", "pause"),
        world="expired",
    ),
    simulated(
        "a heartbeat counts from its end",
        ("hold", "held.deadline = sent + held", "held.deadline = held.port.boot() + held"),
        world="sluggish",
    ),
    simulated(
        "the deadline is never moved", ("hold", "        held.deadline = sent + held.claimant.times.self_fence\n", "")
    ),
    simulated(
        "a heartbeat does not look at the fence",
        ("hold", "        if fence is None or fence.nonce != held.ack.nonce:\n", "        if False:\n"),
        world="ref-deleted",
    ),
    simulated(
        "a deleted ref is no loss",
        (
            "hold",
            "        if fence is None or fence.nonce != held.ack.nonce:\n",
            "        if fence is not None and fence.nonce != held.ack.nonce:\n",
        ),
        world="ref-deleted",
    ),
    simulated("no stamps", ("hold", "            await _stamp(held)\n", "            pass\n"), world="own-edits"),
    simulated(
        "stamps come too late",
        (
            "claimant",
            "return self.certain - self.self_fence - self.heartbeat - self.timeout / 30",
            "return self.certain",
        ),
        world="own-edits",
    ),
    simulated(
        "a heartbeat that reads nothing",
        ("hold", "    if found is not None:\n        await _look(held, found)\n    if words", "    if words"),
    ),
    simulated(
        "a person's edit is written over",
        (
            "hold",
            "    if ack is None or ack.opaque:\n        raise _lose_by_order(held, EDITED)\n",
            "    if ack is None or ack.opaque:\n        return\n",
        ),
    ),
    simulated(
        "an edit by a person is noticed and not obeyed",
        ("hold", "        raise _lose_by_order(held, EDITED)\n", '        held.lost = ""\n'),
    ),
    simulated(
        "a deleted comment is no loss",
        (
            "hold",
            "    if not there and not _is_new(held):\n        raise _lose_by_order(held, DELETED)\n",
            "",
        ),
    ),
    simulated(
        "what may be deleted is looked for as seldom as ever",
        ("hold", "server, sent if there else held.beaten", "server, sent"),
        world="calm",
    ),
    simulated(
        "a new comment may not be late",
        ("hold", "NEW_SECONDS = 120.0\n", "NEW_SECONDS = 0.0\n"),
        (
            "hold",
            "    if found is not None:\n        await _look(held, found)\n    if words",
            "    if found is None and not _is_new(held):\n        raise _lose_by_order(held, DELETED)\n"
            "    if found is not None:\n        await _look(held, found)\n    if words",
        ),
        world="laggy",
    ),
    simulated(
        "a newer epoch's text is written over",
        ("hold", "    if ack.epoch > held.fence.epoch:\n        raise _lose(held, TAKEN)\n", ""),
        world="copied",
    ),
    simulated(
        "another nonce means edited by a person",
        (
            "hold",
            "    if ack.nonce == held.ack.nonce or held.unread:\n        shown",
            "    if ack.nonce != held.ack.nonce:\n        raise _lose_by_order(held, EDITED)\n    else:\n        shown",
        ),
        world="odd-edits",
    ),
    unit("an unread comment loses its words", ("hold", " or held.unread:", ":")),
    unit("texts of this lease are forgotten", ("hold", "    held.written |= {", "    held.written = {")),
    simulated(
        "an order to stop is not remembered",
        (
            "hold",
            "    held.claimant.nonces.forget(held.ack.nonce)  # our next claim must not go on with this epoch\n",
            "",
        ),
    ),
    simulated(
        "who is stopped keeps the fence",
        ("hold", "    if held.lost and not ordered:\n", "    if held.lost:\n"),
    ),
    unit(
        "the fence is free before the work has ended",
        (
            "hold",
            "        raise _lose_by_order(held, EDITED)\n",
            "        error = _lose_by_order(held, EDITED)\n        await _stamp_or_release(held, held.ack.nonce)\n"
            "        raise error\n",
        ),
    ),
    simulated(
        "the fence is not released",
        (
            "hold",
            "            if not held.fence.free and not await _stamp_or_release(held, held.ack.nonce):\n"
            "                return False\n",
            "            pass\n",
        ),
    ),
    unit(
        "the comment is not told of the end",
        ("hold", "            await _tell_end(held, state)\n", "            pass\n"),
    ),
    simulated(
        "the fence is released under another nonce",
        (
            "hold",
            "if not held.fence.free and not await _stamp_or_release(held, held.ack.nonce):",
            'if not held.fence.free and not await _stamp_or_release(held, "0" * 32):',
        ),
    ),
    simulated(
        "a late write of our own is a loss",
        ("fence_moves", "    if current is not None and current.nonce == held.ack.nonce:\n", "    if False:\n"),
        world="hostile",
    ),
    simulated(
        "another epoch's fence is gone on with",
        (
            "fence_moves",
            "    if current is not None and current.nonce == held.ack.nonce:\n",
            "    if current is not None:\n",
        ),
        world="harsh",
    ),
    simulated(
        "a late release frees whoever holds",
        (
            "hold",
            "        if current is None or current.nonce != held.ack.nonce:\n            return False\n",
            "        if current is None:\n            return False\n",
        ),
        world="harsh",
    ),
    simulated(
        "a push that is not checked",
        (
            "fence_moves",
            "    async with turn(held, held.moves):\n        held.check()\n        old",
            "    async with turn(held, held.moves):\n        old",
        ),
        world="expired",
    ),
    simulated(
        "an end does not free",
        (
            "fence_moves",
            "return replace(fence, released=fence.nonce) if fence.stage in TERMINAL else fence",
            "return fence",
        ),
    ),
    unit(
        "a tombstone on whatever stands there",
        ("fence_moves", "    if fence is None or fence.stage is not stage:\n", "    if fence is None:\n"),
    ),
    simulated(
        "a lost reply counts as refused",
        (
            "writes",
            "        if (current.oid if current else None) == expected:\n            raise\n",
            "        if (current.oid if current else None) == expected:\n            return None\n",
        ),
    ),
    simulated(
        "a lost reply counts as done",
        (
            "writes",
            "        return current if current == read_fence(",
            "        return current if True or current == read_fence(",
        ),
        world="harsh",
    ),
    simulated(
        "a lost reply is not looked up in the fence",
        (
            "writes",
            "    except UnknownOutcome:\n        try:\n",
            "    except UnknownOutcome:\n        return None\n        try:\n",
        ),
    ),
    simulated(
        "a breaker that nobody tells",
        ("writes", "        if breaker is not None:\n            breaker.trip(error, port.boot())\n", ""),
        world="rule-all",
    ),
    unit("waits of the breaker do not grow", ("breaker", "first * 2.0**self._refusals", "first")),
    unit(
        "waits of the breaker have no end",
        ("breaker", "min(first * 2.0**self._refusals, longest)", "first * 2.0**self._refusals"),
    ),
    unit("the breaker closes without a word", ("breaker", '            self.tell("", 0.0)\n', "            pass\n")),
    unit("agents that were refused together come back together", ("breaker", "(1 + JITTER * self._chance())", "1")),
    unit("one success forgets nothing", ("breaker", "self.proven, self._refusals = True, 0", "self.proven = True")),
    unit(
        "a heartbeat is not tried again soon",
        ("hold", "            pause = interval / RETRY_SHARE\n", "            pause = interval\n"),
    ),
    unit(
        "what is too long for GitHub is not shortened",
        (
            "writes",
            "        return (await port.request(EditComment(id, write_ack(ack, keys)))).value\n",
            "        raise\n",
        ),
    ),
    unit("a stamp takes a late end back", ("hold", "released=released or fence.released", "released=released")),
    unit(
        "a shorter text is written after any pause",
        ("writes", "        check()\n", ""),
    ),
    unit(
        "what a claim wrote over is a person's edit",
        ("hold", "([] if lease.replaced is None else [lease.replaced])", "[]"),
    ),
    unit("what was told before a claim is a person's edit", ("hold", "ack is None and is_told(", "False and is_told(")),
    unit("two proofs of one lease", ("hold", "        if seal is not _SEAL:\n", "        if False:\n")),
    unit(
        "a commit is left behind",
        (
            "fence_moves",
            'carries = "" if new.work_head == old.work_head or _publishes(updates, new.work_head) else new.work_head',
            'carries = ""',
        ),
    ),
    unit("progress forgets nothing", ("fence_moves", "if change.progress else old", "if False else old")),
    unit(
        "an end that leaves the other fence",
        (
            "fence_moves",
            'AdvanceFence(ended, held.fence.oid, "", updates, tombstone)',
            'AdvanceFence(ended, held.fence.oid, "", updates)',
        ),
    ),
    unit("the block's end is not told", ("scope", "            await release(held)\n", "            pass\n")),
    unit("a lost lease ends quietly", ("scope", '    if lost not in {"", RELEASED}:\n', "    if False:\n")),
    unit(
        "a heartbeat's bug is swallowed",
        (
            "scope",
            "                except Exception as error:  # a bug of ours ends the work too, and comes out as "
            "itself\n                    failure = error\n",
            "                except Exception:\n                    pass\n",
        ),
    ),
)
"""Of `hold`, `fence_moves`, `writes`, `breaker` and `scope`."""
