"""Ordinary acts of a maintainer while the engine works: every item goes on, or tells what it needs to go on."""

from __future__ import annotations

import pytest
from branch_scene import move, push, tip, work_branch
from engine import OWNER, REPOSITORY, Engine
from office import office
from worker_scene import calls, claims, labels, pulls

from lab.github.ci.behaviours import GREEN, NEVER
from lab.github.merge_button import MergeOrder, press
from shared.specification import body_sha256
from shared.workflow import Role

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"


async def test_a_title_that_its_author_corrects_while_ci_runs_holds_nothing_up(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        engine.lab.ci_mood(REPOSITORY, NEVER)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_proposed(number), here.worker)
        here.edit(number, title="Greet ant kindly")
        here.edit(number, body=f"{BODY}\nThanks!\n")
        await here.until(lambda: "was edited by somebody with write access" in here.status(number), here.worker)
        assert "Waiting for CI" in here.status(number)
        fence = await engine.fence(Role.WORKER, number)
        assert fence is not None
        assert fence.body_sha256 == body_sha256("Greet ant kindly", f"{BODY}\nThanks!\n")
        engine.lab.ci_mood(REPOSITORY, GREEN)
        await engine.lab.ci_run(REPOSITORY, work_branch(number))
        await here.until(lambda: here.is_merged(number))
    assert (calls(engine, "write_tests"), calls(engine, "implement")) == (1, 1), "nothing is paid for anew"


async def test_an_issue_that_is_locked_says_what_leads_on_once_it_is_unlocked(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_proposed(number), here.worker)
        engine.lab.lock(REPOSITORY, number, actor=OWNER)
        await here.look(3)
        told, pull = here.status(number), here.pull(number).number
        assert "Stopped: the issue was locked." in told
        assert f"unlock this issue, then set `status:reviewing` on this issue and on #{pull}" in told
        assert not {one for one in labels(engine, number) | labels(engine, pull) if one.startswith("status:")}
        engine.lab.unlock(REPOSITORY, number, actor=OWNER)
        here.label(number, "status:reviewing")
        here.label(pull, "status:reviewing")
        await here.until(lambda: here.is_merged(number))
    assert len(pulls(engine)) == 1


async def test_a_request_for_changes_without_a_word_is_not_passed_on_for_ever(engine: Engine) -> None:
    """Grace has deleted the one remark with which she requested changes; at last her review is dismissed."""
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        engine.lab.clock.advance(2)
        asked = engine.lab.review(REPOSITORY, pull, author="grace", state="CHANGES_REQUESTED")
        await here.until(lambda: "Changes are still requested" in here.status(pull), looks=12)
        before = claims(engine, number)
        await here.look(3)
        assert (claims(engine, number), calls(engine, "implement")) == (before, 1), "nobody is sent round and round"
        assert here.is_approved(number)
        engine.lab.clock.advance(2)
        engine.lab.at(REPOSITORY).pulls.dismiss(asked, OWNER, "Never mind.")
        here.approve(pull)
        engine.lab.clock.advance(301)
        await here.until(lambda: here.is_merged(number))


async def test_what_is_added_to_an_issue_after_its_review_is_told_with_the_merge_and_worked_on_when_asked_for(
    engine: Engine,
) -> None:
    """The owner thinks of something else, and presses the merge button all the same."""
    async with office(engine, "ant", "bee") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        here.edit(number, title="Greet bee", body=BODY.replace("ant", "bee"))
        here.approve(here.pull(number).number)
        await press(engine.lab.at(REPOSITORY), here.pull(number).number, MergeOrder("merge"), engine.lab.account(OWNER))
        await here.until(lambda: here.is_merged(number) and "Merged in #" in here.status(number))
        told = here.status(number)
        assert "Merged in #" in told
        assert "edited after the coder had finished" in told
        assert "open the issue again and set `status:ready`" in told
        engine.lab.clock.advance(2)
        engine.lab.reopen(REPOSITORY, number, actor=OWNER)
        here.label(number, "status:ready")
        await here.until(lambda: len(pulls(engine)) == 2 and here.is_approved(number))
        here.approve(here.pull(number).number)
        await here.until(lambda: here.is_merged(number))
        assert "edited after" not in here.status(number)


async def test_a_pull_request_that_is_to_go_into_another_branch_is_reviewed_for_that_and_merged_there(
    engine: Engine,
) -> None:
    """The owner wants an approved pull request in a release branch, and changes its base on GitHub's page."""
    async with office(engine, "ant") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        await move(engine, "release", await tip(engine, "main"))
        pull = here.pull(number).number
        engine.lab.at(REPOSITORY).pulls.records.change(pull, base_branch="release")
        engine.lab.clock.advance(2)
        engine.lab.at(REPOSITORY).issues.touch(pull)
        await here.until(lambda: "Set `status:reviewing` for another review" in here.status(pull))
        assert "approval for `release` is not on GitHub" in here.status(pull)
        here.label(pull, "status:reviewing")
        await here.until(lambda: here.is_merged(number))
        assert f"Merged in #{pull}" in here.status(number)
    assert await engine.lab.at(REPOSITORY).bare.read("refs/heads/release", "ant.txt")
    assert not await engine.lab.at(REPOSITORY).bare.read("refs/heads/main", "ant.txt")


