"""Kinds of environment that are the same in every run of the tests, and the code that reads them (pure).

Code that reads a file, the time, the machine, the terminal, the thread, the interpreter or chance can do anything else
in another run. A test that knows of it mentions it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.code_changes import FileChange
from worker_agent.tdd.damage.code_edits import FunctionScope


@dataclass(frozen=True, slots=True)
class Surrounding:
    """One kind of environment: the code that reads it, and the words by which tests mention it."""

    code_pattern: re.Pattern[str]
    words: frozenset[str]


def _kind(code_pattern: str, words: str) -> Surrounding:
    return Surrounding(re.compile(code_pattern), frozenset(words.split()))


CLOCK = _kind(
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
FILES = _kind(
    r"__file__|__dirname|__DIR__|__FILE__|import\.meta\.(?:url|dirname|filename)"
    r"|os\.(?:listdir|scandir|stat|walk)\(|os\.path\.(?:exists|isfile|isdir)\("
    r"|\.(?:is_file|is_dir|iterdir|rglob)\(\)?|\)\.exists\(\)"
    r"|\b(?:exists|readdir|stat|access)Sync\(|\bos\.(?:Stat|ReadDir|Lstat)\(|\bfilepath\.Glob\("
    r"|\bFile\.(?:exist|file|directory)\?|\bDir\.(?:exist\?|glob|entries|children)|\bDir\["
    r"|\b(?:file_exists|is_file|is_dir|scandir)\(|\bPath::new\([^)\n]{0,200}\)\.exists\(|\bfs::(?:metadata|read_dir)\("
    r"|\bFiles\.exists\(",
    "path file dir directory folder tmp temp open exist load read write fixture glob fs cwd disk root import resource",
)
_RANDOM = r"\b(?:\w+(?:\.|::))*(?:mt_)?rand(?:om)?\w*(?:\.\w+)*\([^()\n]{0,40}\)"
_MORE = (
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
        r"|\bSystem\.console\(\)",
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
        r"|\bRubyVM\b|\bdebug\.ReadBuildInfo\(|\bManagementFactory\b|\bdesiredAssertionStatus\(|\bdebug_assertions\b",
        "debug optimize optimized flag trace profile build assertion verbose",
    ),
    _kind(
        rf"{_RANDOM}\s*(?:[<>]=?|[=!]==?|%)|[<>]=?\s*{_RANDOM}",
        "random rand randomly seed chance probability sample jitter shuffle fraction rate",
    ),
)

KINDS = (CLOCK, FILES, *_MORE)

_NAMED = re.compile(r"[^=\n({]*?([A-Za-z_]\w*)\s*(?::\s*[\w.\[\], |&<>']+)?\s*:?=(?![=>~])")
_OWN_PLACE = re.compile(r"__file__|__dirname|__DIR__|__FILE__|import\.meta\.\w+")


def read_nodes(change: FileChange, place: FunctionScope) -> tuple[Node, ...]:
    """Return a function, and the new statements outside of functions that assign a name in it."""
    words = set(re.findall(r"\w+", place.text(place.node)))
    given = [(_NAMED.match(place.text(each.node)), each.node) for each in change.statements]
    return (place.node, *(node for found, node in given if found is not None and found[1] in words))


def read_by(change: FileChange, place: FunctionScope) -> str:
    """Return the text of these nodes.

    Outside of the function, the place of the code file itself is no environment: programs find their own files that
    way.
    """
    code, *given = map(place.text, read_nodes(change, place))
    return "\n".join([code, *(_OWN_PLACE.sub("", text) for text in given)])
