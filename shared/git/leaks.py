"""Looks for secrets in a change before a commit is made of it: in what it adds, binary files and names included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import anyio.to_thread

from shared.git import objects
from shared.git.command import Git
from shared.git.patch_policy import Change, Refusal
from shared.outgoing.outbound_filter import Outgoing

SCANNED_BYTES = 4 * 2**20
"""More than this is refused unread; the policy itself refuses much smaller patches for their size."""


async def leaks(git: Git, changes: Sequence[Change], tree: str, outgoing: Outgoing) -> tuple[Refusal, ...]:
    """A refusal for each file of `tree` that would give a secret away; none of them repeats it."""
    binary = [change for change in changes if change.binary and 0 < change.size <= SCANNED_BYTES]
    contents = await objects.read(git, [f"{tree}:{change.path}" for change in binary])
    read = {change.path: content or b"" for change, content in zip(binary, contents, strict=True)}
    if sum(len(change.added_text) or change.size for change in changes) > SCANNED_BYTES:
        return (Refusal("", f"More than {SCANNED_BYTES} bytes cannot be searched for secrets."),)
    return await anyio.to_thread.run_sync(lambda: tuple(_found(changes, read, outgoing)))


def _found(changes: Iterable[Change], read: dict[str, bytes], outgoing: Outgoing) -> Iterator[Refusal]:
    for change in changes:
        if kind := outgoing.leak(change.path):
            yield Refusal("", f"The name of a file holds {kind}.")
        elif kind := outgoing.leak(change.added_text or _plain(read.get(change.path, b""))):
            yield Refusal(change.path, f"It adds {kind}; secrets are never published.")


def _plain(content: bytes) -> str:
    """A binary file's characters, those of UTF-16 too."""
    return content.decode("latin-1").replace("\0", "")
