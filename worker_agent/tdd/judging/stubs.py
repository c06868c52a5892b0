"""Stand-ins for what Python tests import and what does not exist yet: what passes with them asserts nothing (pure)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from worker_agent.tdd.judging.first_party import SOURCE_DIRECTORIES
from worker_agent.tdd.judging.python_source import bound, parse

_STUB = '''

class _Stub:
    """Does whatever is asked of it, and is nothing that could be compared."""

    def __init__(self, *_args, **_kwargs): pass
    def __call__(self, *_args, **_kwargs): return _Stub()
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return _Stub()
    def __await__(self):
        return _Stub()
        yield
    def __enter__(self): return _Stub()
    def __exit__(self, *_error): return False
    async def __aenter__(self): return _Stub()
    async def __aexit__(self, *_error): return False
    def _nothing(self, *_args): raise NotImplementedError("this is a stand-in")
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = __contains__ = _nothing
    __getitem__ = __add__ = __radd__ = __sub__ = __mul__ = __int__ = __float__ = __str__ = _nothing
    __hash__ = object.__hash__
    __repr__ = object.__repr__


def __getattr__(name):
    if name.startswith("__"): raise AttributeError(name)
    return _Stub()
'''

_MODULE = _STUB.encode()


def imported(test_files: Mapping[str, bytes]) -> dict[str, frozenset[str]]:
    """Module -> the names that tests take from it, wherever in their files they import it."""
    found: dict[str, set[str]] = {}
    for path, content in test_files.items():
        source = parse(content) if path.endswith(".py") else None
        for module, names in _imports(source.tree) if source else ():
            found.setdefault(module, set()).update(names)
    return {module: frozenset(names) for module, names in found.items()}


def stand_ins(
    modules: Mapping[str, Collection[str]], own: Collection[str], files: Mapping[str, bytes], paths: Collection[str]
) -> dict[str, bytes]:
    """The files to lay over the base, so that every first-party module and name in `modules` exists.

    `own` are the repository's top-level names, `files` the content of `locate(modules, paths)`,
    `paths` all files of the base. Empty when nothing is missing.
    """
    laid: dict[str, bytes] = {}
    for module, names in sorted(modules.items()):
        if module.partition(".")[0] not in own:
            continue
        where = locate(module, paths)
        if where is None:
            laid |= dict.fromkeys(_fresh(module, paths), _MODULE)
        elif any(_is_missing(module, name, files.get(where, b""), paths) for name in names):
            laid[where] = files.get(where, b"") + _MODULE
    return laid


def locate(module: str, paths: Collection[str]) -> str | None:
    """The file of a module below one of the usual roots."""
    place = module.replace(".", "/")
    known = set(paths)
    options = (f"{root}{place}{end}" for root in _roots() for end in ("/__init__.py", ".py"))
    return next((option for option in options if option in known), None)


def _roots() -> tuple[str, ...]:
    return ("", *(f"{name}/" for name in SOURCE_DIRECTORIES))


def _fresh(module: str, paths: Collection[str]) -> Iterator[str]:
    """The files that make a module importable which is not there: it, and packages above it."""
    parts = module.split(".")
    top = parts[0]
    homes = [root for root in _roots() if any(path.startswith(f"{root}{top}/") for path in paths)]
    source = [f"{name}/" for name in SOURCE_DIRECTORIES if any(path.startswith(f"{name}/") for path in paths)]
    root = next(iter([*homes, *source]), "")
    for depth in range(1, len(parts)):
        above = f"{root}{'/'.join(parts[:depth])}"
        if not any(path.startswith(f"{above}/") for path in paths):
            yield f"{above}/__init__.py"
    yield f"{root}{'/'.join(parts)}.py"


def _is_missing(module: str, name: str, content: bytes, paths: Collection[str]) -> bool:
    source = parse(content)
    known = {found for node in source.tree.body for found in bound(node)} if source else set()
    open_ended = source is None or "*" in known or "__getattr__" in known
    return not open_ended and name not in known and locate(f"{module}.{name}", paths) is None


def _imports(tree: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    """Each import, with the attributes that are taken from a module which is imported as a whole."""
    attributes: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            attributes.setdefault(ast.unparse(node.value), set()).add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, frozenset(alias.name for alias in node.names) - {"*"}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, frozenset(attributes.get(alias.asname or alias.name, ()))
