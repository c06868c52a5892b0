"""Changed functions whose result depends on their environment, if no new test mentions that (pure).

Code that reads a file, the time, the machine, the terminal, the thread, the interpreter or chance can do anything else
in another run. A test shows nothing about facts that it does not mention.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from worker_agent.tdd.damage.code_changes import FileChange, changes, joined, read_by
from worker_agent.tdd.damage.code_edits import FunctionScope, shown
from worker_agent.tdd.damage.expectations import expected_tests
from worker_agent.tdd.damage.test_awareness import DEPENDS
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source

_YEAR = re.compile(r"(?<![\w.])(?:20(?:2[7-9]|[3-9]\d)|2[1-9]\d\d|[3-9]\d\d\d)(?![\w.])")
_MOMENT = re.compile(r"(?<![\w.])(?:(?:1[789]|[2-9]\d)\d{8}(?:\d{3})?|(?:1[789]|[2-9]\d)e(?:8|11))(?![\w.])")
"""Patterns of a year, and of seconds or milliseconds since 1970, in the future or nearly so."""

AHEAD = "{}::{}: what it does changes at a moment that is written in it (`{}`): no run of a test shows what comes then"


def _kind(code_pattern: str, mentioned_by: str) -> tuple[re.Pattern[str], frozenset[str]]:
    """Return one kind of environment: the code that reads it, and the words by which tests mention it."""
    return re.compile(code_pattern), words(mentioned_by)


_CLOCK = _kind(
    r"\btime\.time(?:_ns)?\(|\bdatetime\.(?:now|utcnow|today)\(|\bdate\.today\(|\bDate\.now\(|\bnew Date\(\s*\)"
    r"|\btime\.Now\(|\bTime\.now\b|\b(?:Date|DateTime)\.(?:today|now)\b|(?<![\w>:$.])time\(\)|(?<![\w>:$.])date\(\s*['\"]"
    r"|\bmicrotime\(|\bnew \\?DateTime(?:Immutable)?\(\s*\)|\b(?:SystemTime|Utc|Local)::now\("
    r"|\b(?:LocalDate|LocalDateTime|Instant|ZonedDateTime)\.now\(|\bcurrentTimeMillis\("
    r"|\btime\.(?:monotonic|perf_counter|process_time)(?:_ns)?\(|\bprocess\.(?:uptime|hrtime)\b|\bperformance\.now\("
    r"|\bInstant::now\(|\bSystem\.nanoTime\(|\bhrtime\(|\bclock_gettime\("
    r"|\btime\.(?:localtime|gmtime|ctime)\(\s*\)|\b(?:localtime|gmtime)\(\s*\)|\btime\.strftime\(\s*['\"][^'\"\n]*['\"]\s*\)",
    "time clock now date today tomorrow expire expiry ttl delay wait sleep freeze frozen year month week day hour"
    " minute second age elapsed timer timeout duration ms interval throttle debounce rate schedule cache log recent",
)
_RANDOM = r"\b(?:\w+(?:\.|::))*(?:mt_)?rand(?:om)?\w*(?:\.\w+)*\([^()\n]{0,40}\)"
_KINDS = (
    _CLOCK,
    _kind(
        r"__file__|__dirname|__DIR__|__FILE__|import\.meta\.(?:url|dirname|filename)"
        r"|os\.(?:listdir|scandir|stat|walk)\(|os\.path\.(?:exists|isfile|isdir)\("
        r"|\.(?:is_file|is_dir|iterdir|rglob)\(\)?|\)\.exists\(\)"
        r"|\b(?:exists|readdir|stat|access)Sync\(|\bos\.(?:Stat|ReadDir|Lstat)\(|\bfilepath\.Glob\("
        r"|\bFile\.(?:exist|file|directory)\?|\bDir\.(?:exist\?|glob|entries|children)|\bDir\["
        r"|\b(?:file_exists|is_file|is_dir|scandir)\(|\bPath::new\([^)\n]{0,200}\)\.exists\(|\bfs::(?:metadata|read_dir)\("
        r"|\bFiles\.exists\(",
        "path file dir directory folder tmp temp open exist load read write fixture glob fs cwd disk root import"
        " resource",
    ),
    _kind(
        r"\bgethostname\(|\bplatform\.node\(|\bos\.uname\(|\bos\.(?:hostname|userInfo|Hostname|Getuid|Getpid|Getppid)\("
        r"|\bEtc\.(?:uname|getlogin|getpwuid)|\bphp_uname\(|\bget_current_user\(|\bgetmypid\(|\bgetpass\.getuser\("
        r"|\bos\.getlogin\(|\buser\.Current\(|\b(?:posix_)?get(?:uid|euid|pid|ppid)\(|\bprocess\.p?pid\b"
        r"|\bProcess\.(?:pid|ppid|uid|euid)\b|\bprocess::id\(|\bgetLocalHost\(|\bProcessHandle\.current\("
        r"|\buuid\.getnode\(|\bos\.networkInterfaces\(|\bnet\.Interfaces\(|\bos\.getloadavg\(|\bos\.loadavg\(",
        "host hostname node machine user owner login uid pid process platform system lock uname address network load",
    ),
    _kind(
        r"\bisatty\(|\.isTTY\b|\.(?:tty|isatty)\?|\b(?:posix|stream)_isatty\(|\bis_?terminal\(|\bIsTerminal\(|\batty::is"
        r"|\bSystem\.console\(\)|\bsys\.(?:__)?std(?:in|out|err)(?:__)?\.(?:closed|fileno|mode|name)\b"
        r"|\b(?:hasattr|getattr|isinstance|type)\(\s*sys\.(?:__)?std(?:in|out|err)(?:__)?\b",
        "tty isatty terminal color colour ansi interactive stdout stdin stderr console plain pipe",
    ),
    _kind(
        r"\b(?:current_thread|main_thread|get_ident|get_native_id|active_count)\(|\bisMainThread\b"
        r"|\bThread\.(?:main|current)\b|\bThread\.currentThread\(|\bthread::current\(|\bNumGoroutine\(",
        "thread worker concurrent concurrently concurrency parallel lock race goroutine local",
    ),
    _kind(
        r"\b__debug__\b|\bsys\.(?:flags|gettrace|getprofile|_xoptions|warnoptions|getrefcount)\b|\bprocess\.execArgv"
        r"|\bNODE_OPTIONS\b|\binspector\.url\(|\bzend\.assertions\b|\bassert_options\(|\$(?:DEBUG|VERBOSE)\b"
        r"|\bsys\.(?:meta_path|path_hooks|path_importer_cache|(?:__)?(?:except|unraisable|display)hook(?:__)?|orig_argv)\b"
        r"|\bsys\.dont_write_bytecode\b|\bwarnings\.(?:filters|showwarning)\b|\bthreading\.(?:excepthook|enumerate)\b"
        r"|\bfaulthandler\.is_enabled\b|\b(?:getLogger\([^()\n]*\)|logging\.root)\.(?:handlers|hasHandlers)\b"
        r"|\bin\s+(?:globals|vars)\(\)|\bprocess\.(?:channel|connected|send|title|report|listener\w*|eventNames|_\w+)\b"
        r"|[\w\"'`]\s+in\s+global(?:This)?\b|\bglobal(?:This)?(?:\?\.)?\[|\bimport\.meta\b[^\n.]{0,12}\.env\b"
        r"|\bError\.(?:stackTraceLimit|prepareStackTrace)\b|\bRubyVM\b|\bdebug\.ReadBuildInfo\(|\bManagementFactory\b|\bdesiredAssertionStatus\(|\bdebug_assertions\b",
        "debug optimize optimized flag trace profile build assertion verbose hook handler handlers filter warning log"
        " global globals stack listener title channel polyfill runtime env send fork child ipc message",
    ),
    _kind(
        rf"{_RANDOM}\s*(?:[<>]=?|[=!]==?|%)|[<>]=?\s*{_RANDOM}",
        "random rand randomly seed chance probability sample jitter shuffle fraction rate",
    ),
)


def surrounded(
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    tests: Mapping[str, bytes],
    test_names: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """Return a sentence for each changed function that reads its environment as no code of `base` does.

    `test_names` names the new tests by file, of those in `tests`. A test counts as aware if it mentions files, time,
    the terminal or whatever else the code reads.
    """
    before = joined(base)
    mentioned = _words("\n".join(_test_texts(tests, test_names)))
    return tuple(
        sentence
        for change in changes(base, head)
        for place in change.scopes
        for sentence in _describe_dependence(change, place, before, mentioned)
    )


def _describe_dependence(
    change: FileChange, place: FunctionScope, before: str, mentioned: frozenset[str]
) -> Iterator[str]:
    name, code = place.function.name, read_by(change, place)
    moment = _moment(place.source, code) if _CLOCK[0].search(code) else ""
    is_ahead = bool(moment) and moment not in before
    if is_ahead:
        yield AHEAD.format(change.path, name, moment)
    for pattern, words_of in _KINDS[1:] if is_ahead else _KINDS:
        match = pattern.search(code)
        if match is not None and match[0] not in before and not mentioned.intersection(words_of):
            yield DEPENDS.format(f"{change.path}::{name}", shown(match[0], 40))


def _moment(source: Source, code: str) -> str:
    """Return a moment that is written in a function, or in a constant of the file that it names."""
    constants = re.findall(
        r"^[ \t]*(?:export |const |let |var |final |static )*(\w+)\s*(?::?=|:\s*\w+\s*=)([^\n]*)$",
        source.content.decode("utf-8", "replace"),
        re.MULTILINE,
    )
    values = [value for name, value in constants if re.search(rf"\b{re.escape(name)}\b", code)]
    texts = [re.sub(r"(?<=\d)_(?=\d)", "", text) for text in (code, *values)]
    return next((match[0] for text in texts if (match := _YEAR.search(text) or _MOMENT.search(text))), "")


def _test_texts(tests: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the texts of the wanted tests, and their names."""
    yield from chain.from_iterable(test_names.values())
    yield from (test.text for test in expected_tests(tests, test_names))


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, split within compound names, with their singular forms."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(part.lower() for part in parts) | frozenset(part.lower().removesuffix("s") for part in parts)
