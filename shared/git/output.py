"""The parsing of git's NUL-terminated output."""

from __future__ import annotations


def fields(output: bytes) -> tuple[str, ...]:
    """Return the fields of NUL-terminated output; bytes that are not UTF-8 come as surrogates."""
    return tuple(field.decode("utf-8", "surrogateescape") for field in output.split(b"\0") if field)


def joined(values: list[str]) -> bytes:
    """Return NUL-terminated input for git's `-z --stdin`: the opposite of `fields`."""
    return b"".join(value.encode("utf-8", "surrogateescape") + b"\0" for value in values)
