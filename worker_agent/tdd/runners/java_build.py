"""The errors of javac about sources that it cannot compile, as Maven and Gradle show them: whose names are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from worker_agent.tdd.runners.java_sources import JavaSources, is_test_file
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, FailureKind, worst

_MAVEN = re.compile(r"^\[ERROR\] (?P<file>/\S.*?\.(?:java|kt|groovy|scala)):\[(?P<line>\d+)(?:,\d+)?\] (?P<said>.*)$")
_GRADLE = re.compile(r"^(?::[^/\s]*)?(?P<file>/\S.*?\.(?:java|groovy|scala)):(?P<line>\d+): error: (?P<said>.*)$")
_KOTLIN = re.compile(r"^e: (?:file://)?(?P<file>/\S.*?\.kts?):(?:\(?(?P<line>\d+)[:,] ?\d+\)?):? (?P<said>.*)$")
_ENDS = re.compile(r"^(?:\[|\d+ errors?$|\d+ warnings?$|FAILURE: |:\w|> Task|BUILD )")

_SYNTAX = re.compile(
    r".* expected\b|illegal start of|reached end of file|unclosed |not a statement|illegal character|orphaned "
    r"|invalid method declaration|unnamed class|Expecting |'.*' without '"
)
_PACKAGE = re.compile(r"package (\S+) does not exist")
_LOCATION = re.compile(r"location: +(?:variable \S+ of type |class |interface |enum |record |@interface )([\w.$<>]+)")
_IN_PACKAGE = re.compile(r"location: +package (\S+)")
_SYMBOL = re.compile(r"symbol: +(class|variable|method|constructor) (\w+)")
_SHAPE = re.compile(
    r"(?:constructor|method) \S+ in (?:class|interface|enum|record) ([\w.$]+)(?:<.*?>)? cannot be applied"
    r"|no suitable (?:method|constructor) found for ([\w.$]+)"
    r"|\S+(?:\(.*?\))? (?:has (?:private|protected) access|is not public) in ([\w.$]+)"
    r"|\S+ in ([\w.$]+) is not public|([\w.$]+) is not abstract and does not override"
)
_CANDIDATE = re.compile(r"(?:method|constructor) ([\w.$]+?)(?:\.\w+)?\([^)]*\) is not applicable")
_STANDARD = re.compile(
    r"List|ArrayList|Map|HashMap|Set|HashSet|Arrays|Collections|Optional|Stream|Collectors|Path|Paths|Files|Duration"
    r"|Instant|LocalDate|LocalDateTime|BigDecimal|BigInteger|IOException|UUID|Random|Function|Supplier|Objects|File"
    r"|assert\w+|Test|BeforeEach|AfterEach|Before|After|Assertions|Assert|ParameterizedTest|DisplayName|Nested|Mock|Mockito"
)
"""Names that a test forgets to import; nobody is going to write them."""


@dataclass(frozen=True, slots=True)
class Error:
    """One error of the compiler; `message` has the lines that follow it, too."""

    file: str
    line: int
    message: str

    @property
    def text(self) -> str:
        """The error as it is shown to people."""
        return f"{self.file}:{self.line}: {self.message}"


def errors(log: str, project: Project) -> list[Error]:
    """Return the errors in a log, each once."""
    found: dict[str, Error] = {}
    current: list[str] | None = None
    place = ("", 0)
    for line in [*log.splitlines(), "["]:
        placed = _MAVEN.match(line) or _GRADLE.match(line) or _KOTLIN.match(line)
        if current is not None and (placed or _ENDS.match(line)):
            error = Error(*place, "\n".join(current).rstrip())
            found.setdefault(error.text.partition("\n")[0], error)
            current = None
        if placed:
            place, current = (project.below(placed["file"]), int(placed["line"])), [placed["said"]]
        elif current is not None and len(current) < 12:
            current.append(line)
    return list(found.values())


def not_built(log: str, project: Project, reported: frozenset[str], selected: frozenset[str]) -> Iterator[Case]:
    """Yield each test file of a module that was not compiled, and of those without results because of it.

    `reported` are the modules that have results; `selected` the files that the run was about, empty for all.
    """
    found = errors(log, project)
    if not found:
        return
    sources = JavaSources(project)
    by_module: dict[str, list[Error]] = {}
    for error in found:
        by_module.setdefault(sources.module_of(error.file), []).append(error)
    begun = sources.modules if not selected else {sources.module_of(path) for path in selected}
    in_code = any(not is_test_file(error.file) for error in found)
    for module in sorted({*by_module, *(begun - reported if in_code else ())}):
        text = "\n".join(error.text for error in by_module.get(module, found))
        for file in sources.test_files(module):
            yield Case(file, "", file, CaseOutcome.ERROR, "", text[:MESSAGE_LIMIT])


def kind(text: str, project: Project) -> FailureKind:
    """Return the reason why sources were not compiled: the worst kind of their errors."""
    sources = JavaSources(project)
    said = re.split(r"^\S+\.\w+:\d+: ", text, flags=re.MULTILINE)[1:]
    return worst({_kind(error, sources) for error in said})


def _kind(error: str, sources: JavaSources) -> FailureKind:
    first = error.partition("\n")[0]
    if package := _PACKAGE.match(error):
        is_own = sources.has_package(package[1]) or sources.has_class(package[1])
        standard = package[1].startswith(("java.", "javax."))
        foreign = FailureKind.COLLECTION if standard else FailureKind.THIRD_PARTY_IMPORT
        return FailureKind.FIRST_PARTY_IMPORT if is_own else foreign
    if first.startswith("cannot find symbol"):
        return _of_symbol(error, sources)
    if first.startswith(("Unresolved reference", "unresolved reference")):
        return FailureKind.FIRST_PARTY_IMPORT
    if shape := _SHAPE.match(first):
        names = [name for name in shape.groups() if name] + _CANDIDATE.findall(error)
        return _verdict(any(sources.has_class(name.replace("$", ".")) for name in names))
    return FailureKind.SYNTAX if _SYNTAX.match(first) else FailureKind.COLLECTION


def _of_symbol(error: str, sources: JavaSources) -> FailureKind:
    symbol, location = _SYMBOL.search(error), _LOCATION.search(error)
    if package := _IN_PACKAGE.search(error):
        return _verdict(sources.has_package(package[1]))
    if location is not None and not sources.has_class(location[1]):
        return FailureKind.COLLECTION
    return _verdict(symbol is None or not _STANDARD.fullmatch(symbol[2]))


def _verdict(is_own: bool) -> FailureKind:
    return FailureKind.FIRST_PARTY_IMPORT if is_own else FailureKind.COLLECTION
