"""The rate of CI polls, the cost to understand a red commit, and the next step for the item."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ci_reader_scene import AT, BOT, HEAD, JOB, TIP, Ci

from shared.ci.ci_round import CiObservation, Rerun
from shared.ci.triage import Cause
from shared.ci.verdict import CiVerdict
from shared.lock.claim import Intent
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Check, CheckOutcome, Issue, PullRequest
from shared.scheduling.agent_contract import Skip
from shared.workflow import Role, Stage
from worker_agent.ci.ci_reader import rerun_noted
from worker_agent.decide import RED_BASE, Action, Snapshot, decide
from worker_agent.policy import Policy

FENCE = Fence(
    ItemKey(Role.WORKER, 42), 7, "n" * 32, "worker-1", Stage.TESTING, AT, phase="ci", base=TIP, work_head=HEAD, pr=57
)
PASSED = Check("test", CheckOutcome.PASSED)
RUNNING = Check("test", CheckOutcome.RUNNING)
OURS = "FAILED shop/test_cart.py::test_total - assert 1 == 2"


async def red(ci: Ci, fence: Fence = FENCE) -> CiObservation:
    reader = ci.reader()
    return await reader.diagnosed(fence, await reader.read(fence))


async def test_within_the_interval_nothing_is_asked() -> None:
    ci = Ci({HEAD: (RUNNING,)})
    reader = ci.reader(ci_interval_seconds=30.0)
    assert (await reader.glance(FENCE))[1]
    ci.seconds, ci.checks[HEAD] = 29.0, (PASSED,)
    reading, fresh = await reader.glance(FENCE)
    assert (reading.verdict, fresh) == (CiVerdict.RUNNING, False)
    ci.seconds = 30.0
    assert (await reader.glance(FENCE))[0].verdict is CiVerdict.GREEN
    assert ci.asked == ["checks a", "checks a", "required main"]


@pytest.mark.fault(42)
async def test_what_went_stale_is_run_once_more_and_then_counts_as_missing() -> None:
    stale = replace(JOB, outcome=CheckOutcome.STALE, conclusion="stale")
    ci = Ci({HEAD: (stale,)}, needed=frozenset({JOB.name}))
    assert (await red(ci)).verdict is CiVerdict.RED
    again = replace(FENCE, phase=str(Rerun(JOB.job_id or 0)))
    assert (await ci.reader().read(again)).running, "the rerun is awaited"
    refused = replace(FENCE, phase=str(Rerun(JOB.job_id or 0, refused=True)))
    for checks in ((stale,), (stale, Check("lint", CheckOutcome.PASSED))):
        ci.checks[HEAD] = checks
        reading = await ci.reader().read(refused)
        assert (reading.verdict, reading.running) == (CiVerdict.RUNNING, False), "nothing is repaired"
    ci.checks[HEAD] = (replace(stale, run_id=None, job_id=None),)
    assert (await ci.reader().read(FENCE)).verdict is CiVerdict.RUNNING, "somebody else's check cannot be run again"
    ci.checks[HEAD] = (stale,)
    spent = replace(FENCE, more=rerun_noted(FENCE))
    assert (await ci.reader().read(spent)).verdict is CiVerdict.RUNNING, "nobody is paid to repair it later on"


@pytest.mark.fault(42)
@pytest.mark.parametrize(("needed", "verdict"), [("", CiVerdict.GREEN), (JOB.name, CiVerdict.RED)])
async def test_a_superseded_job_is_run_once_more_only_where_the_base_requires_it(
    needed: str, verdict: CiVerdict
) -> None:
    replaced = replace(JOB, outcome=CheckOutcome.SUPERSEDED, conclusion="cancelled")
    ci = Ci({HEAD: (replaced, PASSED)}, needed=frozenset(filter(None, {needed})))
    found = await red(ci)
    assert found.verdict is verdict
    assert found.rerunnable is bool(needed)
    ci.checks[HEAD] = (replace(replaced, conclusion="failure"), PASSED)
    assert (await ci.reader().read(FENCE)).verdict is CiVerdict.GREEN, "run again, it would fail again"
    ci.checks[HEAD] = (replaced, PASSED)
    spent = replace(FENCE, more=rerun_noted(FENCE))
    assert (await ci.reader().read(spent)).verdict is CiVerdict.GREEN, "the newer run counts, whatever GitHub goes by"


@pytest.mark.fault(42)
async def test_what_is_required_is_asked_only_where_it_can_matter() -> None:
    for check, verdict in ((PASSED, CiVerdict.RUNNING), (RUNNING, CiVerdict.RUNNING), (JOB, CiVerdict.RED)):
        ci = Ci({HEAD: (check,)}, needed=frozenset({"security"}))
        assert (await ci.reader().read(FENCE)).verdict is verdict
        assert ("required main" in ci.asked) is (check is PASSED)


@pytest.mark.fault(42)
@pytest.mark.parametrize(("lax", "verdict"), [(False, CiVerdict.NONE), (True, CiVerdict.RED)])
async def test_only_where_none_would_be_green_a_ci_that_could_not_start_is_looked_for(
    lax: bool, verdict: CiVerdict
) -> None:
    ci, bounds = Ci(), replace(Policy("o/r").bounds, none_is_green=lax)
    assert (await ci.reader(bounds=bounds).read(FENCE)).verdict is verdict
    assert ("suites" in ci.asked) is lax


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("log", "base", "phase", "cause", "rerunnable", "action"),
    [
        ("", (), "ci", Cause.FLAKY, True, Action.RERUN_CI),
        ("", (), str(Rerun(6)), Cause.TESTS, False, Action.REPAIR),
        ("", (), str(Rerun(7, refused=True)), Cause.TESTS, False, Action.REPAIR),
        (OURS, (), "ci", Cause.TESTS, True, Action.REPAIR),
        (OURS, (JOB,), "ci", Cause.BASE, True, Action.WAIT_FOR_BASE),
        (OURS, (JOB,), RED_BASE, Cause.BASE, True, Action.WAIT_FOR_BASE),
        (OURS, (PASSED,), RED_BASE, Cause.TESTS, True, Action.RERUN_CI),
        ("Could not resolve host: x", (), "ci", Cause.INFRASTRUCTURE, True, Action.RERUN_CI),
        ("Could not resolve host: x", (), str(Rerun(6)), Cause.INFRASTRUCTURE, False, Action.WAIT_FOR_CI),
    ],
)
async def test_why_a_commit_is_red_and_what_is_done(
    log: str, base: tuple[Check, ...], phase: str, cause: Cause, rerunnable: bool, action: Action
) -> None:
    fence = replace(FENCE, phase=phase)
    reading = await red(Ci({HEAD: (JOB,), TIP: base}, log), fence)
    assert reading.diagnosis is not None
    assert (reading.diagnosis.cause, reading.rerunnable) == (cause, rerunnable)
    issue = Issue(42, "T", "", frozenset(), BOT, AT, AT)
    pull = PullRequest(57, "T", "", BOT, frozenset(), "auto/issue-42", HEAD, "main")
    assert decide(Snapshot(fence, issue, pull, checks=reading.verdict, ci=reading), now=AT) is action


async def test_the_logs_of_the_same_checks_are_read_once() -> None:
    ci = Ci({HEAD: (JOB,)})
    reader = ci.reader()
    for _ in range(3):
        await reader.diagnosed(FENCE, await reader.read(FENCE))
    assert ci.asked.count("log 7") == 1
    ci.checks[HEAD] = (JOB, replace(JOB, name="lint", job_id=8))
    await reader.diagnosed(FENCE, await reader.read(FENCE))
    assert ci.asked.count("log 8") == 1


@pytest.mark.parametrize(
    ("base", "waits"),
    [
        ((JOB,), True),
        ((RUNNING,), True),
        ((PASSED,), False),
        ((), False),
        ((PASSED, Check("deploy", CheckOutcome.FAILED)), False),
        ((PASSED, Check("deploy", CheckOutcome.RUNNING)), False),
        ((JOB, Check("deploy", CheckOutcome.PASSED)), True),
    ],
)
async def test_an_item_that_waits_for_its_base_is_not_claimed_before_its_own_checks_are_green_there(
    base: tuple[Check, ...], waits: bool
) -> None:
    ci = Ci({HEAD: (JOB,), TIP: base})
    intent = Intent(Stage.TESTING, RED_BASE)
    for other in ("nothing to do", Intent(Stage.TESTING, "ci"), replace(intent, attempt=0)):
        assert await ci.reader().skip_while_base_is_red(other, FENCE) is None
    assert await ci.reader().skip_while_base_is_red(intent, None) is None
    assert ci.asked == []
    assert isinstance(await ci.reader().skip_while_base_is_red(intent, FENCE), Skip) is waits
