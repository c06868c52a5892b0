"""Script that runs a command without certain system calls: those for the kernel's keys, and large shared memory.

It uses the standard library alone: `python system_calls.py COMMAND ...`. A session keyring goes with
the process, through namespaces and to other accounts; the keyrings of an account go with its number. So the command
gets a new session keyring, and then the three system calls that reach keys are answered as a kernel without keyrings
answers them (ENOSYS), for it and all its children. Segments of System V are in no directory and belong to no process,
so nobody could count them: one above `LARGEST_SEGMENT` is refused as one above SHMMAX is (EINVAL).
https://man7.org/linux/man-pages/man7/keyrings.7.html, https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

RESTRICTED = (sys.executable, "-I", "-S", __file__)
"""Prefix of a command that is to be restricted so."""

_JOIN_SESSION_KEYRING = 1
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2

LARGEST_SEGMENT = 2**16
"""Bytes of one segment of shared memory of System V; PostgreSQL, for one, takes 56."""

SEGMENTS = 4096
"""Segments that the kernel allows in one namespace (SHMMNI)."""


class _Calls(NamedTuple):
    """One system call ABI: AUDIT_ARCH_* of linux/audit.h, and the numbers of the filtered calls.

    `keys` are add_key, request_key and keyctl; `shmget` may also be made through `ipc`, which is 0 if there is none.
    """

    architecture: int
    keys: tuple[int, int, int]
    shmget: int
    ipc: int = 0


_X86_64 = _Calls(0xC000003E, (248, 249, 250), 29)
_I386 = _Calls(0x40000003, (286, 287, 288), 395, 117)
_AARCH64 = _Calls(0xC00000B7, (217, 218, 219), 194)
_ARM = _Calls(0x40000028, (309, 310, 311), 307, 117)

_CALLS = {
    "x86_64": (_X86_64, _I386),
    "i686": (_I386,),
    "aarch64": (_AARCH64, _ARM),
    "armv7l": (_ARM,),
    "riscv64": (_Calls(0xC00000F3, (217, 218, 219), 194),),
    "ppc64le": (_Calls(0xC0000015, (269, 270, 271), 395, 117),),
    "s390x": (_Calls(0x80000016, (278, 279, 280), 395, 117),),
}
"""Machine -> its system call ABIs, the native one first."""

_X32 = 0x40000000
"""The bit of the calls of x32 programs, which share a number and an architecture with x86_64."""

_LOAD, _AND, _EQUAL, _GREATER, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _VALUES_AT = 0, 4, 16
_SHMGET_OF_IPC = 23


def join_keyring() -> bool:
    """Join a new, empty session keyring, for this process and its children; return False if that is refused.

    A kernel or container without keyctl(2) refuses it, and then children have no way to a keyring either.
    """
    calls = _CALLS.get(platform.machine())
    if sys.platform != "linux" or calls is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(ctypes.c_long(calls[0].keys[2]), ctypes.c_long(_JOIN_SESSION_KEYRING), None)) >= 0


def restrict() -> bool:
    """Restrict this process and its children for good; return False if the kernel has no seccomp filters."""
    join_keyring()
    calls = _CALLS.get(platform.machine())
    if sys.platform != "linux" or calls is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    steps = b"".join(_filter(calls))
    kept = ctypes.create_string_buffer(steps, len(steps))
    program = struct.pack("HP", len(steps) // 8, ctypes.addressof(kept))
    for option, *values in ((_PR_SET_NO_NEW_PRIVS, 1), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program)):
        if libc.prctl(option, *(ctypes.c_ulong(v) if isinstance(v, int) else v for v in (*values, 0, 0, 0)[:4])) != 0:
            return False
    return True


def _filter(calls: tuple[_Calls, ...]) -> Iterator[bytes]:
    """Yield the instructions of a classic BPF program; jumps give the numbers to skip if equal and if not."""
    for one in calls:
        keys, segments = list(_of_keys(one)), list(_of_segments(one))
        block = [_step(_LOAD, _NUMBER_AT), _step(_AND, ~_X32 & 0xFFFFFFFF), *keys, *segments, _step(_RETURN, _ALLOW)]
        yield _step(_LOAD, _ARCHITECTURE_AT)
        yield _step(_EQUAL, one.architecture, unequal=len(block))
        yield from block
    yield _step(_RETURN, _ALLOW)


def _of_keys(calls: _Calls) -> Iterator[bytes]:
    for number in calls.keys:
        yield _step(_EQUAL, number, unequal=1)
        yield _step(_RETURN, _ERROR | errno.ENOSYS)


def _of_segments(calls: _Calls) -> Iterator[bytes]:
    """Yield the check of shmget's size: its second argument, or the third of `ipc`, whose first selects the call."""
    direct = list(_size_check(1))
    yield _step(_EQUAL, calls.shmget, unequal=len(direct))
    yield from direct
    if calls.ipc:
        which = (_step(_LOAD, _value(0)), _step(_AND, 0xFFFF), _step(_EQUAL, _SHMGET_OF_IPC, equal=1))
        through = [*which, _step(_RETURN, _ALLOW), *_size_check(2)]
        yield _step(_EQUAL, calls.ipc, unequal=len(through))
        yield from through


def _size_check(place: int) -> Iterator[bytes]:
    """Refuse the call if its argument at `place`, of 64 bits, is too large, and allow all others."""
    yield _step(_LOAD, _value(place, upper=True))
    yield _step(_EQUAL, 0, unequal=2)
    yield _step(_LOAD, _value(place))
    yield _step(_GREATER, LARGEST_SEGMENT, unequal=1)
    yield _step(_RETURN, _ERROR | errno.EINVAL)
    yield _step(_RETURN, _ALLOW)


def _value(place: int, *, upper: bool = False) -> int:
    """Return the offset of one half of a call's argument in the filter's data."""
    return _VALUES_AT + 8 * place + 4 * (upper == (sys.byteorder == "little"))


def _step(code: int, value: int, *, equal: int = 0, unequal: int = 0) -> bytes:
    return struct.pack("HBBI", code, equal, unequal, value)


def main(command: list[str]) -> int:
    """Restrict this process, and become the command; return an exit code only if the command cannot be run."""
    restrict()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 126 if isinstance(error, PermissionError) else 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
