"""Changed functions whose result depends on files or on the clock, where no new test speaks of either (pure).

Any program may ask for a file beside it or for today's date. What a test says nothing of, it does not show: such code
can do anything else on another machine, or next year.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_edits import shown
from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.damage.test_awareness import DEPENDS
from worker_agent.tdd.syntax.functions import Function
from worker_agent.tdd.syntax.source import Source, parse

_FILES = re.compile(
    r"__file__|__dirname|__DIR__|__FILE__|import\.meta\.(?:url|dirname|filename)"
    r"|os\.(?:listdir|scandir|stat|walk)\(|os\.path\.(?:exists|isfile|isdir)\("
    r"|\.(?:is_file|is_dir|iterdir|rglob)\(\)?|\)\.exists\(\)"
    r"|\b(?:exists|readdir|stat|access)Sync\(|\bos\.(?:Stat|ReadDir|Lstat)\(|\bfilepath\.Glob\("
    r"|\bFile\.(?:exist|file|directory)\?|\bDir\.(?:exist\?|glob|entries|children)|\bDir\["
    r"|\b(?:file_exists|is_file|is_dir|scandir)\(|\bPath::new\([^)\n]{0,200}\)\.exists\(|\bfs::(?:metadata|read_dir)\("
    r"|\bFiles\.exists\("
)
"""How code asks which files there are."""

_CLOCK = re.compile(
    r"\btime\.time(?:_ns)?\(|\bdatetime\.(?:now|utcnow|today)\(|\bdate\.today\(|\bDate\.now\(|\bnew Date\(\s*\)"
    r"|\btime\.Now\(|\bTime\.now\b|\b(?:Date|DateTime)\.(?:today|now)\b|(?<![\w>:$.])time\(\)|(?<![\w>:$.])date\(\s*['\"]"
    r"|\bmicrotime\(|\bnew \\?DateTime(?:Immutable)?\(\s*\)|\b(?:SystemTime|Utc|Local)::now\("
    r"|\b(?:LocalDate|LocalDateTime|Instant|ZonedDateTime)\.now\(|\bcurrentTimeMillis\("
    r"|\btime\.(?:monotonic|perf_counter|process_time)(?:_ns)?\(|\bprocess\.(?:uptime|hrtime)\b|\bperformance\.now\("
    r"|\bInstant::now\(|\bSystem\.nanoTime\(|\bhrtime\(|\bclock_gettime\("
)
"""How code asks what time it is."""

_FILE_WORDS = (
    "path file dir directory folder tmp temp open exist load read write fixture glob fs cwd disk root import resource"
)
_CLOCK_WORDS = (
    "time clock now date today tomorrow expire expiry ttl delay wait sleep freeze frozen year month week day hour"
    " minute second age elapsed timer timeout duration ms interval throttle debounce rate schedule cache log recent"
)
_YEAR = re.compile(r"(?<![\w.])(?:20[3-9]\d|2[1-9]\d\d|[3-9]\d\d\d)(?![\w.])")
_MOMENT = re.compile(r"(?<![\w.])(?:(?:1[789]|[2-9]\d)\d{8}(?:\d{3})?|(?:1[789]|[2-9]\d)e(?:8|11))(?![\w.])")
"""A year, and seconds or milliseconds since 1970, that are still ahead or nearly so."""

AHEAD = "{}::{}: what it does changes at a moment that is written in it (`{}`): no run of a test shows what comes then"


def surrounded(
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    tests: Mapping[str, bytes],
    wanted: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """A sentence for each changed function that asks for files or the time as no code of `base` does.

    `wanted` names the new tests by file, of those in `tests`. A test that speaks of files, or of time, knows of them.
    """
    before = "\n".join(content.decode("utf-8", "replace") for content in base.values())
    said = _words("\n".join(_told(tests, wanted)))
    found: list[str] = []
    for change in changes(base, head):
        for function in change.functions if change.source is not None else ():
            found += _asked(change, function, before, said)
    return tuple(found)


def _asked(change: FileChange, function: Function, before: str, said: frozenset[str]) -> Iterator[str]:
    assert change.source is not None
    place, own = f"{change.path}::{function.name}", change.source.text(function.node)
    clock, files = _CLOCK.search(own), _FILES.search(own)
    moment = _moment(change.source, own) if clock is not None else ""
    if clock is not None and moment and moment not in before:
        yield AHEAD.format(change.path, function.name, moment)
    elif clock is not None and clock[0] not in before and not said.intersection(_CLOCK_WORDS.split()):
        yield DEPENDS.format(place, shown(clock[0], 40))
    if files is not None and files[0] not in before and not said.intersection(_FILE_WORDS.split()):
        yield DEPENDS.format(place, shown(files[0], 40))


def _moment(source: Source, own: str) -> str:
    """A moment that stands in a function, or in a constant of the file that it names."""
    constants = re.findall(
        r"^[ \t]*(?:export |const |let |var |final |static )*(\w+)\s*(?::?=|:\s*\w+\s*=)([^\n]*)$",
        source.content.decode("utf-8", "replace"),
        re.MULTILINE,
    )
    values = [value for name, value in constants if re.search(rf"\b{re.escape(name)}\b", own)]
    texts = [re.sub(r"(?<=\d)_(?=\d)", "", text) for text in (own, *values)]
    return next((seen[0] for text in texts if (seen := _YEAR.search(text) or _MOMENT.search(text))), "")


def _told(tests: Mapping[str, bytes], wanted: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The texts of the wanted tests, and their names."""
    for path, names in wanted.items():
        source = parse(path, tests[path]) if path in tests else None
        yield from names
        if source is not None:
            yield from (source.text(test) for test, _ in expected_places(source, names))


def _words(text: str) -> frozenset[str]:
    """The words of a text, those in compound names apart, in the singular."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(part.lower() for part in parts) | frozenset(part.lower().removesuffix("s") for part in parts)
