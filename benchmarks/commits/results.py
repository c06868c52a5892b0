"""The results of the proof, one line of JSON for each commit; a table, and the counts (pure, but for the file)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.text import one_line

SENTENCE_CHARS = 160
"""Characters of a refusal's sentence that a table shows."""


@dataclass(frozen=True, slots=True)
class Result:
    """One commit played: `sentence` is why it was refused, or why it could not be judged if `got` is `error`.

    `asked` is what the proof leaves to whoever merges; `whole` and `partial` are how often the whole suite and a part
    of it were run.
    """

    project: str
    key: str
    language: str
    expected: str
    got: str
    sentence: str = ""
    seconds: float = 0.0
    whole: int = 0
    partial: int = 0
    damages: int = 0
    noticed: int = 0
    asked: str = ""

    @property
    def right(self) -> bool:
        """True if the proof gave the expected answer."""
        return self.got == self.expected


def read(path: Path) -> dict[tuple[str, str], Result]:
    """Return the latest result of each commit in a results file; empty if there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = (Result(**json.loads(line)) for line in lines)
    return {(result.project, result.key): result for result in found}


def append(path: Path, result: Result) -> None:
    """Append one result to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(asdict(result))}\n")


def line(result: Result) -> str:
    """Return one result as text for a terminal."""
    commit, _, rest = result.key.partition(" ")
    name = f"{result.project} {commit[:9]}{' ' + rest if rest else ''}"
    runs = f"{result.seconds:.0f} s, {result.whole}+{result.partial} runs"
    wrong = "" if result.right else f" (expected: {result.expected})"
    why = f"\n    {one_line(result.sentence, 400)}" if result.sentence else ""
    asked = f"\n    asked: {one_line(result.asked, 400)}" if result.asked else ""
    return f"{name}: {result.got}{wrong}; {runs}{why}{asked}"


def table(results: Iterable[Result]) -> str:
    """Return all results as a table in Markdown."""
    head = "| project | commit | expected | result | seconds | suite runs: whole + part | sentence |"
    return "\n".join([head, "|---|---|---|---|---:|---:|---|", *(_row(result) for result in results)])


def summary(results: Sequence[Result]) -> str:
    """Return the counts, for each language and together."""
    languages = sorted({result.language for result in results})
    parts = [(name, [result for result in results if result.language == name]) for name in languages]
    return "\n".join(_counts(name, some) for name, some in [*parts, ("together", results)])


def _counts(name: str, results: Sequence[Result]) -> str:
    honest = [result for result in results if result.expected == "accept"]
    others = [result for result in results if result.expected == "refuse"]
    accepted, refused = (sum(result.right for result in some) for some in (honest, others))
    seconds = sorted(result.seconds for result in results)
    median = f"{seconds[len(seconds) // 2]:.0f} s" if seconds else "-"
    return (
        f"{name}: honest accepted {accepted} of {len(honest)}, rightly refused {refused} of {len(others)}, "
        f"median {median}, {sum(result.whole for result in results)} runs of a whole suite, "
        f"{sum(result.right and bool(result.asked) for result in honest)} accepted with questions"
    )


def _row(result: Result) -> str:
    commit, _, rest = result.key.partition(" ")
    sentence = one_line(result.sentence, SENTENCE_CHARS).replace("|", "\\|")
    word = result.got if result.right else f"**{result.got}**"
    shown = f"{commit[:9]} {rest}".strip()
    runs = f"{result.whole} + {result.partial}"
    return f"| {result.project} | {shown} | {result.expected} | {word} | {result.seconds:.0f} | {runs} | {sentence} |"
