"""Calls of Claude Code's tools, as the scripted model asks for them."""

from __future__ import annotations

from typing import Any


def write(path: str, content: str) -> dict[str, Any]:
    """Return a turn that writes a file of the tree."""
    return {"tools": [{"name": "Write", "input": {"file_path": f"{{cwd}}/{path}", "content": content}}]}


def bash(command: str) -> dict[str, Any]:
    """Return a turn that runs a command in the tree."""
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "try"}}]}
