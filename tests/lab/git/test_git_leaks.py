"""Contents that a change must not have: secrets in any file, and shapes of patches that nobody can review."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from git_remote import AT, TOKEN, machine, put, remote_at, work, workspace_of

from shared.filesystem import directories
from shared.git.mirror import Mirror
from shared.git.patch_policy import PatchRefused
from shared.git.publisher import Publisher, keep
from shared.git.workspace import Workspace
from shared.outgoing.outbound_filter import Outgoing

SLACK = "xoxb-2345678901-" + "abcDEFghiJKL"
HALVES = f'TOKEN = (\n    "{TOKEN[:11]}"\n    "{TOKEN[11:]}"\n)\n'


async def _start(tmp_path: Path) -> tuple[Mirror, Workspace, str, Publisher]:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    space = await workspace_of(mirror)
    return mirror, space, await mirror.tip("main") or "", Publisher(mirror, Outgoing([TOKEN]))


async def _tree(space: Workspace, base: str, files: dict[str, bytes]) -> str:
    """Return a tree object of the base with these files in it."""
    tree = await space.reset_tree(base)
    for path, content in files.items():
        directories.remove(tree / path)
        directories.write(tree / path, content)
    return await space.capture(base)


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("src/new.py", f"TOKEN = '{TOKEN}'\n".encode(), "`src/new.py`: It adds a secret of this engine"),
        ("src/new.py", base64.b64encode(f"x{TOKEN}".encode()), "`src/new.py`: It adds a secret of this engine"),
        ("src/new.py", HALVES.encode(), "`src/new.py`: It adds a secret of this engine"),
        ("src/app.py", f"VALUE = 1\n# {TOKEN}\n".encode(), "`src/app.py`: It adds a secret of this engine"),
        ("data.bin", f"\0{TOKEN}\0".encode(), "`data.bin`: It adds a secret of this engine"),
        ("data.bin", TOKEN.encode("utf-16"), "`data.bin`: It adds a secret of this engine"),
        ("src/new.py", f"SLACK = '{SLACK}'\n".encode(), "what looks like a credential (Slack token)"),
        (f"src/{TOKEN}.py", b"VALUE = 2\n", "The name of a file holds a secret of this engine"),
    ],
    ids=["plain", "base64", "split", "added line", "binary", "utf-16", "credential", "file name"],
)
async def test_a_secret_is_refused_before_it_is_committed(tmp_path: Path, path: str, content: bytes, says: str) -> None:
    _, space, base, publisher = await _start(tmp_path)
    tree = await _tree(space, base, {path: content})
    with pytest.raises(PatchRefused) as refused:
        await publisher.judge(space, base, tree)
    assert says in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert SLACK not in str(refused.value)


async def test_a_secret_that_stood_there_already_and_code_without_any_pass(tmp_path: Path) -> None:
    mirror, space, base, _ = await _start(tmp_path)
    before = await work(space, base, {"src/old.py": f"TOKEN = '{TOKEN}'\n"})
    tree = await _tree(space, before, {"src/old.py": f"TOKEN = '{TOKEN}'\nVALUE = 3\n".encode()})
    await Publisher(mirror, Outgoing([TOKEN])).judge(space, before, tree)


async def test_no_commit_message_says_a_secret(tmp_path: Path) -> None:
    _, space, base, _ = await _start(tmp_path)
    space.git = type(space.git)(space.git.git_dir, {"PATH": "/usr/bin:/bin"}, hide=Outgoing([TOKEN]).hide)
    commit = await space.commit(await space.tree_of(base), [base], f"Use {TOKEN} in #3", AT)
    assert (await space.git.run("log", "-1", "--format=%B", commit)).text == "Use *** in #3"


@pytest.mark.fault(35)
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"src/app.py": b"VALUE = 1\r\n"}, "`src/app.py`: Nothing but its line ends changes"),
        ({"src/big.py": b"x = 1\n" * 100_000}, "100000 changed lines are more than 2000"),
        ({f"src/m{n}.py": b"x = 1\n" for n in range(60)}, "60 changed files are more than 50"),
        ({"logo.png": b"\x89PNG\0" + bytes(200_000)}, "binary file of 200005 bytes"),
        ({"src/long.py": b"x = '" + b"y" * 1_100_000 + b"'\n"}, "added bytes are more than 1000000"),
        ({"src/huge.txt": b"z" * (5 * 2**20)}, "cannot be searched for secrets"),
    ],
    ids=["line ends", "100,000 lines", "60 files", "binary", "one long line", "huge file"],
)
async def test_a_patch_that_nobody_can_review_is_refused(tmp_path: Path, files: dict[str, bytes], says: str) -> None:
    _, space, base, publisher = await _start(tmp_path)
    with pytest.raises(PatchRefused) as refused:
        await publisher.judge(space, base, await _tree(space, base, files))
    assert says in str(refused.value)
    assert len(str(refused.value)) < 4000


@pytest.mark.fault(35)
async def test_a_link_and_a_submodule_are_refused(tmp_path: Path) -> None:
    _, space, base, publisher = await _start(tmp_path)
    tree = await space.reset_tree(base)
    (tree / "link").symlink_to("/etc/passwd")
    inner = space.git.at(tree / "vendored" / ".git")
    (tree / "vendored").mkdir()
    await inner.init(bare=False)
    put(tree / "vendored" / "a.py", "x = 1\n")
    with pytest.raises(PatchRefused) as refused:
        await publisher.judge(space, base, await space.capture(base))
    assert {(one.path, one.sentence) for one in refused.value.refusals} >= {
        ("link", "Symbolic links are not published."),
        ("vendored", "Submodules and embedded repositories are not published."),
    }


@pytest.mark.fault(35)
async def test_white_space_alone_may_be_published(tmp_path: Path) -> None:
    """A formatter's run is an honest repair of a red CI; whether it repairs anything, tests and CI say."""
    _, space, base, publisher = await _start(tmp_path)
    await publisher.judge(space, base, await _tree(space, base, {"src/app.py": b"VALUE  =  1\n"}))


@pytest.mark.fault(35)
async def test_a_kept_patch_of_any_size_and_kind_can_be_applied(tmp_path: Path) -> None:
    _, space, base, _ = await _start(tmp_path)
    binary, text = bytes(range(256)) * 40, b"line\n" * 100_000
    tree = await _tree(space, base, {"data.bin": binary, "big.txt": text, "src/app.py": b"VALUE = 2\r\n"})
    path = await keep(space.git, base, tree, tmp_path / "kept")
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600
    index = tmp_path / "index"
    await space.git.run("read-tree", base, index=index)
    await space.git.run("apply", "--cached", str(path), work_tree=await space.reset_tree(base), index=index)
    assert (await space.git.run("write-tree", index=index)).text == tree


async def test_nothing_is_kept_of_no_change(tmp_path: Path) -> None:
    _, space, base, _ = await _start(tmp_path)
    assert await keep(space.git, base, base, tmp_path / "kept") is None
    assert not (tmp_path / "kept").exists()
