"""A copy of the lock made from its source, with a bug: loaded beside the lock itself, in the same process."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ..protocol import Protocol, of_package
from .mutant import ROOT, Mutant, sources

PACKAGE = "shared.lock"
BURIAL, STATUS = "shared/reconcile/tombstones.py", "shared/github/status.py"
"""Modules that are copied with the lock: one ends fences by way of it, the other writes into its comment."""

_MODULE = re.compile(r"^from shared\.lock\.(\w+) import ", re.MULTILINE)
_MEMBER = re.compile(r"^from shared\.lock import (\w+)", re.MULTILINE)


def copy_of(mutant: Mutant) -> Protocol:
    """Return the lock with this bug; raises `Outdated` when it no longer fits the source."""
    return _Copy(f"lock_with_{re.sub(r'[^a-z0-9]+', '_', mutant.name.lower())}", sources(mutant)).protocol()


class _Copy:
    def __init__(self, package: str, changed: Mapping[str, str]) -> None:
        self._package = package
        self._changed = changed
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
        self._root = sys.modules[package] = ModuleType(package)
        self._root.__path__ = []

    def protocol(self) -> Protocol:
        for path in sorted((ROOT / "shared" / "lock").glob("*.py")):
            if path.stem not in {"__init__", "scope"}:
                self._load(path.stem, f"shared/lock/{path.name}")
        self._load("burial", BURIAL)
        self._load("status", STATUS)
        return of_package(self._package, f"{self._package}.burial", f"{self._package}.status")

    def _load(self, module: str, path: str) -> None:
        """Load a module, after those that it imports."""
        name = f"{self._package}.{module}"
        if name in sys.modules:
            return
        source = self._changed.get(path) or (ROOT / path).read_text(encoding="utf-8")
        for needed in (*_MODULE.findall(source), *_MEMBER.findall(source)):
            self._load(needed, f"shared/lock/{needed}.py")
        source = source.replace("from shared.lock.", f"from {self._package}.")
        source = source.replace("from shared.lock import", f"from {self._package} import")
        made = sys.modules[name] = ModuleType(name)
        exec(compile(source, str(Path(path)), "exec"), made.__dict__)
        setattr(self._root, module, made)
