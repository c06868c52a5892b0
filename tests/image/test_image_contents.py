"""The content of the image: programs that start under the engine's account, few writable places, and the size."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from image.building import ROOT, Image
from image.container import Container, service

ENGINE, CODER = 10001, 10002
LARGEST_MB = 450
"""Megabytes that the engine and its packages may add to the base image."""

DEMO = ("--directory", "/tmp/demo", "--minutes", "15")

WRITABLE = {"/tmp", "/var/tmp", "/run/lock"}
"""Directories that are writable for everybody in any Debian."""

OWNED = {"/var/lib/workflow-engine": 0o700, "/srv/work": 0o711}
"""Directories that belong to the engine's account, with their modes."""


def container(image: Image, place: Path, agent: str = "worker") -> Container:
    return Container(image, service(agent, account=False), place, {})


@pytest.mark.parametrize("program", ["planner-agent", "worker-agent", "reviewer-agent", "workflow-engine"])
def test_every_program_starts_as_the_engines_account(image: Image, tmp_path: Path, program: str) -> None:
    assert container(image, tmp_path).user == (ENGINE, ENGINE)
    assert container(image, tmp_path).ran(program, "--version") == (0, "0.1.0\n")


def test_a_service_has_no_capability_and_can_gain_none(image: Image, tmp_path: Path) -> None:
    code, told = container(image, tmp_path).ran("cat", "/proc/self/status")
    found = dict(line.split(":\t") for line in told.splitlines() if line.startswith(("Cap", "NoNewPrivs", "Uid")))
    assert code == 0
    assert {found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (found["NoNewPrivs"], found["Uid"].split()) == ("1", [str(ENGINE)] * 4)


def test_only_what_it_works_in_belongs_to_the_engines_account_and_nothing_to_the_coders(image: Image) -> None:
    found = {}
    for path in _everything(image.root):
        status = path.lstat()
        assert CODER not in (status.st_uid, status.st_gid), path
        if ENGINE in (status.st_uid, status.st_gid):
            found[f"/{path.relative_to(image.root)}"] = stat.S_IMODE(status.st_mode)
    assert found == OWNED


def test_nothing_is_writable_for_everybody_but_the_usual_places(image: Image) -> None:
    loose = {
        f"/{path.relative_to(image.root)}"
        for path in _everything(image.root)
        if path.lstat().st_mode & stat.S_IWOTH and (path.is_dir() or path.is_file()) and not path.is_symlink()
    }
    assert loose == WRITABLE


def test_a_service_can_write_to_its_volumes_and_tmp_alone(image: Image, tmp_path: Path) -> None:
    find = r"find / \( -path /proc -o -path /dev \) -prune -o -writable -not -type l -print 2>/dev/null; true"
    _, told = container(image, tmp_path).ran("sh", "-c", find)
    assert set(told.splitlines()) - {"/run/lock"} == {"/tmp", *OWNED}


def test_neither_tests_nor_settings_nor_what_the_build_was_lent_are_in_it(image: Image) -> None:
    names = {path.name for path in (image.root / "opt/venv/lib").glob("python3*/site-packages/*")}
    assert {"worker_agent", "planner_agent", "reviewer_agent", "shared", "lab"} <= names
    assert "tests" not in names
    assert list((image.root / "etc/workflow-engine").iterdir()) == []
    lent = image.root / "etc/pip.conf"
    assert not lent.exists() or lent.read_text() == ""
    assert not (image.root / "src").exists()


def test_the_health_check_of_the_dockerfile_is_the_images(image: Image) -> None:
    assert image.config["Healthcheck"]["Test"] == ["CMD", *service("worker", account=False)["healthcheck"]["test"][1:]]
    assert image.config["Healthcheck"]["StartPeriod"] == 60 * 10**9


def test_the_demonstration_needs_no_download(image: Image, tmp_path: Path) -> None:
    """The demonstration runs with no network but its own loopback."""
    alone = ("bwrap", "--unshare-net", "--dev-bind", "/", "/")
    code, told = container(image, tmp_path).ran(*alone, "workflow-engine", "demo", *DEMO)
    assert (code, "Merged, closed, and green." in told) == (0, True), told[-3000:]


def test_its_size_is_told_and_bounded(image: Image) -> None:
    added = (image.bytes - image.base_bytes) / 10**6
    told = f"The image: {image.bytes / 10**6:.0f} MB unpacked, {added:.0f} MB of them on its base.\n"
    (ROOT / ".tools" / "image" / "size.txt").write_text(told, encoding="utf-8")
    assert 0 < added < LARGEST_MB


def _everything(root: Path) -> list[Path]:
    return [path for top in root.iterdir() if top.name not in {"dev", "proc", "sys"} for path in [top, *top.rglob("*")]]
