"""Merging two commits without a work tree: what git makes of them, and every kind of conflict by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_remote import ENVIRONMENT, remote_at

from lab.github.repositories.bare import Bare
from shared.git.command import Git
from shared.git.merging import Conflict, Merged, MergeFailed, has_markers, merge

Files = dict[str, str | None]
"""Path -> new text, or None for a file that is deleted."""

START = {"a.txt": "one\ntwo\nthree\n", "b.txt": "b1\nb2\nb3\nb4\nb5\n"}


async def _side(remote: Bare, branch: str, start: str, files: Files) -> str:
    lines = [f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> now\ndata 1\nx\nfrom {start}\n"]
    for path, text in files.items():
        lines.append(f"D {path}\n" if text is None else f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    await remote.git.check("fast-import", "--quiet", "--force", "--date-format=now", stdin="".join(lines).encode())
    return await remote.sha(f"refs/heads/{branch}") or ""


async def _merged(directory: Path, ours: Files, theirs: Files) -> tuple[Git, Merged]:
    remote = await remote_at(directory / "remote", START)
    start = await remote.sha("main") or ""
    git = Git(remote.path, ENVIRONMENT)
    return git, await merge(git, await _side(remote, "ours", start, ours), await _side(remote, "theirs", start, theirs))


async def test_what_does_not_collide_is_one_tree_with_both_changes(tmp_path: Path) -> None:
    git, merged = await _merged(
        tmp_path, {"a.txt": "ONE\ntwo\nthree\n"}, {"a.txt": "one\ntwo\nTHREE\n", "c.txt": "c\n"}
    )
    assert merged.conflicts == ()
    assert (await git.run("cat-file", "blob", f"{merged.tree}:a.txt")).stdout == b"ONE\ntwo\nTHREE\n"
    assert (await git.run("cat-file", "blob", f"{merged.tree}:c.txt")).stdout == b"c\n"


@pytest.mark.fault(34)
@pytest.mark.parametrize(
    ("ours", "theirs", "kinds"),
    [
        ({"a.txt": "ours\n"}, {"a.txt": "theirs\n"}, {"a.txt": "UU"}),
        ({"new.txt": "ours\n"}, {"new.txt": "theirs\n"}, {"new.txt": "AA"}),
        ({"b.txt": None}, {"b.txt": "B1\nb2\nb3\nb4\nb5\n"}, {"b.txt": "DU"}),
        ({"b.txt": "B1\nb2\nb3\nb4\nb5\n"}, {"b.txt": None}, {"b.txt": "UD"}),
        (
            {"b.txt": None, "x.txt": START["b.txt"]},
            {"b.txt": None, "y.txt": START["b.txt"]},
            {"b.txt": "DD", "x.txt": "AU", "y.txt": "UA"},
        ),
    ],
    ids=["UU", "AA", "DU", "UD", "DD-AU-UA"],
)
async def test_every_kind_of_conflict_has_its_name(
    tmp_path: Path, ours: Files, theirs: Files, kinds: dict[str, str]
) -> None:
    _, merged = await _merged(tmp_path, ours, theirs)
    assert set(merged.conflicts) == {Conflict(path, kind) for path, kind in kinds.items()}


async def test_both_sides_of_a_line_are_kept_between_markers(tmp_path: Path) -> None:
    git, merged = await _merged(tmp_path, {"a.txt": "ours\n"}, {"a.txt": "theirs\n"})
    content = (await git.run("cat-file", "blob", f"{merged.tree}:a.txt")).stdout
    assert has_markers(content)
    assert b"ours" in content
    assert b"theirs" in content
    assert not has_markers(b"Heading\n=======\nis not a conflict\n")


async def test_a_merge_that_fails_without_a_conflict_is_no_conflict(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote", START)
    main = await remote.sha("main") or ""
    stranger = await _side(remote, "stranger", main, {})
    lone = "commit refs/heads/lone\ncommitter Ada <ada@example.org> now\ndata 1\nx\nM 100644 inline z\ndata 1\nz\n"
    await remote.git.check("fast-import", "--quiet", "--date-format=now", stdin=lone.encode())
    git = Git(remote.path, ENVIRONMENT)
    with pytest.raises(MergeFailed, match="unrelated histories"):
        await merge(git, stranger, await remote.sha("lone") or "")
    with pytest.raises(MergeFailed, match="could not merge"):
        await merge(git, main, "0" * 39 + "1")