async def test_labels_that_are_renamed_in_the_settings_come_back_and_the_work_goes_on(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        there = engine.lab.at(REPOSITORY)
        for old, new in (("status:approved", "ok"), ("status:reviewing", "in review")):
            there.labels.change(old, new, None, None)
            there.issues.label_renamed(old, new)
        await here.until(lambda: here.is_approved(number), looks=50)
        assert "status:reviewing" in labels(engine, number)
        here.approve(here.pull(number).number)
        await here.until(lambda: here.is_merged(number))
        assert labels(engine, number) == {"in review"}, "what people call theirs stays"


async def test_what_is_said_of_an_approved_pull_request_is_named_before_it_is_merged(engine: Engine) -> None:
    """Grace has an idea while Alan has still to approve; he does, and her idea is not lost without a word."""
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.say(pull, "Could you say it to the fly as well?", by="grace")
        told = "it came after the approving review: set `status:changes-requested` to have it worked on"
        await here.until(lambda: told in here.status(pull))
        said = len(here.said(pull))
        here.unlabel(pull, "status:approved")
        here.label(pull, "status:changes-requested")
        await here.until(lambda: calls(engine, "implement") == 2 and here.is_approved(number))
        here.approve(pull, by="alan")
        await here.until(lambda: here.is_merged(number))
        assert len([one for one in here.said(pull) if "engine-status/" in one.body]) == 1
        assert said == 2, "no comment more"


async def test_whoever_takes_every_label_off_is_told_what_leads_on(engine: Engine) -> None:
    """The owner tidies up the labels of issue and pull request, and wonders a quarter of an hour later."""
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        for one in (number, pull):
            for label in sorted(labels(engine, one)):
                here.unlabel(one, label)
        await here.until(lambda: "Stopped: " in here.status(pull) and "Stopped: " in here.status(number), looks=45)
        assert "Set `status:reviewing` to have it reviewed again" in here.status(pull)
        assert f"set `status:reviewing` on this issue and on #{pull}" in here.status(number)
        here.label(number, "status:reviewing")
        here.label(pull, "status:reviewing")
        here.approve(pull)
        await here.until(lambda: here.is_merged(number))


async def test_an_issue_that_a_person_has_done_himself_leaves_a_pull_request_that_says_so(engine: Engine) -> None:
    """The owner was faster: his own pull request closes the issue, and the engine's conflicts with it."""
    async with office(engine, "ant") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        pull, there = here.pull(number).number, engine.lab.at(REPOSITORY)
        await push(engine, "mine", {"ant.txt": "hello\n"}, on=await tip(engine, "main"))
        thread = there.issues.open(OWNER, "Greet ant myself", f"Closes #{number}", is_pull=True)
        there.pulls.open(thread, ("mine", await tip(engine, "mine")), ("main", await tip(engine, "main")), draft=False)
        engine.lab.configure(REPOSITORY, protections={})
        await press(there, thread.number, MergeOrder("squash"), engine.lab.account(OWNER))
        await here.until(lambda: "close it if it is not wanted any more" in here.status(pull))
        assert "its issue is closed" in here.status(pull)
        engine.lab.clock.advance(2)
        engine.lab.close(REPOSITORY, pull, actor=OWNER)
        await here.until(lambda: "waits for review" not in here.status(number), looks=45)
        await here.until(lambda: "Stopped: " in here.status(pull), looks=45)
        shown = labels(engine, number) | labels(engine, pull)
        assert not {one for one in shown if one.startswith(("status:", "flag:"))}


async def test_an_issue_that_is_moved_elsewhere_leaves_a_pull_request_that_a_person_merges(engine: Engine) -> None:
    """The owner transfers the issue while its pull request waits for Grace."""
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        await engine.lab.repository("ada/other", {"README.md": "Another one.\n"})
        engine.lab.transfer(REPOSITORY, number, "ada/other", actor=OWNER)
        here.approve(pull)
        await here.until(lambda: "Merge it yourself if you want it all the same" in here.status(pull))
        assert "paused, excluded, gone" in here.status(pull)
        await press(engine.lab.at(REPOSITORY), pull, MergeOrder("merge"), engine.lab.account(OWNER))
        await here.until(lambda: "Merged." in here.status(pull))
        assert labels(engine, pull) == {"automated"}
