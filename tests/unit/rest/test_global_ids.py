"""The ids of GraphQL, as REST's answers tell them."""

from __future__ import annotations

from shared.github.global_ids import MOST, MOST_CLOSED, GlobalIds

ROOT = "/repos/ada/directory"


def test_a_label_that_was_renamed_is_known_by_its_new_name_alone() -> None:
    ids = GlobalIds()
    ids.learn(f"{ROOT}/labels", [{"name": "a", "node_id": "1"}, {"name": "b", "node_id": "2"}])
    ids.learn(f"{ROOT}/issues/7", {"number": 7, "node_id": "I", "labels": [{"name": "C", "node_id": "1"}]})
    assert ids.labels(ROOT, ["c", "b"]) == ("1", "2")
    assert ids.labels(ROOT, ["a"]) is None


def test_a_label_that_was_defined_anew_has_its_new_id() -> None:
    ids = GlobalIds()
    for id_ in ("1", "2"):
        ids.learn(f"{ROOT}/labels", [{"name": "a", "node_id": id_}])
    assert ids.labels(ROOT, ["a"]) == ("2",)


def test_what_is_forgotten_is_one_item_and_all_labels() -> None:
    ids = GlobalIds()
    ids.learn(f"{ROOT}/labels", [{"name": "a", "node_id": "1"}])
    ids.learn(f"{ROOT}/issues", [{"number": one, "node_id": f"I{one}"} for one in (7, 8)])
    ids.forget(ROOT, 7)
    assert (ids.item(ROOT, 7), ids.item(ROOT, 8), ids.labels(ROOT, ["a"])) == (None, "I8", None)


def test_the_item_that_was_shown_longest_ago_is_forgotten_until_it_is_shown_again() -> None:
    ids = GlobalIds()
    for number in (*range(MOST), 0, MOST):
        ids.learn(f"{ROOT}/issues/{number}", {"number": number, "node_id": f"I{number}"})
    assert (ids.item(ROOT, 0), ids.item(ROOT, 1), ids.item(ROOT, MOST)) == ("I0", None, f"I{MOST}")
    ids.learn(f"{ROOT}/issues/1", {"number": 1, "node_id": "I1"})
    assert (ids.item(ROOT, 1), ids.item(ROOT, 2)) == ("I1", None)


def test_of_closed_items_only_the_newest_are_known() -> None:
    ids = GlobalIds()
    for number in (7, *range(100, 100 + MOST_CLOSED + 2), 9):
        state = "open" if number in {7, 9} else "closed"
        ids.learn(f"{ROOT}/issues/{number}", {"number": number, "node_id": f"I{number}", "state": state})
    known = [number for number in range(300) if ids.item(ROOT, number)]
    assert known == [7, 9, *range(102, 102 + MOST_CLOSED)], "an open item is not forgotten for that"
    for number, state in ((102, "open"), (300, "closed"), (301, "closed")):
        ids.learn(f"{ROOT}/issues/{number}", {"number": number, "node_id": f"I{number}", "state": state})
    assert (ids.item(ROOT, 102), ids.item(ROOT, 103)) == ("I102", None), "it was opened again"
