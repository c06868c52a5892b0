"""Bugs in what a reader concludes: who holds an item, since when, and when it is free."""

from __future__ import annotations

from .mutant import simulated, unit

READING = (
    simulated("no second look", ("view", "if left <= 0 and view.sure:", "if view.sure:")),
    simulated(
        "a second look at another fence",
        ("view", "if oid != view.fence.oid:", "if not oid:"),
        world="parked",
    ),
    simulated("the second look a second later", ("claimant", "self.timeout / 30 + 1", "1"), world="quick"),
    simulated(
        "an unsure clock decides",
        ("view", "if left <= 0 and view.sure:", "if left <= 0:"),
        ("claim", "    if not view.sure:\n", "    if not view.at:\n"),
        world="date-burst",
    ),
    simulated(
        "an unsure clock claims", ("claim", "    if not view.sure:\n", "    if not view.at:\n"), world="date-burst"
    ),
    unit(
        "an unsure clock ends a dead life",
        ("ended_epochs", "is LockStanding.OURS and view.sure and", "is LockStanding.OURS and"),
    ),
    unit("an unsure clock ends what was put back", ("ended_epochs", "(thread.sure and not", "(not")),
    unit(
        "a ref that was put back hides a dead epoch",
        (
            "ended_epochs",
            "    if ack is None or ack.opaque or ack.key != fence.key:\n",
            "    if ack is None or ack.opaque or ack.key != fence.key or ack.epoch > fence.epoch:\n",
        ),
    ),
    simulated(
        "the fence is read after the thread",
        (
            "view",
            "    looked = await port.request(ReadFence(key))\n",
            "    await port.request(ReadComments(key.number))\n    looked = await port.request(ReadFence(key))\n",
        ),
    ),
    simulated(
        "a fence is looked up anew after the look",
        (
            "view",
            "    seen = LockView(\n",
            "    known = replace(known, fence=(await port.request(ReadFence(key))).value)\n    seen = LockView(\n",
        ),
        world="in-step",
    ),
    unit("released without its nonce", ("fence", "self.released == self.nonce", "bool(self.released)")),
    simulated(
        "nothing is ever free", ("fence", "return self.format > 1 and self.released == self.nonce", "return False")
    ),
    simulated("our own nonce means nothing", ("standing", "if known.mine(fence.agent, fence.nonce):", "if False:")),
    simulated(
        "any epoch of the same agent is ours",
        ("claimant", "agent == claimant.agent and claimant.nonces.mine(nonce)", "agent == claimant.agent"),
        world="copied",
    ),
    simulated(
        "whatever is held is ours",
        ("claimant", "return agent == claimant.agent and claimant.nonces.mine(nonce)", "return True"),
    ),
    simulated("a fresh stamp means nothing", ("standing", "if known.at < fresh:", "if False:")),
    simulated("a stamp lasts for ever", ("standing", "if known.at >= certain:", "if False:"), world="own-edits"),
    simulated("certain as soon as the timeout", ("claimant", "return 1.5 * self.timeout", "return self.timeout")),
    simulated(
        "one heartbeat of grace",
        (
            "standing",
            "fence.stamped + _seconds(times.timeout), fence.stamped + _seconds(times.certain)",
            "fence.stamped + _seconds(times.heartbeat), fence.stamped + _seconds(2 * times.heartbeat)",
        ),
    ),
    simulated(
        "no comment means dead",
        (
            "standing",
            "    return Conclusion(LockStanding.HELD, fence.agent, certain, fence.epoch)\n\n\ndef _by_text",
            "    return Conclusion(LockStanding.DEAD, fence.agent, certain, fence.epoch)\n\n\ndef _by_text",
        ),
    ),
    simulated(
        "an edit is no sign of life",
        ("standing", "until = max(fence.stamped, text.updated_at)", "until = fence.stamped"),
    ),
    simulated(
        "an edit by a person means dead",
        (
            "standing",
            "    until = max(fence.stamped, text.updated_at) +",
            "    if text.ack is None:\n"
            "        return Conclusion(LockStanding.DEAD, fence.agent, fence.at, fence.epoch)\n"
            "    until = max(fence.stamped, text.updated_at) +",
        ),
    ),
    unit(
        "another nonce means dead",
        (
            "standing",
            "    until = max(fence.stamped, text.updated_at) +",
            "    if text.ack is not None and text.ack.nonce != fence.nonce:\n"
            "        return Conclusion(LockStanding.DEAD, fence.agent, fence.at, fence.epoch)\n"
            "    until = max(fence.stamped, text.updated_at) +",
        ),
    ),
    unit(
        "what a comment says of a release counts",
        (
            "standing",
            "    until = max(fence.stamped, text.updated_at) +",
            "    if text.ack is not None and text.ack.state is not AckState.ACTIVE:\n"
            "        return Conclusion(LockStanding.FREE, fence.agent, epoch=fence.epoch)\n"
            "    until = max(fence.stamped, text.updated_at) +",
        ),
    ),
    unit("a ref that was put back is believed", ("standing", "text.ack.epoch > fence.epoch", "False")),
    simulated(
        "a ref that was deleted frees",
        (
            "standing",
            "    if not live:\n        return Conclusion(LockStanding.FREE, epoch=highest)",
            "    if True:\n        return Conclusion(LockStanding.FREE, epoch=highest)",
        ),
        world="ref-deleted",
    ),
    simulated(
        "a chain that begins anew counts from one",
        ("standing", "return Conclusion(LockStanding.FREE, epoch=highest)", "return Conclusion(LockStanding.FREE)"),
        world="ref-deleted",
    ),
    unit("a predecessor means nothing", ("format_1", "if ack.id > holder and names:", "if ack.id > holder:")),
    unit(
        "who succeeds an older engine's fence is not seen",
        ("format_1", "if ack.id == holder_id != fence.ack_id), None)", "if False), None)"),
    ),
    simulated(
        "an older engine's release counts for any nonce",
        ("format_1", "if own is not None and own.nonce != fence.nonce:", "if False:"),
        world="mixed",
    ),
    simulated(
        "an older engine's fence is free",
        (
            "standing",
            "        return _of_format_1(known, fence, times) if known.asked_thread else Question.THREAD",
            "        return Conclusion(LockStanding.FREE, fence.agent)",
        ),
        world="mixed",
    ),
    unit("a fold without what was deleted", ("format_1", "ack.prev in deleted)", "False)")),
    unit(
        "a whole day is not looked back",
        ("view", "max(times.timeout, OPAQUE_SECONDS)", "min(times.heartbeat, OPAQUE_SECONDS)"),
    ),
    unit("what is held is looked at once a minute", ("view", "min(max(left, 1.0), times.heartbeat)", "60.0")),
)
"""Of `standing`, `view`, `format_1`, and the times of `claimant`."""
