"""Objects and branches of one git directory of ours in another one: by hard links, without a process.

Both belong to the engine alone. Objects that cannot be linked, or are not certainly whole then, are left to git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio.to_thread

from shared.git import bare_directory, history, loose_objects, names, objects, ref_files, tree_files
from shared.git.command import Git
from shared.git.failures import TooMuchOutput
from shared.git.patch_policy import GITLINK

_FAN = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}")

_HEADER = "# pack-refs with: peeled fully-peeled sorted \n"
"""git's first line of a file of packed refs."""


async def adopt(there: Git, here: Git, commits: Sequence[str]) -> bool:
    """Bring commits that were made `there` upon commits that are `here`, with all they need; False: git has to.

    Only objects that they lead to are linked, and a link does not make an object count as whole: each file is read
    before, and all of it is looked for here.
    """
    if not here.has_readers or not await _are_built_on(there, here, commits):
        return False
    for commit in commits:
        found = await tree_files.few(there, commit)
        if found is None:
            return False
        wanted = {commit, *found.trees, *(file.oid for file in found.files if file.mode != GITLINK)}
        linked = await anyio.to_thread.run_sync(link_loose, there.git_dir, here.git_dir, wanted)
        if not linked or not wanted <= (await objects.sizes(here, wanted)).keys():
            return False
    return True


async def _are_built_on(there: Git, here: Git, commits: Sequence[str]) -> bool:
    try:
        told = await objects.whole(there, commits)
    except TooMuchOutput:
        return False
    read = [None if one is None else history.parsed(oid, one[1]) for oid, one in zip(commits, told, strict=True)]
    parents = {parent for one in read if one is not None for parent in one[0].parents}
    return None not in read and all([await objects.peeled(here, parent, "commit") for parent in parents])


def link_loose(source: Path, target: Path, oids: Collection[str]) -> bool:
    """Link those of these objects that are loose in `source` into `target`; False if no file can be linked.

    Each is read first, as git reads what it fetches. A file that a power cut has left empty or cut off would be linked
    from here to everywhere, and git never writes over an object that is there.
    """
    try:
        for oid in oids:
            name = Path("objects", oid[:2], oid[2:])
            place = target / name
            if not place.exists():
                try:
                    sound = loose_objects.is_sound(source / name, oid)
                except FileNotFoundError:
                    continue  # in a pack there, or not there at all, which shows afterwards
                if not sound:
                    return False
                place.parent.mkdir(exist_ok=True)
                with suppress(FileExistsError):
                    os.link(source / name, place)
            os.utime(place)  # packing drops what nothing leads to and nobody wrote for days
    except OSError:
        return False
    return True


def clone(source: Path, target: Path) -> bool:
    """Make `target` a bare directory with all objects and branches of `source`, which nobody packs meanwhile.

    False if that is left to git; what was begun then stays.
    """
    heads = ref_files.below(source, "refs/heads/")
    try:
        is_plain = heads is not None and not (source / "objects/info/alternates").exists() and _is_sha1(source)
        if heads is None or not is_plain:
            return False
        bare_directory.make(target)
        for path in (*_loose(source), *_packs(source)):
            place = target / path.relative_to(source)
            place.parent.mkdir(exist_ok=True)
            os.link(path, place)
        lines = [f"{names.oid(oid)} {names.ref(ref)}\n" for ref, oid in sorted(heads.items())]
        (target / "packed-refs").write_text("".join([_HEADER, *lines]), encoding="utf-8")
    except (OSError, ValueError):
        return False
    return True


def _is_sha1(git_dir: Path) -> bool:
    return "extensions" not in (git_dir / "config").read_text(encoding="utf-8", errors="replace").casefold()


def _loose(git_dir: Path) -> Iterator[Path]:
    for fan in sorted((git_dir / "objects").iterdir()):
        if _FAN.fullmatch(fan.name):
            yield from (path for path in sorted(fan.iterdir()) if _LOOSE.fullmatch(path.name))


def _packs(git_dir: Path) -> Iterator[Path]:
    """Yield the files of each whole pack, its index last: a pack is found by its index."""
    folder = git_dir / "objects" / "pack"
    for index in sorted(folder.glob("*.idx")):
        yield from (path for path in sorted(folder.glob(f"{index.stem}.*")) if path != index)
        yield index
