"""Division of a fleet: the agents of each account over repositories, and the issues over repositories."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.__main__ import arguments, scale_sizes
from benchmarks.fleet_host import Sizes, repository_name
from benchmarks.requests import field_name
from benchmarks.scale import SIZES

SMALL = Sizes(repositories=7, issues=12, workers=5, reviewers=3, accounts=3, poll_seconds=2)


def test_pairs_of_a_process_and_a_repository_are_counted() -> None:
    assert SMALL.loops == 3 * (2 + 1) + 2 * (2 + 1) + 2 * (1 + 1)
    assert SIZES.loops == 40 * (6 + 2) + 4 * 40 * (6 + 1)


def test_each_repository_has_an_issue_and_some_have_a_backlog() -> None:
    spread = Counter(SIZES.repository_of(issue) for issue in range(SIZES.issues))
    assert (len(spread), max(spread.values()), min(spread.values())) == (200, 16, 1)
    backlog = [number for number, issues in spread.items() if issues > 1]
    assert Counter(number % SIZES.accounts for number in backlog) == dict.fromkeys(range(5), 4)
    uneven = replace(SIZES, repositories=40, accounts=3)
    assert Counter(uneven.repository_of(issue) % 3 for issue in range(40, 100)) == dict.fromkeys(range(3), 20)


def test_names_tell_whose_a_repository_is_and_none_is_part_of_another() -> None:
    names = [repository_name(SIZES, number) for number in range(SIZES.repositories)]
    assert len({*names}) == SIZES.repositories
    assert {name.rpartition("-")[0] for name in names[::5]} == {"ada/engine-a"}
    fields = [field_name(issue) for issue in range(SIZES.issues)]
    assert not [one for one in fields for other in fields if one != other and one in other]


@pytest.mark.parametrize(
    "wrong",
    [
        {"accounts": 1},
        {"accounts": 27},
        {"repositories": 2},
        {"workers": 2},
        {"reviewers": 2},
        {"issues": 1},
    ],
)
def test_a_fleet_in_which_something_would_be_missing_is_refused(wrong: dict[str, int]) -> None:
    sizes = {"repositories": 40, "issues": 100, "workers": 40, "reviewers": 40, "accounts": 3, "poll_seconds": 2}
    Sizes(**sizes)
    with pytest.raises(ValueError, match=r"account|issues"):
        Sizes(**(sizes | wrong))


def test_the_command_line_says_how_large_the_scale_run_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert scale_sizes(arguments(["scale"])) == SIZES
    line = ["scale", "--repositories", "7", "--issues", "12", "--workers", "5", "--reviewers", "3", "--accounts", "3"]
    assert (scale_sizes(arguments(line)).repositories, scale_sizes(arguments(line)).loops) == (7, SMALL.loops)
    assert arguments(["throughput", "--workers", "3"]).workers == 3  # too few for another part
    with pytest.raises(SystemExit):
        arguments(["scale", "--workers", "3"])
    assert "each account needs" in capsys.readouterr().err
