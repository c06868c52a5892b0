"""Calls of Codex' tools, as the scripted model asks for them."""

from __future__ import annotations

from typing import Any


def write(path: str, content: str) -> dict[str, Any]:
    """Return a turn that adds a file of one line to the tree."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch\n"
    return {"tools": [{"name": "apply_patch", "input": patch}]}


def shell(command: str) -> dict[str, Any]:
    """Return a turn that runs a command in the tree, and waits for it as long as Codex allows."""
    return {"tools": [{"name": "exec_command", "input": {"cmd": command, "yield_time_ms": 30_000}}]}
