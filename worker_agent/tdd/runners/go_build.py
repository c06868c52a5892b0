"""What the Go compiler says of a package that it cannot build: whose names are missing (pure but for sources)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from worker_agent.tdd.runners import project_text
from worker_agent.tdd.runners.go_packages import Packages, imports, package_name
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import Kind

_LINE = re.compile(r"(?P<file>[^\s:]+\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<said>.*)$")
_NO_PLACE = re.compile(r"(?:package .* is not in |no required module provides |cannot find )")

_SYNTAX = re.compile(
    r"expected .*found|syntax error|expected |illegal character|.* not terminated|newline in |missing ['\"`,]"
)
_NO_PACKAGE = re.compile(
    r".*?(?:no required module provides package|cannot find package|cannot find module providing package"
    r"|does not contain package|cannot load)\s+\"?([^\s\";:]+)|package ([^\s:]+) is not in "
)
_NAMES = (
    re.compile(r"undefined: (?P<name>[\w.]+)"),
    re.compile(r".+ undefined \(type (?P<type>.+?) has no (?:field or )?method"),
    re.compile(r"unknown field '?\w+'? in struct literal(?: of type (?P<type>\S+))?"),
    re.compile(r"(?:not enough|too many) arguments in call to (?P<name>[\w.]+)"),
    re.compile(r"assignment mismatch: .* but (?P<name>[\w.]+)(?:\(.*\))? returns"),
    re.compile(r"cannot use .* as .* value in argument to (?P<name>[\w.]+)(?!.*does not implement)"),
    re.compile(r"(?:cannot use|impossible type assertion).*[:(] ?(?P<type>[^\s:]+) does not implement"),
    re.compile(r"name \w+ not (?:exported|declared) by package (?P<package>\w+)"),
    re.compile(r"cannot refer to unexported (?:name )?(?P<name>[\w.]+)"),
    re.compile(r"cannot use (?P<name>\w[\w.]*)\(.*\) \((?:no )?value"),
    re.compile(r"invalid operation: (?P<name>\w[\w.]*)\(.*mismatched types"),
    re.compile(r"(?P<name>\w[\w.]*)\(.*\) \(no value\) used as value"),
)
"""What is said where a function, type, field or method is missing, or has another shape than the test wants."""

_STANDARD = re.compile(
    r"bufio|bytes|context|errors|filepath|flag|fmt|hash|http|httptest|io|ioutil|json|log|math|net|os|path|rand|reflect"
    r"|regexp|runtime|sort|strconv|strings|sync|atomic|template|testing|time|unicode|url|utf8|xml"
)
"""Packages that a test forgets to import; their names are nobody's to write."""

_BUILT_IN = re.compile(
    r"append|cap|clear|close|complex|copy|delete|imag|len|make|max|min|new|panic|print|println|real|recover|any|bool"
    r"|byte|error|rune|string|uintptr|map|chan|func|struct|interface|u?int(?:8|16|32|64)?|float(?:32|64)|complex\d+"
)


@dataclass(frozen=True, slots=True)
class _Error:
    file: str
    line: int
    said: str


def first_line(text: str) -> str:
    """The first error of the compiler, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _LINE.match(line)), lines[0] if lines else "")


def kind(text: str, project: Project) -> Kind:
    """Why a package was not built: the worst of what its lines say."""
    packages = Packages(project)
    found = {_kind(error, project, packages) for error in _errors(text)}
    order = (Kind.SYNTAX, Kind.COLLECTION, Kind.THIRD_PARTY_IMPORT, Kind.FIRST_PARTY_IMPORT)
    return next((worst for worst in order if worst in found), Kind.COLLECTION)


def _errors(text: str) -> list[_Error]:
    found = []
    for line in re.sub(r"\n\s+", " ", text).splitlines():  # indented lines go on with the error above them
        if placed := _LINE.match(line):
            if placed["said"] != "too many errors":
                found.append(_Error(placed["file"], int(placed["line"]), placed["said"]))
        elif _NO_PLACE.match(line):
            found.append(_Error("", 0, line))
    return found


def _kind(error: _Error, project: Project, packages: Packages) -> Kind:
    if missing := _NO_PACKAGE.match(error.said):
        return _of_package(missing[1] or missing[2], packages)
    if _SYNTAX.match(error.said):
        return Kind.SYNTAX
    for pattern in _NAMES:
        if named := pattern.match(error.said):
            return _Origin(error, project, packages).kind(named.groupdict())
    return Kind.COLLECTION


def _of_package(package: str, packages: Packages) -> Kind:
    if packages.is_own(package):
        return Kind.FIRST_PARTY_IMPORT
    return Kind.THIRD_PARTY_IMPORT if "." in package.partition("/")[0] else Kind.COLLECTION


class _Origin:
    """Whose a name is, at the place of an error."""

    def __init__(self, error: _Error, project: Project, packages: Packages) -> None:
        self._error = error
        self._packages = packages
        self._source = project_text.text(project, project.below(error.file))
        self._imports = imports(self._source)

    def kind(self, named: dict[str, str | None]) -> Kind:
        """A name of this repository that is missing, or else somebody's error."""
        if type_ := named.get("type"):
            return self._verdict(self._type_is_own(type_))
        if package := named.get("package"):
            return self._verdict(self._package_is_own(package))
        name = named.get("name")
        return self._verdict(self._name_is_own(name) if name else self._place_is_own())

    def _verdict(self, own: bool) -> Kind:
        return Kind.FIRST_PARTY_IMPORT if own else Kind.COLLECTION

    def _name_is_own(self, name: str) -> bool:
        qualifier, _, rest = name.partition(".")
        if not rest:
            return not _BUILT_IN.fullmatch(name) and not (_STANDARD.fullmatch(name) and f"{name}." in self._line())
        return self._package_is_own(qualifier) if qualifier in self._imports else True

    def _type_is_own(self, type_: str) -> bool:
        word = re.sub(r"^(?:variable of type )?[\[\]*&.\d]*", "", type_)
        quoted = re.match(r'"?([\w./-]+/[\w.-]+?)"?\.\w', word)
        if quoted:
            return self._packages.is_own(quoted[1])
        qualifier, _, rest = word.partition("[")[0].partition(".")
        if rest:
            return self._package_is_own(qualifier)
        return bool(re.match(r"\w", qualifier)) and not _BUILT_IN.fullmatch(re.split(r"\W", qualifier)[0])

    def _package_is_own(self, name: str) -> bool:
        if name in self._imports:
            return self._packages.is_own(self._imports[name])
        return name in self._own_names()

    def _own_names(self) -> Collection[str]:
        """The names of the checkout's packages, by their directories."""
        return {package_name(package) for package in self._packages.every()}

    def _place_is_own(self) -> bool:
        """An error that names nobody: own unless each qualifier in its line is a foreign package."""
        used = [self._imports[word] for word in re.findall(r"\b(\w+)\.\w", self._line()) if word in self._imports]
        return not used or any(map(self._packages.is_own, used))

    def _line(self) -> str:
        lines = self._source.splitlines()
        return lines[self._error.line - 1] if 0 < self._error.line <= len(lines) else ""
