"""Git's answers over HTTP about refs alone, made without a process: capabilities as git gave them once, refs by file.

Unusual requests are left to git's own `http-backend`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.git import ref_files

UPLOAD, RECEIVE = "git-upload-pack", "git-receive-pack"

PROTOCOLS = {UPLOAD: "version=2", RECEIVE: ""}
"""Service -> `Git-Protocol` of the requests that are answered here; a client that pushes speaks no other."""

HIDDEN = "refs/pull/"
"""Prefix of the refs that the lab's repositories do not show to a client that pushes."""

_UNPEELED = ("refs/heads/", "refs/ack/", "refs/notes/", "refs/pull/")
"""Prefixes of refs that are never annotated tags."""

_END, _DIVIDER = b"0000", b"0001"
_KNOWN_CAPABILITY = re.compile(r"agent=.*|object-format=sha1")
_PREFIX = "ref-prefix "


@dataclass(frozen=True, slots=True)
class Advertised:
    """An answer to `info/refs` as git gave it: its headers, and its body."""

    headers: Mapping[str, str]
    body: bytes

    def of(self, git_dir: Path, service: str) -> bytes | None:
        """The same of a repository as it is now; None: git has to be asked."""
        if service == UPLOAD:
            return self.body  # of the second version: capabilities alone
        refs = None if (git_dir / "objects" / "info" / "alternates").exists() else ref_files.below(git_dir, "refs/")
        head, _, rest = self.body.partition(_END)
        capabilities = rest.partition(b"\0")[2].partition(b"\n")[0]
        if refs is None or not capabilities:
            return None
        shown = [(ref, oid) for ref, oid in refs.items() if not ref.startswith(HIDDEN)]
        rows = [f"{oid} {ref}".encode("utf-8", "surrogateescape") for ref, oid in sorted(shown, key=_by_name)]
        first, *others = rows or [f"{'0' * 40} capabilities^{{}}".encode()]
        return b"".join([head, _END, _packet(first + b"\0" + capabilities), *map(_packet, others), _END])


def list_refs(git_dir: Path, request: bytes) -> bytes | None:
    """The answer to a whole `ls-refs` of the second version; None for any other request, and where git has to be asked.

    See https://git-scm.com/docs/protocol-v2#_ls_refs.
    """
    arguments = _read_arguments(request)
    if arguments is None:
        return None
    prefixes = tuple(one.removeprefix(_PREFIX) for one in arguments if one.startswith(_PREFIX)) or ("",)
    refs = ref_files.below(git_dir, "refs/")
    head = _target(git_dir)
    if refs is None or head not in refs:
        return None
    rows = [(ref, oid) for ref, oid in sorted(refs.items(), key=_by_name) if ref.startswith(prefixes)]
    if "peel" in arguments and not all(ref.startswith(_UNPEELED) for ref, _ in rows):
        return None
    lines = [f"{oid} {ref}" for ref, oid in rows]
    if "HEAD".startswith(prefixes):
        lines.insert(0, f"{refs[head]} HEAD{f' symref-target:{head}' if 'symrefs' in arguments else ''}")
    return b"".join([*(_packet(line.encode("utf-8", "surrogateescape")) for line in lines), _END])


def _read_arguments(request: bytes) -> list[str] | None:
    """The arguments of an `ls-refs` that asks for nothing unknown."""
    packets = list(_packets(request))
    if packets[:1] != ["command=ls-refs"] or packets[-1] is not None or packets.count("") > 1:
        return None
    texts = [one for one in packets[1:-1] if one is not None]
    begin = texts.index("") if "" in texts else len(texts)
    capabilities, arguments = texts[:begin], texts[begin + 1 :]
    is_known = all(map(_KNOWN_CAPABILITY.fullmatch, capabilities)) and len(texts) == len(packets) - 2
    plain = all(one in {"peel", "symrefs", "unborn"} or one.startswith(_PREFIX) for one in arguments)
    return arguments if is_known and plain else None


def _packets(request: bytes) -> Iterator[str | None]:
    """The lines of a request; "" is a divider, None its end, and what cannot be read ends in neither."""
    at = 0
    while at < len(request):
        length = request[at : at + 4]
        if length == _END:
            yield None if at + 4 == len(request) else "more"
            return
        size = 4 if length == _DIVIDER else _size(length)
        if size < 4 or at + size > len(request):
            yield "broken"
            return
        yield request[at + 4 : at + size].decode("utf-8", "surrogateescape").removesuffix("\n")
        at += size


def _size(length: bytes) -> int:
    return int(length, 16) if re.fullmatch(rb"[0-9a-f]{4}", length) else 0


def _packet(line: bytes) -> bytes:
    return b"%04x%b\n" % (len(line) + 5, line)


def _target(git_dir: Path) -> str:
    """The branch that HEAD names."""
    try:
        text = (git_dir / "HEAD").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return text.removeprefix("ref: ").removesuffix("\n") if text.startswith("ref: ") else ""


def _by_name(row: tuple[str, str]) -> bytes:
    return row[0].encode("utf-8", "surrogateescape")
