"""The files that `init` writes: the example filled in, the key a secret, nothing overwritten."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import yaml

from config.loading import read
from console.init.command import as_written
from console.init.files import Blanks, NewFile, addition, configuration, configuration_file, example, key_file
from shared.errors import Misconfigured
from shared.filesystem.disk_space import DiskFull


@pytest.mark.parametrize("key", ["/home/a/lock.key", "/home/it's me/lock.key", "/home/[x]: y # z/lock.key"])
def test_the_example_filled_in_is_a_configuration_that_says_the_same_and_keeps_its_comments(
    tmp_path: Path, key: str
) -> None:
    path = tmp_path / "repos.yml"
    path.write_text(configuration(example(), Blanks("octo/thing", Path(key), "https://ghe.example/api/v3")))
    settings = read(path, environment={"HOME": "/home/a"})
    assert [one.name for one in settings.repositories] == ["octo/thing"]
    assert settings.lock.key_files == (Path(key),)
    assert settings.github.api_url == "https://ghe.example/api/v3"
    assert path.read_text().count("#") > 20
    assert "yaml-language-server" not in path.read_text(), "its path is relative to the example"


def test_without_an_address_the_example_s_is_kept() -> None:
    assert "  api_url: https://api.github.com " in configuration(example(), Blanks("octo/thing", Path("/k")))


@pytest.mark.parametrize("text", ["", "  - name: owner/repo\n", "  - name: owner/repo\n  - name: owner/repo\n"])
def test_an_example_without_a_place_for_them_is_a_bug_that_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="the example has"):
        configuration(text, Blanks("octo/thing", Path("/k")))


def test_files_are_written_once_for_us_alone(tmp_path: Path) -> None:
    for new in (
        key_file(tmp_path / "a" / "lock.key"),
        configuration_file(tmp_path / "b" / "repos.yml", Blanks("octo/thing", Path("/k"))),
    ):
        assert new.write()
        content = new.path.read_bytes()
        assert not new.write()
        assert new.path.read_bytes() == content
        assert new.path.stat().st_mode & 0o777 == 0o600


def test_every_key_is_another_one_and_is_never_shown(tmp_path: Path) -> None:
    keys = [key_file(tmp_path / name) for name in "ab"]
    assert all(key.write() for key in keys)
    first, second = (key.path.read_text() for key in keys)
    assert first != second
    assert first.strip() not in keys[0].diff()


def test_a_file_that_could_not_be_written_whole_is_not_there(tmp_path: Path) -> None:
    def breaks() -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    new = NewFile(tmp_path / "lock.key", breaks)
    with pytest.raises(DiskFull, match=r"lock\.key"):
        new.write()
    assert list(tmp_path.iterdir()) == []
    assert NewFile(new.path, lambda: "secret\n").write(), "the next try is as the first"


def test_a_file_is_replaced_as_a_whole_behind_its_link_with_its_mode(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yml", tmp_path / "repos.yml"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    NewFile(link, lambda: "new").rewrite()
    assert (link.is_symlink(), real.read_text(), real.stat().st_mode & 0o777) == (True, "new", 0o640)
    assert {one.name for one in tmp_path.iterdir()} == {"real.yml", "repos.yml"}


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be written"):
        key_file(tmp_path / "file" / "lock.key").write()


def test_what_is_wrong_with_a_file_that_is_not_written_names_the_place_where_it_would_be(tmp_path: Path) -> None:
    new = NewFile(tmp_path / "repos.yml", lambda: "repositories:\n  - name: ada/directory\nsandbox: docker\n")
    with pytest.raises(Misconfigured) as wrong:
        as_written(new, {"HOME": str(tmp_path)})
    assert str(wrong.value).startswith(f"{tmp_path}/repos.yml:3:10: sandbox: is 'docker', not one of")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("repositories: []\n", "Add to it:  lock: {key_files: [/keys/lock.key]}"),
        ("lock: {settle: 3}\n", "Add to `lock` there:  key_files: [/keys/lock.key]"),
        ("lock:\n  settle: 3\n", "Add to `lock` there:  key_files: [/keys/lock.key]"),
        ("# lock: {settle: 3}\n", "Add to it:  lock: {key_files: [/keys/lock.key]}"),
    ],
    ids=["no section", "in one line", "a block", "only a comment"],
)
def test_a_key_is_added_to_the_section_that_is_there(before: str, told: str) -> None:
    """A section that stood there twice would be refused."""
    assert addition(before, "lock", "key_files", [Path("/keys/lock.key")]) == told


def test_what_is_added_is_yaml_for_any_path() -> None:
    said = addition("", "github", "token_file", Path("/keys, #1/[a]: b"))
    assert yaml.safe_load(said.removeprefix("Add to it:  ")) == {"github": {"token_file": "/keys, #1/[a]: b"}}
