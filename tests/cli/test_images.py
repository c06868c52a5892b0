"""The real programs see an image that a request names, and one that is broken ends no call."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

from cli.coding import Desk
from shared.llm.port import Ending

READ = {"tools": [{"name": "Read", "input": {"file_path": "{cwd}/.issue-images/1.png"}}]}


def png(side: int = 8) -> bytes:
    """Return a small red square as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\xff\0\0" * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def lay(desk: Desk, *contents: bytes) -> tuple[Path, ...]:
    """Write images into the tree, as a worker does."""
    place = desk.tree / ".issue-images"
    place.mkdir()
    files = tuple(place / f"{order}.png" for order, _ in enumerate(contents, start=1))
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    return files


async def test_codex_hands_images_over_with_its_prompt(codex: Desk) -> None:
    codex.script({"say": "Seen."})
    outcome = await codex.edit("Look at it.", images=lay(codex, png(), png(9)))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Seen.")
    sent = json.dumps(codex.server.journal[0].body["input"])
    assert sent.count('"input_image"') == 2
    assert "data:image/png;base64," in sent
    assert "Look at it." in sent, "the prompt is still read from standard input"


async def test_a_broken_image_ends_no_call_of_codex(codex: Desk) -> None:
    codex.script({"say": "Done."})
    outcome = await codex.edit("Look at it.", images=lay(codex, b"\x89PNG\r\n\x1a\n broken"))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")


async def test_claude_sees_an_image_that_it_opens(desk: Desk) -> None:
    (file,) = lay(desk, png())
    desk.script(READ, {"say": "Seen."})
    outcome = await desk.edit("Look at `.issue-images/1.png`.", images=(file,))
    assert (outcome.ending, outcome.text, outcome.notes) == (Ending.COMPLETED, "Seen.", ())
    sent = json.dumps(desk.server.journal[-1].body["messages"])
    assert '"type": "image"' in sent
    assert base64.b64encode(png()).decode()[:24] in sent or '"media_type": "image/' in sent


async def test_a_broken_image_ends_no_call_of_claude(desk: Desk) -> None:
    (file,) = lay(desk, b"\x89PNG\r\n\x1a\n broken")
    desk.script(READ, {"say": "Done."})
    outcome = await desk.edit("Look at `.issue-images/1.png`.", images=(file,))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")
