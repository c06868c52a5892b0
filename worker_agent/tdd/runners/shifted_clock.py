"""A run with a later time: by libfaketime if the machine has it, else by start-up code in Python and Node.

Code that depends on the clock (a trial period, a date that passes) shows by another result.
"""

from __future__ import annotations

import os
from pathlib import Path

from worker_agent.tdd.setup.installed import Installed

LIBRARIES = tuple(
    Path(directory, "faketime", "libfaketimeMT.so.1")
    for directory in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
)
"""The paths at which distributions install libfaketime."""

_PYTHON = """\
import datetime, time
_ahead, _time, _time_ns = {seconds}, time.time, time.time_ns
_localtime, _gmtime, _real = time.localtime, time.gmtime, datetime.datetime
time.time = lambda: _time() + _ahead
time.time_ns = lambda: _time_ns() + _ahead * 10**9
time.localtime = lambda seconds=None: _localtime(time.time() if seconds is None else seconds)
time.gmtime = lambda seconds=None: _gmtime(time.time() if seconds is None else seconds)


class _Like(type(_real)):
    def __instancecheck__(cls, other):
        return isinstance(other, cls.__bases__[0])

    def __subclasscheck__(cls, other):
        return issubclass(other, cls.__bases__[0])


class _Moment(_real, metaclass=_Like):
    @classmethod
    def now(cls, tz=None):
        return _real.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return _real.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

    today = now


class _Day(datetime.date, metaclass=_Like):
    @classmethod
    def today(cls):
        return _real.fromtimestamp(time.time()).date()


_Moment.__name__ = _Moment.__qualname__ = "datetime"
_Day.__name__ = _Day.__qualname__ = "date"
_Moment.__module__ = _Day.__module__ = "datetime"
datetime.datetime, datetime.date = _Moment, _Day
"""

_NODE = """\
const ahead = {seconds} * 1000, Real = Date, now = Date.now;
class Later extends Real {{
  constructor(...given) {{ given.length ? super(...given) : super(now() + ahead); }}
  static now() {{ return now() + ahead; }}
}}
Object.defineProperty(Later, 'name', {{ value: 'Date' }});
globalThis.Date = Later;
"""


def library() -> Path | None:
    """Return libfaketime of this machine, if it has one."""
    return next((path for path in LIBRARIES if path.is_file()), None)


def laid(installed: Installed, room: Path, checkout: Path, seconds: int) -> Installed:
    """Return `installed` for a run in `checkout` with a clock that is ahead; its files are written to `room`."""
    found = library()
    if found is not None:
        return installed.with_variables(
            {"LD_PRELOAD": str(found), "FAKETIME": f"+{seconds}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        )
    start = room / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(_PYTHON.format(seconds=seconds))
    (start / "start.cjs").write_text(_NODE.format(seconds=seconds))
    search = installed.environment({}, checkout).get("PYTHONPATH")
    return installed.with_variables(
        {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(start), search))),
            "NODE_OPTIONS": f"--require {_quoted(start / 'start.cjs')}",
        }
    )


def _quoted(path: Path) -> str:
    """Return the path as one word of NODE_OPTIONS, in which a blank ends a word and nothing but `"` quotes it."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
