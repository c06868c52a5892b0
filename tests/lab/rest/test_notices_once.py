"""Notices without a lease: each is posted once, even if its reply is lost and the list is late too."""

from __future__ import annotations

import pytest
from github_script import Plan, comment, scripted

from shared.commands.one_time_replies import Replies
from shared.errors import UnknownOutcome
from shared.github.comments import Comments
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.github.status import Status, StatusBoard
from shared.lock.write_permit import Notice
from shared.text.comment_signatures import Keyring
from shared.workflow import Role

R = "o/r"
KEYS = Keyring(1)
LOST, OLDER, CREATED = Plan(502, {"message": "Server Error"}), Plan(body=[]), Plan(201, comment(2))


@pytest.mark.fault(9)
async def test_a_reply_that_may_be_there_is_not_posted_again_before_every_list_would_show_it() -> None:
    async with scripted(OLDER, LOST, OLDER, OLDER, CREATED) as (github, script):
        replies = Replies(Comments(github, R), {7}, KEYS)
        with pytest.raises(UnknownOutcome):
            await replies.once(42, "mentioned", "Hello.")
        with pytest.raises(NotShown) as late:
            await replies.once(42, "mentioned", "Hello.")
        assert late.value.seconds == PATIENCE_SECONDS
        script.clock.seconds += PATIENCE_SECONDS
        assert await replies.once(42, "mentioned", "Hello.")
        assert [one for one in script.calls if one.startswith("POST")] == ["POST /repos/o/r/issues/42/comments"] * 2


async def test_another_reply_in_the_same_thread_does_not_wait_for_the_lost_one() -> None:
    async with scripted(OLDER, LOST, OLDER, CREATED) as (github, _):
        replies = Replies(Comments(github, R), {7}, KEYS)
        with pytest.raises(UnknownOutcome):
            await replies.once(42, "mentioned", "Hello.")
        assert await replies.once(42, "unknown-command", "There is no such command.")


async def test_a_status_comment_without_a_lease_waits_whatever_it_says_and_why() -> None:
    async with scripted(OLDER, LOST, OLDER) as (github, _):
        board = StatusBoard(Comments(github, R), Role.WORKER, {7}, KEYS)
        with pytest.raises(UnknownOutcome):
            await board.show(42, Status("It waits for #7."), Notice(42, "circular"))
        with pytest.raises(NotShown):
            await board.show(42, Status("It was edited."), Notice(42, "wording"))
