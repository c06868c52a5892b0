"""The probe of the git server: real servers that keep the lock's promises, and servers that break each."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest
from git_remote import ENGINE, ENVIRONMENT, NAME, TOKEN, remote_at, served

from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import signed
from shared.errors import NotAllowed, Transient
from shared.git.command import Git
from shared.git.credentials import Credentials
from shared.git.probe import UnfitServer, try_server
from shared.lock.write_permit import OperatorPermit

ORDER = OperatorPermit("a test")

BELIEVES_THE_CLIENT = """\
#!/bin/sh
unset GIT_QUARANTINE_PATH
while read old new ref; do
    case $old in *[1-9a-f]*) git update-ref "$ref" "$old" ;; esac
done
"""
"""Makes whatever a push expects true before git compares it: a wrong lease is accepted."""

TAKES_A_PART = """\
#!/bin/sh
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY
while read old new ref; do
    case $ref in */branch) git update-ref "$ref" "$(git rev-parse HEAD)" ;; esac
done
"""
"""Carries out what creates a branch, whatever becomes of the push's other half."""

FORBIDS_THE_NAMESPACE = """\
#!/bin/sh
case $1 in refs/ack/*) echo "refs/ack is reserved" >&2; exit 1 ;; esac
"""


async def probe(tmp_path: Path, remote: Bare, *, token: str = TOKEN, read_only: bool = False) -> None:
    async with served(remote, read_only=read_only) as server:

        async def source() -> str:
            return token

        answers = Credentials(tmp_path / "askpass", server, source)
        git = Git(tmp_path / "machine" / "mirror.git", ENVIRONMENT, credentials=answers)
        await try_server(git, f"{server}/{NAME}.git", ENGINE, ORDER)


async def hook(remote: Bare, name: str, script: str) -> None:
    path = anyio.Path(remote.path / "hooks" / name)
    await path.parent.mkdir(exist_ok=True)
    await path.write_text(script)
    await path.chmod(0o700)


@pytest.fixture
async def remote(tmp_path: Path) -> Bare:
    return await remote_at(tmp_path / "server" / "app.git")


async def test_a_real_git_server_passes_and_nothing_is_left(tmp_path: Path, remote: Bare) -> None:
    before = await remote.refs("refs/")
    await probe(tmp_path, remote)
    assert await remote.refs("refs/") == before
    assert list((tmp_path / "machine").iterdir()) == []


async def test_what_a_killed_probe_left_goes_after_a_day_and_another_one_at_work_is_left_alone(
    tmp_path: Path, remote: Bare
) -> None:
    tree = (await remote.git.check("rev-parse", "HEAD^{tree}")).text
    for name, date in (("dead", "1700000000 +0000"), ("alive", "")):
        env = signed(("Ada", "ada@example.org"), ("Ada", "ada@example.org"))
        env |= {"GIT_COMMITTER_DATE": date} if date else {}
        commit = (await remote.git.check("commit-tree", tree, "-m", name, env=env)).text
        await remote.git.check("update-ref", f"refs/ack/doctor/{name}/fence", commit)
    await probe(tmp_path, remote)
    assert list(await remote.refs("refs/ack/")) == ["refs/ack/doctor/alive/fence"]


async def test_it_takes_three_pushes_and_one_fetch_also_beside_another_one(tmp_path: Path, remote: Bare) -> None:
    commit = (await remote.git.check("rev-parse", "HEAD")).text
    await remote.git.check("update-ref", "refs/ack/doctor/other/fence", commit)
    log = _logged(tmp_path / "programs")
    git = Git(tmp_path / "machine" / "mirror.git", {"PATH": f"{log.parent}:{ENVIRONMENT['PATH']}"})
    await try_server(git, str(remote.path), ENGINE, ORDER)
    started = [next(word for word in line.split() if not word.startswith("-")) for line in log.read_text().splitlines()]
    assert started == ["push", "push", "fetch", "push"]
    assert list(await remote.refs("refs/ack/")) == ["refs/ack/doctor/other/fence"]


def _logged(directory: Path) -> Path:
    """Put a `git` into this directory that logs each command before it runs it; return the log."""
    directory.mkdir()
    program, log = directory / "git", directory / "log"
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    return log


@pytest.mark.parametrize(
    ("name", "script", "says"),
    [
        ("pre-receive", BELIEVES_THE_CLIENT, "accepts a push whose expected value is wrong"),
        ("pre-receive", TAKES_A_PART, "carries out a part of an atomic push"),
        ("update", FORBIDS_THE_NAMESPACE, "does not accept refs below refs/ack/"),
    ],
)
async def test_a_server_that_breaks_a_promise_is_found(
    tmp_path: Path, remote: Bare, name: str, script: str, says: str
) -> None:
    await hook(remote, name, script)
    with pytest.raises(UnfitServer, match=says):
        await probe(tmp_path, remote)
    assert not await remote.refs("refs/ack/"), "it cleans up after a bad server, too"


async def test_a_server_without_atomic_pushes_is_found(tmp_path: Path, remote: Bare) -> None:
    await remote.git.check("config", "receive.advertiseAtomic", "false")
    with pytest.raises(UnfitServer, match="does not offer atomic pushes"):
        await probe(tmp_path, remote)
    assert not await remote.refs("refs/ack/")


async def test_the_words_of_a_server_that_forbids_the_namespace_are_kept(tmp_path: Path, remote: Bare) -> None:
    await hook(remote, "update", FORBIDS_THE_NAMESPACE)
    with pytest.raises(UnfitServer, match="refs/ack is reserved"):
        await probe(tmp_path, remote)


@pytest.mark.parametrize(("token", "read_only"), [("wrong", False), (TOKEN, True)])
async def test_who_may_not_push_is_not_told_that_the_server_is_bad(
    tmp_path: Path, remote: Bare, token: str, read_only: bool
) -> None:
    with pytest.raises(NotAllowed, match=r"Permission to acme/app\.git denied") as raised:
        await probe(tmp_path, remote, token=token, read_only=read_only)
    assert not isinstance(raised.value, UnfitServer)


async def test_a_probe_whose_rival_fails_proves_nothing(tmp_path: Path, remote: Bare) -> None:
    await hook(remote, "pre-receive", "#!/bin/sh\nread old new ref\ncase $old in *[1-9a-f]*) exit 1 ;; esac\n")
    with pytest.raises(Transient, match="could not be put to the proof"):
        await probe(tmp_path, remote)
