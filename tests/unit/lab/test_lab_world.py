"""The lab's world without HTTP: what an old reader sees, where a diff line stands, what a text closes."""

from __future__ import annotations

import pytest
from fakes.clock import PassingClock

from lab.github.fault_injection.faults import Fault, FaultKind, Faults, FaultTarget
from lab.github.merge_button import closing_numbers
from lab.github.repositories import changes
from lab.github.world.comments import Comments
from lab.github.world.issues import Issues
from lab.github.world.labels import LabelBook
from lab.github.world.records import HISTORY_SECONDS, Numbering, Staleness

PATCH = """\
@@ -1,3 +1,4 @@
 a
-b
+B
+B2
 c
@@ -10,2 +11,2 @@ def later():
 j
-k
+K
\\ No newline at end of file"""


def test_a_stale_reader_sees_edits_and_deletions_of_the_past() -> None:
    clock = PassingClock()
    registrar = Numbering(clock)
    issues = Issues(registrar, LabelBook(registrar))
    comments = Comments(registrar, issues)
    issues.open("ada", "Talk", None)
    first, second = comments.add(1, "ada", "one"), comments.add(1, "ada", "two")
    clock.seconds += 100
    comments.edit(first.id, "one, edited")
    comments.delete(second.id)

    def seen(stale: Staleness | None) -> list[str]:
        return [comment.body for comment in comments.records.seen(stale, lambda _: True)]

    assert seen(None) == ["one, edited"]
    assert seen(Staleness(seconds=50)) == ["one", "two"]
    assert seen(Staleness(seconds=50, missing=1)) == ["one"]
    assert seen(Staleness(seconds=200)) == []
    clock.seconds += 2 * HISTORY_SECONDS
    comments.edit(first.id, "one, again")
    assert seen(Staleness(seconds=HISTORY_SECONDS / 2)) == ["one, edited"]


@pytest.mark.parametrize(
    ("line", "side", "text", "position"),
    [
        (1, "RIGHT", "a", 1),
        (2, "LEFT", "b", 2),
        (2, "RIGHT", "B", 3),
        (3, "RIGHT", "B2", 4),
        (4, "RIGHT", "c", 5),
        (12, "RIGHT", "K", 9),
        (11, "LEFT", "k", 8),
    ],
)
def test_a_line_has_one_place_on_its_side(line: int, side: str, text: str, position: int) -> None:
    place = changes.place("f", PATCH, line=line, side=side)
    assert place is not None
    assert (place.text, place.position) == (text, position)
    assert changes.place_at("f", PATCH, position) == place or text in {"a", "c"}


@pytest.mark.parametrize(("line", "side"), [(0, "RIGHT"), (5, "RIGHT"), (10, "RIGHT"), (13, "RIGHT"), (4, "LEFT")])
def test_lines_outside_the_diff_have_none(line: int, side: str) -> None:
    assert changes.place("f", PATCH, line=line, side=side) is None
    assert changes.place("f", None, line=line, side=side) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Closes #1", [1]),
        ("closed: #1 and FIXES #2, resolve octo/thing#3", [1, 2, 3]),
        ("Closes octo/other#1", []),
        ("See #1; encloses #2; closes#3; fixing #4", []),
        ("Fixed #10.", [10]),
    ],
)
def test_closing_words(text: str, numbers: list[int]) -> None:
    assert closing_numbers(text, "octo/thing") == numbers


def test_faults_hit_the_nth_match_and_are_unused_until_all_hits_happened() -> None:
    faults = Faults()
    fault = faults.plan(Fault(FaultKind.DELAY, "GET", r"/issues$", nth=2, times=2))
    hits = [bool(faults.take(FaultTarget(method, "/repos/o/r/issues", "", 0.0))) for method in ("GET", "POST", "GET")]
    assert hits == [False, False, True]
    assert faults.unused == [fault]
    assert faults.take(FaultTarget("GET", "/repos/o/r/issues/1", "", 0.0)) == []
    assert faults.take(FaultTarget("GET", "/repos/o/r/issues", "", 0.0)) == [fault]
    assert faults.unused == []
    assert faults.take(FaultTarget("GET", "/repos/o/r/issues", "", 0.0)) == []
