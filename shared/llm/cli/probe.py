"""The probe of a CLI: its answer about itself, such as its version, asked for once before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from shared import process
from shared.errors import Misconfigured


async def program_output(
    argv: Sequence[str], key: str, environment: Mapping[str, str], *, cwd: Path = Path("/")
) -> str:
    """Return the output of `argv`; `key` is the configuration key that names the program.

    Raises `Misconfigured`, with the end of its output, if it cannot be run or fails.
    """
    try:
        finished = await process.run(argv, cwd=cwd, env=environment)
    except OSError as error:
        raise Misconfigured(f"{argv[0]} ({key}) cannot be run: {error.strerror}.") from None
    if finished.code != 0:
        words = finished.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Misconfigured(f"`{' '.join(argv[:2])}` ({key}) failed with {finished.code}: {words}")
    return finished.text.strip()


def check_options(help_text: str, needed: Iterable[str], program: str, name: str) -> None:
    """Raise `Misconfigured` if `program`, that of backend `name`, lacks an option in its `--help`."""
    if missing := [option for option in needed if option not in help_text]:
        raise Misconfigured(
            f"{program} is too old: it does not know {', '.join(missing)}. Run `workflow-engine install-cli {name}`."
        )
