"""A long context is summarised before the plan, a short one is not: the call costs money."""

from __future__ import annotations

import pytest
from fakes.planner_coder import plan
from fakes.planner_github import Bench

from planner_agent.context import references
from shared.llm.port import CoderCall, Ending, RunOutcome
from shared.scheduling.agent_contract import Result

LONG = "word " * 1500


def summary(words: int) -> dict[str, str]:
    return {"summary": " ".join(["gist"] * words)}


async def told(answers: list[object], *, comment: str = LONG) -> Bench:
    """Have a planner plan a story with long comments of a trusted person."""
    bench = Bench()
    bench.coder.answers = answers  # type: ignore[assignment]
    number = bench.world.story()
    bench.world.say(number, comment)
    (ended,) = await bench.tick()
    assert ended.result is Result.PARKED
    return bench


async def test_a_short_context_is_passed_on_as_it_is() -> None:
    bench = await told([plan()], comment="By name.")
    assert [one.call for one in bench.coder.asked] == [CoderCall.PLAN]
    assert "By name." in bench.coder.asked[0].prompt


async def test_a_long_context_is_summarised_first() -> None:
    bench = await told([summary(600), plan()])
    first, second = bench.coder.asked
    assert (first.call, second.call) == (CoderCall.SUMMARISE, CoderCall.PLAN)
    assert first.role == second.role == "architect"
    assert "word word" in first.prompt
    assert "gist gist" in second.prompt
    assert "word word" not in second.prompt


@pytest.mark.parametrize("words", [499, 1001])
async def test_a_summary_of_the_wrong_length_is_corrected_once(words: int) -> None:
    bench = await told([summary(words), summary(500), plan()])
    assert [one.call for one in bench.coder.asked] == [CoderCall.SUMMARISE, CoderCall.SUMMARISE, CoderCall.PLAN]
    assert f"the summary has {words} words; 500 to 1000 are wanted" in bench.coder.asked[1].prompt
    assert "gist gist" in bench.coder.asked[2].prompt


@pytest.mark.fault(21)
@pytest.mark.parametrize("bad", [summary(3), {"summary": 4}, RunOutcome(Ending.MALFORMED, "Here is it:")])
async def test_without_a_usable_summary_the_plan_is_made_from_the_text(bad: object) -> None:
    bench = await told([bad, bad, plan()])
    assert [one.call for one in bench.coder.asked] == [CoderCall.SUMMARISE, CoderCall.SUMMARISE, CoderCall.PLAN]
    assert "word word" in bench.coder.asked[2].prompt


async def test_what_people_without_write_access_say_is_not_counted() -> None:
    bench = Bench()
    number = bench.world.story(body="See #14 and gh-15, not ada/x#16.")
    assert number == 12
    bench.world.open("Filler")
    bench.world.open("Trusted wish", "Find by login." + "\n<!-- hidden -->")
    await bench.tick()
    (asked,) = bench.coder.asked
    assert "#14 (open) Trusted wish\nFind by login." in asked.prompt
    assert "hidden" not in asked.prompt


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see #3 and GH-4", (3, 4)),
        ("gh-5, #5, GH-0", (5,)),
        ("RGH-6, a/b#7, &#8;, #12", ()),
    ],
)
def test_which_issues_a_text_names(text: str, found: tuple[int, ...]) -> None:
    assert references(text, 12) == found
