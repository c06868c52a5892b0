"""Copies of the lock with one bug planted in its source, to prove that the checks bite."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from shared import lock

from .protocol import Protocol, of_package
from .schedule import Variation

ORDER = (
    "trailer", "comment", "codec", "record", "fold", "port", "breaker", "claimant", "conclude", "view", "edit", "swap",
    "hold", "fence", "announce", "claim", "ends", "gateway",
)  # fmt: skip
"""The modules of the lock, each after those that it imports."""

Change = tuple[str, str, str]
"""A module, a piece of its source that stands there exactly once, and what is put in its place."""

SOURCES: dict[str, tuple[Change, ...]] = {
    "any author trusted": (("codec", "comment.author.id in accounts", "True"),),
    "no settle wait": (("claim", "port.sleep(claimant.terms.settle)", "port.sleep(0)"),),
    "prev ignored": (("fold", "ack.id > holder and names", "ack.id > holder"),),
    "self-fence off": (
        ("hold", "held.port.boot() >= held.deadline", "held.port.boot() < 0"),
        ("hold", "max(0.0, min(pause, held.deadline - held.port.boot()))", "pause"),
    ),
    "blind second POST": (
        (
            "claim",
            "    except UnknownOutcome:\n        thread",
            "    except UnknownOutcome:\n"
            "        await port.request(PostComment(view.key.number, write_ack(draft, claimant.keys)))\n"
            "        thread",
        ),
    ),
    "fence read after comments": (
        ("view", "    looked = await", "    early = await port.request(ReadComments(key.number))\n    looked = await"),
        ("view", "await port.request(ReadComments(key.number, since, opening=fence is None))", "early"),
    ),
    "blind heartbeat": (("hold", "_normal(reply.value.body) not in held.written", "False"),),
    "unknown key id ignored": (("codec", "if verdict is Authenticity.UNKNOWN_KEY:", "if False:"),),
}
"""Bugs in the lock itself."""

AROUND: dict[str, Callable[[], Variation]] = {
    "fence not advanced": lambda: Variation(frozen_fence=True),
    "labels as truth": lambda: Variation(labels_decide=True),
}
"""Bugs of those who use it."""

BUGS = (*SOURCES, *AROUND)


def planted(bug: str) -> Variation:
    """A variation with exactly this bug."""
    return AROUND[bug]() if bug in AROUND else Variation(copy_of_lock(bug, SOURCES[bug]))


def copy_of_lock(name: str, changes: tuple[Change, ...]) -> Protocol:
    """The lock, read from its source and changed; raises `ValueError` when a change no longer fits the source."""
    package = f"lock_with_{name.replace(' ', '_').replace('-', '_')}"
    sys.modules[package] = ModuleType(package)
    for module in ORDER:
        path = Path(lock.__file__).parent / f"{module}.py"
        source = path.read_text(encoding="utf-8")
        for where, old, new in changes:
            if where == module:
                if source.count(old) != 1:
                    raise ValueError(
                        f"'{old}' stands {source.count(old)} times in {path}: adapt this bug to the source"
                    )
                source = source.replace(old, new)
        made = sys.modules[f"{package}.{module}"] = ModuleType(f"{package}.{module}")
        code = compile(source.replace("from shared.lock.", f"from {package}."), str(path), "exec")
        exec(code, made.__dict__)
    return of_package(package)
