"""The choice of stories whose replicas lag: half of them, by their names, unless they give a reason against it."""

from __future__ import annotations

import lateness
import pytest

STORIES = [f"tests/lab/story/test_it.py::test_story[{number}]" for number in range(400)]


def test_half_of_all_stories_are_drawn_and_always_the_same_with_the_same_seed() -> None:
    drawn = [lateness.seed(story) for story in STORIES]
    assert 160 < sum(seed is not None for seed in drawn) < 240
    assert drawn == [lateness.seed(story) for story in STORIES]
    assert len({*drawn}) > 150, "each has a seed of its own"


@pytest.mark.parametrize(("wanted", "late"), [("all", 400), ("none", 0)])
def test_all_or_none_may_be_wanted_and_a_seed_stays_that_of_the_name(wanted: str, late: int) -> None:
    seeds = {story: lateness.seed(story, wanted) for story in STORIES}
    assert sum(seed is not None for seed in seeds.values()) == late
    assert all(seed == lateness.seed(story, "all") for story, seed in seeds.items() if seed is not None)


def test_what_else_is_wanted_is_refused() -> None:
    with pytest.raises(ValueError, match="half, all, none"):
        lateness.seed(STORIES[0], "some")


def test_a_story_that_says_why_is_told_without_even_where_all_are_wanted() -> None:
    assert lateness.seed(STORIES[0], "all", prompt=True) is None


@pytest.mark.parametrize("marker", [pytest.mark.prompt, pytest.mark.prompt(""), pytest.mark.prompt(1)])
def test_an_exemption_without_a_reason_is_none(marker: pytest.MarkDecorator) -> None:
    with pytest.raises(ValueError, match="why"):
        lateness.reason(marker.mark)
    assert lateness.reason(pytest.mark.prompt("it counts requests").mark) == "it counts requests"
    assert lateness.reason(None) == ""
