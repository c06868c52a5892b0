"""A specification survives being written and read, and any text can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.specification import (
    Criterion,
    Provenance,
    Settings,
    Size,
    Specification,
    SpecificationKind,
    TooLong,
    authentic,
    body_sha256,
    read,
    tick,
    write,
)
from shared.text.comment_signatures import Key, Keyring

KEYS = Keyring(7, (Key.of(b"first"), Key.of(b"second")))
PLAN = "0123456789abcdef" * 4

SNIPPETS = (
    *("## Acceptance criteria", "# Goal", "\\# no", "- [ ] AC1: x", "- [x] y", "[ ] ", "```", "~~~~", "````py", "`"),
    *("Depends on #4", "blocked by #5, #6 and #7", "Part of #12", "part of \\#9", "@tdd-max-attempts 5", "\\"),
    *("<!-- workflow: max_attempts: 3 -->", "<!--", "-->", " mac= -->", " mac\\=a -->", "<!-- engine-spec/1 mac=x -->"),
    *("![a](b)", "![", "](", '[a](b "c")', "[x]:", "[x]: y", "data:a/b,c", "data:;x,", '<img alt="q">', "\n", " "),
    *("\u202e", "\u200b", "\x1b[31m", "\ud800", "\x00", "1. one", "    code", "  - nested", "**AC2:** bold", "\t"),
    *("\\@tdd-timeout 9", "AC3: z", "*a*", "_b_", "\r", "```\n# x\n```"),
    *(
        "Kind: removal",
        "- **Kind**: docs",
        "Kind\\: x",
        "kind",
        ": dependency",
        "__Kind:__ feature",
        "* _kind_ \\\\: y",
    ),
)
texts = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=6), max_size=14).map("".join) | st.lists(
    st.sampled_from(SNIPPETS), max_size=14
).map("\n".join)
numbers = st.integers(1, 10**9 - 1)


@st.composite
def specifications(draw: st.DrawFn) -> Specification:
    criteria = draw(st.lists(texts, max_size=4))
    ids = draw(st.permutations(range(1, len(criteria) + 3)))
    return Specification(
        goal=draw(texts),
        criteria=tuple(Criterion(f"AC{n}", text) for n, text in zip(ids, criteria, strict=False)),
        files=tuple(draw(st.lists(texts, max_size=3))),
        may_change=tuple(draw(st.lists(texts, max_size=3))),
        out_of_scope=tuple(draw(st.lists(texts, max_size=3))),
        depends_on=tuple(draw(st.lists(numbers, max_size=3))),
        part_of=draw(st.none() | numbers),
        settings=Settings(
            draw(st.none() | st.integers(1, 20)),
            draw(st.none() | st.integers(1, 1440)),
            draw(st.none() | st.floats(0.01, 1000)),
        ),
        kind=draw(st.sampled_from(SpecificationKind)),
        size=draw(st.none() | st.sampled_from(Size)),
    )


def written(specification: Specification, keys: Keyring = KEYS) -> str:
    return write(specification, keys=keys, parent=12, key="12-2", plan_sha=PLAN)


@settings(deadline=None)
@given(specifications())
def test_reading_what_was_written_gives_the_same(specification: Specification) -> None:
    body = written(specification)
    found = read(body)
    assert found == specification
    assert found.remarks == ()
    assert found.trailer is not None
    assert (found.trailer.parent, found.trailer.key, found.trailer.plan) == (12, "12-2", PLAN[:8])
    assert authentic(body, KEYS) is Provenance.ENGINE


def test_links_to_named_hosts_work_and_the_issue_is_still_ours() -> None:
    goal = "See https://docs.example/a and https://evil.example/b."
    specification = Specification(goal, (Criterion("AC1", "Done."),))
    body = write(specification, keys=KEYS, parent=12, key="12-2", plan_sha=PLAN, links={"docs.example"})
    assert "See https://docs.example/a and" in body
    assert "https://evil.example" not in body
    assert read(body).goal == specification.goal, "a coder reads both as they were meant"
    assert authentic(body, KEYS) is Provenance.ENGINE
    assert "https://docs.example" not in written(specification)


@settings(deadline=None)
@given(texts | st.text())
@pytest.mark.fault(19)
def test_any_text_can_be_read_and_written_down_again(body: str) -> None:
    found = read(body)
    assert found.criteria
    assert read(written(found)) == found


@settings(deadline=None)
@given(specifications())
def test_the_constructor_is_a_normal_form(specification: Specification) -> None:
    assert replace(specification) == specification


@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body.replace("search", "delete"),
        lambda body: body + "\nand more",
        lambda body: body.replace("parent=12", "parent=13"),
        lambda body: body.replace("key=12-2", "key=12-3"),
        lambda body: body[: body.rindex(" mac=")] + " mac= -->",
        lambda body: "first line\n" + body,
    ],
)
def test_an_edited_body_is_not_the_engines(edit: Callable[[str], str]) -> None:
    body = written(Specification("Add a search."))
    assert authentic(edit(body), KEYS) is Provenance.EDITED


def test_an_untouched_body_stays_the_engines_through_githubs_editor() -> None:
    body = written(Specification("Add a search.", depends_on=(4,)))
    assert authentic(body.replace("\n", "  \r\n") + "\r\n", KEYS) is Provenance.ENGINE
    assert authentic(body, Keyring(7, KEYS.keys[::-1])) is Provenance.ENGINE


def test_a_foreign_key_or_repository_proves_nothing() -> None:
    body = written(Specification("Add a search."))
    assert authentic(body, Keyring(7, (Key.of(b"other"),))) is Provenance.EDITED
    assert authentic(body, Keyring(8, KEYS.keys)) is Provenance.EDITED
    assert authentic(body, Keyring(7)) is Provenance.EDITED


def test_without_keys_the_hash_tells_edits() -> None:
    body = written(Specification("Add a search."), Keyring(7))
    assert authentic(body, Keyring(7)) is Provenance.ENGINE
    assert authentic(body.replace("search", "delete"), Keyring(7)) is Provenance.EDITED


def test_the_body_looks_as_documented() -> None:
    specification = Specification(
        "Find users.",
        (Criterion("AC1", "by name"), Criterion("AC2", "part of #5 too")),
        ("app/a.py",),
        ("tests/test_a.py",),
        ("e-mail",),
        (41,),
        12,
        Settings(5, 60, 10),
        SpecificationKind.REMOVAL,
    )
    *content, last = written(specification).split("\n")
    assert "\n".join(content) == (
        "## Goal\n\nFind users.\n\n"
        "## Acceptance criteria\n\n- [ ] AC1: by name\n- [ ] AC2: part of \\#5 too\n\n"
        "## Files\n\n- `app/a.py`\n\n"
        "## Tests that may change\n\n- `tests/test_a.py`\n\n"
        "## Out of scope\n\n- e-mail\n\n"
        "Kind: removal\nDepends on #41\nPart of #12\n\n"
        "<!-- workflow: max_attempts: 5, timeout_minutes: 60, max_budget_usd: 10 -->\n"
    )
    assert last.startswith("<!-- engine-spec/1 parent=12 key=12-2 plan=01234567 body=")


def test_what_github_would_refuse_is_not_written() -> None:
    criteria = tuple(Criterion(f"AC{n}", "x " * 480) for n in range(1, 50))
    with pytest.raises(TooLong):
        written(Specification("g " * 15_000, criteria))
    with pytest.raises(ValueError, match="cannot stand in a trailer"):
        write(Specification("g"), keys=KEYS, parent=12, key="12-2", plan_sha="unknown!")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"goal": "x" * 40_001}, "the goal is longer"),
        ({"criteria": (Criterion("AC1", "a"), Criterion("AC1", "b"))}, "one id"),
        ({"criteria": tuple(Criterion(f"AC{n}", "a") for n in range(1, 52))}, "more than 50"),
        ({"files": tuple(f"f{n}" for n in range(201))}, "more than 200"),
        ({"depends_on": (0,)}, "above zero"),
        ({"part_of": -1}, "above zero"),
    ],
)
def test_impossible_specifications_cannot_be_made(fields: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        replace(Specification("g"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "part",
    [
        lambda: Settings(max_attempts=21),
        lambda: Settings(timeout_minutes=0),
        lambda: Settings(max_budget_usd=float("nan")),
        lambda: Settings(max_budget_usd=1000.01),
        lambda: Criterion("AC0", "text"),
        lambda: Criterion("AC1\n", "text"),
    ],
)
def test_impossible_parts_cannot_be_made(part: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"is a number|is an amount|no criterion id"):
        part()


def test_the_hash_of_an_issue_ignores_what_githubs_editor_changes() -> None:
    assert body_sha256("T", "a\nb") == body_sha256(" T ", "\r\na  \r\nb\t\r\n\r\n")
    assert len({body_sha256(*pair) for pair in [("T", "a"), ("T", "b"), ("U", "a"), ("Ta", ""), ("T\na", "")]}) == 5


def test_a_tick_is_no_edit() -> None:
    body = written(Specification("Find users.", (Criterion("AC1", "by name"), Criterion("AC2", "by login"))))
    after = tick(body, {"AC2"})
    assert after == body.replace("- [ ] AC2", "- [x] AC2")
    assert body_sha256("T", after) == body_sha256("T", body)
    assert authentic(after, KEYS) is Provenance.ENGINE
    assert read(after) == read(body)
    assert authentic(after.replace("by name", "by age"), KEYS) is Provenance.EDITED, "positive control"


@pytest.mark.parametrize(
    ("line", "ticked"),
    [
        ("- [ ] AC2: by login", True),
        ("* [ ] **AC2:** by login", True),
        ("- [ ] by login", True),
        ("- [ ] by login, as it is written\n  on two lines", True),
        ("- [ ] AC1: by name", False),
        ("- [ ] AC21: by login", False),
    ],
)
def test_which_box_a_criterion_has(line: str, ticked: bool) -> None:
    body = f"## Acceptance criteria\n- [ ] by name\n{line}\n\n## Notes\n- [ ] ask Bea"
    wanted = line.replace("[ ]", "[x]", 1)
    assert (wanted in tick(body, {"AC2"})) is ticked
    assert "- [ ] ask Bea" in tick(body, {"AC1", "AC2"})
    assert tick(body, ()) == body
