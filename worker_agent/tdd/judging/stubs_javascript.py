"""Stand-ins for the files that JavaScript tests import and that do not exist yet (pure); see `stubs`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

_IMPORT = re.compile(r"^\s*import\s+(?P<what>[^'\";]+?)\s+from\s+['\"](?P<where>\.{1,2}/[^'\"]+)['\"]", re.MULTILINE)
_REQUIRE = re.compile(r"\brequire\(\s*['\"](?P<where>\.{1,2}/[^'\"]+)['\"]\s*\)")
_NAMES = re.compile(r"\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_SOURCE = re.compile(r"\.[cm]?[jt]sx?$")
_ENDINGS = (
    "",
    *(f"{index}.{end}" for index in ("", "/index") for end in ("js", "ts", "mjs", "cjs", "tsx", "jsx", "mts")),
)

_STUB = """\
const hidden = /^(?:then|toJSON|constructor|prototype|nodeType|asymmetricMatch|length|name|[$@_].*)$/;
const stub = new Proxy(function () {}, {
  get: (_, key) => (typeof key === 'symbol' || hidden.test(key) ? undefined : stub),
  apply: () => stub,
  construct: () => stub,
});
"""
"""Does whatever is asked of it and equals nothing; what looks for a matcher or a promise in it finds none."""


@dataclass
class _Missing:
    """One file that is not there: the names taken from it, and whether it is required instead of imported."""

    names: set[str] = field(default_factory=set)
    required: bool = False


def stand_ins(test_files: Mapping[str, bytes], paths: Collection[str]) -> dict[str, bytes]:
    """The files to lay over the base, so that whatever the tests import exists; `paths` are those of the base."""
    known = {*paths, *test_files}
    missing: dict[str, _Missing] = {}
    for path, content in test_files.items():
        if _SOURCE.search(path):
            _add(missing, path, content.decode("utf-8", "replace"), known)
    return {path: _text(found) for path, found in missing.items()}


def _add(missing: dict[str, _Missing], path: str, text: str, known: Collection[str]) -> None:
    for found in (*_IMPORT.finditer(text), *_REQUIRE.finditer(text)):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found["where"]))
        options = [f"{target}{ending}" for ending in _ENDINGS]
        if target.startswith("../") or any(option in known for option in options):
            continue
        ending = "" if _SOURCE.search(target) else f".{path.rpartition('.')[2]}"
        entry = missing.setdefault(target + ending, _Missing())
        entry.required |= found.re is _REQUIRE
        entry.names |= _names(found.groupdict().get("what") or "")


def _names(what: str) -> set[str]:
    braces = _NAMES.search(what)
    parts = (braces[1] if braces else "").split(",")
    return {name[0] for part in parts if (name := _NAME.match(part.strip().removeprefix("type ").strip()))}


def _text(found: _Missing) -> bytes:
    if found.required:
        return f"{_STUB}module.exports = stub;\n".encode()
    exports = "".join(f"export const {name} = stub;\n" for name in sorted(found.names - {"default"}))
    return f"{_STUB}{exports}export default stub;\n".encode()
