"""The printed diagrams say exactly what the table says."""

from __future__ import annotations

import re

import pytest

from shared.workflow import TRANSITIONS, UNLABELLED, Event, Role, Stage, Track, stages
from shared.workflow.diagram import WITHDRAWAL, diagram, diagrams, overview, stage_table
from shared.workflow.labels import Labels

EDGE = re.compile(r"^    (\S+) --> (\S+): (.+)$", re.MULTILINE)
MADE = re.compile(r"(.+) \((\w+)\)")


def drawn(track: Track) -> set[tuple[str, str, str, str]]:
    """Return every move of a diagram; edges that stand for several are taken apart."""
    found = set()
    for start, end, text in EDGE.findall(diagram(track)):
        for told in text.split(" / "):
            made = MADE.fullmatch(told)
            assert made is not None, told
            found |= {(start, end, event, made[2]) for event in made[1].split(" or ")}
    return found


@pytest.mark.parametrize("track", Track)
def test_every_move_is_drawn_once_with_who_makes_it(track: Track) -> None:
    names = {stage: stage.replace("-", "_") for stage in Stage} | {Stage.NEW: "[*]"}
    roles = {role: str(role) for role in Role} | {Role.GITHUB: "GitHub"}
    assert drawn(track) == {
        (names[stage], names[made.to], str(event), roles[made.by])
        for (t, stage, event), made in TRANSITIONS.items()
        if t is track and event is not Event.WITHDREW
    }


@pytest.mark.parametrize("track", Track)
def test_mermaid_is_given_names_that_it_can_read(track: Track) -> None:
    text = diagram(track)
    aliases = dict(re.findall(r'^    state "([\w-]+)" as (\w+)$', text, re.MULTILINE))
    ends = {end for edge in EDGE.findall(text) for end in edge[:2]} - {"[*]"}
    assert {shown: alias for shown, alias in aliases.items() if alias in ends} == aliases
    assert {end for end in ends if "_" in end} == set(aliases.values())
    assert all(re.fullmatch(r"\w+", end) for end in ends)
    assert text.startswith("stateDiagram-v2\n")
    assert ";" not in text


def test_withdrawing_is_said_once_and_not_drawn() -> None:
    text = diagrams()
    assert text.count(WITHDRAWAL) == 1
    assert "withdr" not in text.replace(WITHDRAWAL, "")
    assert text.count("```mermaid\n") == len(Track)


def test_the_overview_has_every_move_of_an_agent_that_ends_in_no_failure() -> None:
    text = overview()
    found = set(re.findall(r'^ +(\w+)\["([\w-]+)"\] -->\|(.+)\| (\w+)\["([\w-]+)"\]$', text, re.MULTILINE))
    halted = {Stage.FAILED, Stage.CI_FAILED}
    expected: dict[tuple[str, str, str, str], set[str]] = {}
    for (track, stage, event), made in TRANSITIONS.items():
        onto = stage is Stage.NEW and track is not Track.STORY
        if event is not Event.WITHDREW and made.by is not Role.PERSON and not halted & {stage, made.to} and not onto:
            names = [f"{track}_{one}".replace("-", "_").replace(" ", "_") for one in (stage, made.to)]
            by = "GitHub" if made.by is Role.GITHUB else str(made.by)
            expected.setdefault((names[0], str(stage), names[1], str(made.to)), set()).add(by)
    assert {(a, b, d, e): set(c.split(" or ")) for a, b, c, d, e in found} == expected
    assert len(found) == text.count(" -->|")


def test_the_overview_leads_from_track_to_track() -> None:
    text = overview()
    assert re.findall(r"^    (\w+) -\.->\|(\w+)\| (\w+)$", text, re.MULTILINE) == [
        ("story_specified", "creates", "specification_ready"),
        ("specification_testing", "opens", "pull_request_reviewing"),
    ]
    assert all(text.count(f'{node}["') for node in ("story_specified", "specification_ready", "pull_request_reviewing"))
    assert text.count("    subgraph ") == text.count("    end\n") == len(Track)


def test_the_table_names_each_stage_with_its_label_and_who_leads_on() -> None:
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in stage_table(Labels()).splitlines()[2:]]
    assert [(row[0].replace(" ", "_"), row[1]) for row in rows] == [(t, s) for t in Track for s in stages(t)]
    found = {(row[0], row[1]): (row[2], row[3]) for row in rows}
    assert found["specification", "ready"] == ("`status:ready`", "worker")
    assert found["pull request", "ci-failed"] == ("`status:ci-failed`", "person")
    assert found["story", "done"] == ("-", "nobody: it is over")
    assert {row[1] for row in rows if row[2] == "-"} == set(UNLABELLED)
