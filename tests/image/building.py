"""The Dockerfile, built without a container engine: buildah, on a base that debootstrap makes.

Where packages come from is this machine's own business: its apt sources name the mirror, its pip configuration
is lent to the build and stays out of the image.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".tools" / "image"
"""Keeps the base and the images, so that what is unchanged is not built again."""

ENGINE = "workflow-engine:test"
BOOTED = "workflow-engine-booted:test"

IN_BASE = ("ca-certificates", "python3", "python3-venv")
BUILD_SECONDS = 1200
"""Seconds for a build, with downloads over a slow line."""


def done(*command: str | Path, seconds: int = BUILD_SECONDS) -> str:
    """Run a command and return its output; fail with the end of its error output."""
    words = [str(word) for word in command]
    finished = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    assert finished.returncode == 0, f"{words[:4]}: {(finished.stderr or finished.stdout)[-3000:]}"
    return finished.stdout


def buildah(*words: str | Path) -> str:
    """Run buildah with a store of its own in the checkout, and return its output."""
    store = ("--root", PLACE / "storage", "--runroot", PLACE / "run", "--storage-driver", "overlay")
    return done("buildah", *store, *words)


@dataclass(frozen=True)
class Image:
    """A built image: its files, mounted, what it is started with, and its size."""

    root: Path
    config: dict[str, Any]
    bytes: int
    base_bytes: int


def base_name() -> str:
    """Return the name of the image that the Dockerfile builds on."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (name,) = {found[1] for found in re.finditer(r"^FROM (\S+)", text, re.MULTILINE)}
    return name


def mirror() -> tuple[str, str]:
    """Return the release and the mirror of this machine's Debian."""
    asked = ("apt-get", "indextargets", "--format", "$(LABEL) $(CODENAME) $(REPO_URI)")
    for line in done(*asked, "Created-By: Packages", "Component: main").splitlines():
        label, release, address = line.split()
        if label == "Debian" and "-" not in release:
            return release, address
    raise LookupError("apt knows no mirror of Debian's main component; `apt-get update` may be needed.")


def make_base() -> None:
    """Build a small Debian with Python under the name of the image that the Dockerfile builds on."""
    if _size(base_name()):
        return
    tree = PLACE / "base"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    release, address = mirror()
    done("debootstrap", "--variant=minbase", f"--include={','.join(IN_BASE)}", release, tree, address)
    (tree / "usr/bin/python").symlink_to("python3")
    shutil.rmtree(tree / "var/cache/apt", ignore_errors=True)
    packed = PLACE / "base.tar"
    done("tar", "-C", tree, "-cf", packed, ".")
    container = buildah("from", "scratch").strip()
    buildah("add", "--quiet", container, packed, "/")
    buildah("commit", "--quiet", "--rm", container, base_name())
    shutil.rmtree(tree)
    packed.unlink()


def build(name: str, context: Path, file: Path) -> None:
    """Build one image from a Dockerfile, unless its sources are unchanged."""
    made_of = PLACE / f"{name.partition(':')[0]}.digest"
    digest = digest_of(file, context)
    if made_of.exists() and made_of.read_text(encoding="ascii") == digest and _size(name):
        return
    lent = [word for volume in pip_volumes() for word in ("--volume", volume)]
    how = ("--isolation", "chroot", "--network", "host", "--format", "docker", "--pull-never")
    buildah("bud", *how, *lent, "--tag", name, "--file", file, context)
    buildah("rmi", "--prune")
    made_of.write_text(digest, encoding="ascii")


def digest_of(file: Path, context: Path) -> str:
    """Return the digest of a Dockerfile and all that it copies, with the engine's image if it builds on that."""
    text = file.read_text(encoding="utf-8")
    found = hashlib.sha256(text.encode())
    if f"FROM {ENGINE}" in text:
        found.update((PLACE / f"{ENGINE.partition(':')[0]}.digest").read_bytes())
    for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        for source in line.split()[:-1]:
            top = context / source
            for path in sorted(one for one in (top, *top.rglob("*")) if one.is_file() and one.suffix != ".pyc"):
                found.update(f"{path.relative_to(context)}\0".encode() + path.read_bytes())
    return found.hexdigest()


def pip_volumes() -> list[str]:
    """Return the volumes of this machine's pip configuration as one file, and of every path that it names."""
    told = done(sys.executable, "-m", "pip", "config", "list")
    found = re.findall(r"^(?:[\w-]+|:env:)\.([\w-]+)='(.*)'$", told, re.MULTILINE)
    known = {key: value for key, value in found if "/" in value or key == "timeout"}
    lines = "".join(f"{key} = {value}\n" for key, value in known.items())
    file = PLACE / "pip.conf"
    file.write_text(f"[global]\n{lines}", encoding="utf-8")
    file.chmod(0o600)
    paths = sorted({str(path) for value in known.values() for path in _paths(value.replace("\\n", " ").split())})
    return [f"{file}:/etc/pip.conf:ro", *(f"{path}:{path}:ro" for path in paths)]


def _paths(words: Sequence[str]) -> Iterator[Path]:
    for word in words:
        if word.startswith("file://"):
            yield Path(word.removeprefix("file://")).parent  # an index lies beside the files that it lists
        elif word.startswith("/") and Path(word).exists():
            yield Path(word)


def mounted(name: str) -> tuple[str, Image]:
    """Mount the image in a container of buildah's, to be given to `discard`; return the container and the image."""
    container = buildah("from", "--pull-never", name).strip()
    root = Path(buildah("mount", container).strip())
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n", encoding="ascii")  # as Docker gives every container
    described = json.loads(buildah("inspect", "--type", "image", name))
    return container, Image(root, described["Docker"]["config"], _size(name), _size(base_name()))


def discard(container: str) -> None:
    """Unmount and forget it."""
    buildah("umount", container)
    buildah("rm", container)


def _size(name: str) -> int:
    """Return the size of an image in bytes, its base included; 0 if there is none of that name."""
    for one in json.loads(buildah("images", "--json") or "[]"):
        if any(known == name or known.endswith(f"/{name}") for known in one.get("names") or ()):
            return _bytes(str(one["size"]))
    return 0


def _bytes(told: str) -> int:
    number, _, unit = told.partition(" ")
    return int(float(number) * {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}[unit.upper()])
