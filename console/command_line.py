"""The command lines of `workflow-engine`: an option that takes one value is given once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from runtime.arguments import refuse_repeated


class OnceEach(TyperCommand):
    """A command that refuses an option which is given again, where the last one would count without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words that are left; wrong ones end it with exit code 2."""
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)
