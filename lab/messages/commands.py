"""Texts about commands and labels that are posted or recorded, for all agents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from lab.messages.samples import ISSUE, NAMES, OPENED, PULL
from lab.messages.text import Message
from shared.commands import (
    command_loop,
    command_reader,
    command_rules,
    one_time_replies,
    text_unchanged,
    untrusted_comments,
)
from shared.commands.command_rules import CommandRefused
from shared.escalation import approvals
from shared.github.label_board import LOOKS
from shared.reconcile import end_message
from shared.specification import body_sha256
from shared.workflow import Stage, Track


def messages() -> Iterator[Message]:
    """Answers to commands, calls for people, and what labels say of themselves."""
    yield Message("closing.merged", end_message.merged(OPENED, PULL, 0.42, timedelta(minutes=25)))
    later = replace(OPENED, body_sha256=body_sha256(ISSUE.title, "An older text."))
    yield Message.of(end_message.edited_since, later, ISSUE, NAMES)
    for track, stage in ((Track.STORY, Stage.AWAITING_APPROVAL), (Track.SPECIFICATION, Stage.FAILED)):
        yield Message(f"rulings.offered, {track} at {stage}", command_rules.offered(track, stage))
    yield Message("rulings.offered, approved pull request", command_rules.offered(Track.PULL_REQUEST, Stage.APPROVED))
    yield Message("desk.APPROVE", command_loop.APPROVE)
    yield Message.of(command_loop.stopped, "ada", "status:reviewing")
    yield Message.of(command_loop.correction_wanted, "ada", 15)
    yield Message("notices.untrusted_label", one_time_replies.untrusted_label("status:ready", "mallory")[1])
    yield Message("notices.unexplained_label", one_time_replies.unexplained_label("status:ready")[1])
    for subject in ("plan", "merge", *approvals.HELD_UP):
        yield Message(
            f"approvals.PendingDecision, {subject}", approvals.PendingDecision(15, subject, "", OPENED.at).sentence(24)
        )
    refused = {ruled.sentence: None for ruled in command_rules.TABLE.values() if isinstance(ruled, CommandRefused)}
    recorded = [
        command_rules.UNASKED.sentence,
        *refused,
        command_reader.EDITED,
        untrusted_comments.NO_WRITE,
        text_unchanged.MAY_BE_EDITED,
    ]
    recorded += [ruled.sentence for ruled in command_rules.BY_CONFIGURATION.values()]
    recorded += [command_rules.not_merged({"waiting": {"why": why}}) for why in command_rules.NOT_CLEARED]
    lines = dict.fromkeys(re.sub(r"'[a-z-]+'", "'<stage>'", one) for one in recorded)
    yield Message("outcomes of commands, in the status comment", "\n".join(f"- {one}" for one in lines))
    yield Message("labels", "\n".join(f"- `{name}`: {look[1]}" for name, look in LOOKS.items()))
