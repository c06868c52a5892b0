"""Bugs in how an ACK and a fence are written and read: whom is believed, and what."""

from __future__ import annotations

from .mutant import simulated, unit

SPELLING = (
    simulated(
        "any author trusted",
        (
            "comment",
            "    return _judged(comment, keys) if comment.author.id in accounts else None",
            "    return _judged(comment, keys)",
        ),
    ),
    simulated(
        "a wrong MAC counts", ("comment", "return ack if verdict is CommentSignatures.VALID else None", "return ack")
    ),
    simulated(
        "an unknown key counts as nothing", ("comment", "if verdict is CommentSignatures.UNKNOWN_KEY:", "if False:")
    ),
    simulated(
        "an unknown key counts as ours",
        ("comment", "return replace(ack, opaque=True, ttl_seconds=min(ack.ttl_seconds, OPAQUE_SECONDS))", "return ack"),
        world="calm",
    ),
    simulated(
        "another kind's ACK counts",
        ("view", "if ack is not None and ack.key == key)", "if ack is not None)"),
        world="one-thread",
    ),
    simulated(
        "an edit shows in nothing without a key",
        ("comment", "found is None or found[4] != _sum(rest) or", "found is None or"),
        world="calm",
    ),
    simulated(
        "an ACK without an end",
        (
            "codec",
            "return self.state is AckState.ACTIVE and at - self.updated_at < timedelta(seconds=self.ttl_seconds)",
            "return self.state is AckState.ACTIVE",
        ),
        world="ref-deleted",
    ),
    simulated(
        "an older engine's first line alone is no ACK",
        ("format_1", "LEGACY if legacy else parse(second)", "None if legacy else parse(second)"),
        world="calm",
    ),
    simulated(
        "fences of format 1 cannot be read",
        ("fence", 'FORMATS = frozenset({"1", "2"})', 'FORMATS = frozenset({"2"})'),
        world="mixed",
    ),
    simulated(
        "a fence that cannot be read is none",
        ("gateway", "            raise ForeignFence(item.ref, found[0])\n", "            return None\n"),
        world="calm",
    ),
    unit(
        "a newer engine's comment is no ACK",
        ("comment", "    if is_newer(comment.body):\n        return _of_newer(comment)\n", ""),
    ),
    unit(
        "what cannot be checked lasts as long as it says",
        ("codec", 'ttl = min(int(known["ttl"]), OPAQUE_SECONDS)', 'ttl = int(known["ttl"])'),
    ),
    unit("a comment of any length", ("comment", "    if len(body) > MOST_CHARACTERS:\n", "    if False:\n")),
    unit(
        "what an agent tells can end its fold",
        (
            "comment",
            "    while _OPEN in text or _BEFORE_LOCK in text:",
            "    while False:",
        ),
    ),
    unit(
        "a line that nobody can read back",
        (
            "codec",
            '    if not _LINE.fullmatch(text):\n        raise ValueError(f"no ACK can be written as {text!r}")\n',
            "",
        ),
    ),
    unit("a time without a zone", ("fence", "    if at.tzinfo is None:\n", "    if False:\n")),
    unit("what is not known of a fence is lost", ("fence", "        **dict(fence.more),\n", "")),
    unit("a person's word in two lines", ("fence", "' '.join(value.split())", "value")),
    unit(
        "what a fence names is not known to exist",
        ("gateway", "        self._named(fence)\n        return fence\n", "        return fence\n"),
    ),
    unit(
        "a clock is always sure",
        ("gateway", "sent[-1] if sent else None, self._sure())", "sent[-1] if sent else None)"),
    ),
)
"""Of `codec`, `comment`, `fence` and `gateway`."""
