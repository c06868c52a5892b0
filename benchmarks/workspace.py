"""A workspace from a warm mirror beside a fresh clone: seconds and disk, in the same rounds."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from benchmarks.lab_host import ROOT
from benchmarks.table import Row
from config.environment import child_environment
from lab.__main__ import ENGINE, PERMISSIONS
from lab.github.server import Lab
from shared import process
from shared.filesystem import directories
from shared.git.command import Git, Identity
from shared.git.credentials import Credentials
from shared.git.mirror import Mirror
from shared.git.workspace import Workspace
from shared.loop.real_clock import RealClock

ROUNDS = 3
FILES = 900
COMMITS = 1500
BYTES = 12_000
"""The sample repository: files, commits that each change some of them, and bytes per file."""

NAME = "ada/large"
CHANGED = 4
"""Number of files that one commit changes."""

Step = Callable[[Path], Awaitable[None]]


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure the best of some interleaved rounds for every way to get a working tree of the same commit."""
    async with Lab(root / "github") as lab:
        repository = await lab.repository(NAME, {"README.md": "# Large\n"}, collaborators={ENGINE: "write"})
        async with repository.bare.changing(ENGINE):
            await repository.bare.git.check("fast-import", "--quiet", "--force", stdin=_history(random.Random(1)))
        await repository.bare.git.check("repack", "-adq")
        token = lab.token(ENGINE, PERMISSIONS[ENGINE])

        async def source() -> str:
            return token

        answers = Credentials(root / "askpass", lab.url, source)
        mirror = Mirror(Git(root / "mirror.git", child_environment(), credentials=answers), lab.git_url(NAME))
        await mirror.ensure()
        ways = _ways(root, mirror, answers)
        seconds, disk = await _measure_rounds(root, ways)
    return _rows(seconds, disk, _size(root / "mirror.git")), {"seconds": seconds, "mebibytes": disk}


def _ways(root: Path, mirror: Mirror, answers: Credentials) -> Mapping[str, Step]:
    """Return name -> how to get a tree into an empty directory."""

    async def warm(place: Path) -> None:
        await mirror.fetch()
        tip = await mirror.tip("main")
        workspace = await Workspace.open(place, mirror, Identity("engine", "engine@example.org"))
        await workspace.checkout(str(tip), "evidence")

    def clone(*options: str) -> Step:
        async def fresh(place: Path) -> None:
            env = child_environment() | {"HOME": str(root), "GIT_TERMINAL_PROMPT": "0"} | await answers.variables()
            argv = ("git", "-c", "credential.username=x-access-token", "clone", "-q", *options, mirror.url, str(place))
            await process.check(argv, cwd=root, env=env)

        return fresh

    return {
        "warm mirror": warm,
        "full clone": clone(),
        "depth 1": clone("--depth=1", "--no-single-branch"),
        "blob:none": clone("--filter=blob:none"),
    }


async def _measure_rounds(root: Path, ways: Mapping[str, Step]) -> tuple[dict[str, float], dict[str, float]]:
    clock = RealClock()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    disk: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            place = root / "place"
            began = clock.boot()
            await way(place)
            seconds[name].append(clock.boot() - began)
            disk[name] = _size(place)
            if name == "warm mirror":
                disk["checkout"] = _size(place / "evidence")
            directories.remove(place)
    return {name: min(values) for name, values in seconds.items()}, disk


def _rows(seconds: Mapping[str, float], disk: Mapping[str, float], mirror: float) -> list[Row]:
    full, warm = seconds["full clone"], seconds["warm mirror"]
    rows = [
        Row("workspace from a warm mirror, share of a full clone's time", 100 * warm / full, "%", 20),
        Row("disk of a workspace over its checkout", 100 * (disk["warm mirror"] / disk["checkout"] - 1), "%", 5),
        Row("the mirror itself, once per repository", mirror, "MiB"),
    ]
    return rows + [Row(f"{name}: time", seconds[name], "s", note=f"{disk[name]:.1f} MiB") for name in seconds]


def _size(place: Path) -> float:
    """Return MiB that only this directory holds: a file that is linked from elsewhere too counts nothing."""
    files = (path.lstat() for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(found.st_blocks * 512 for found in files if found.st_nlink == 1) / 2**20


def _history(chance: random.Random) -> bytes:
    """Return a fast-import stream: one commit of all files, then commits that change a few each."""
    words = (ROOT / "README.md").read_text(encoding="utf-8").split()
    parts = []
    for number in range(COMMITS):
        parts.append(f"commit refs/heads/main\ncommitter Ada <ada@example.org> {1_700_000_000 + number} +0000\n")
        parts.append(f"data 8\nChange {number % 10}\n" + ("from refs/heads/main^0\n" if number == 0 else ""))
        names = range(FILES) if number == 0 else chance.sample(range(FILES), CHANGED)
        for name in names:
            text = " ".join(chance.choices(words, k=BYTES // 7))
            parts.append(
                f"M 100644 inline src/package_{name % 30}/file_{name}.txt\ndata {len(text.encode())}\n{text}\n"
            )
    return "".join(parts).encode()
