"""Lines of `/proc` about mounts and about memory without a name, read as plain text."""

from __future__ import annotations

import os

from shared.sandbox.hidden_usage import Held, Mapping, Mount, held, mappings, mounts

MOUNTINFO = """\
24 1 0:22 / /proc rw,nosuid - proc proc rw
25 24 0:99 / /a\\040b rw shared:3 master:1 - tmpfs x rw,size=4k
cut short
"""

MAPS = """\
7f00-8f00 rw-s 00001000 00:01 77 /memfd:a name (deleted)
8f00-9f00 rw-p 00000000 00:01 78 /memfd:copied (deleted)
9f00-af00 rw-p 00000000 fe:00 79 /home/x/f (deleted)
af00-bf00 rw-s 00000000 00:05 0 /dev/zero (deleted)
bf00-cf00 r-xp 00000000 fe:00 80 /usr/bin/python3
cf00-df00 rw-p 00000000 00:00 0
"""


def test_mounts_are_read_with_their_spaces() -> None:
    assert list(mounts(MOUNTINFO)) == [Mount("0:22", "/proc", "proc"), Mount("0:99", "/a b", "tmpfs")]


def test_only_what_has_no_name_is_looked_at() -> None:
    assert list(mappings(MAPS)) == [
        Mapping((os.makedev(0, 1), 77), 0x2000, "7f00-8f00", memory=True),
        Mapping((os.makedev(0xFE, 0), 79), 0x1000, "9f00-af00", memory=False),
        Mapping((os.makedev(0, 5), 0), 0x1000, "af00-bf00", memory=True),
    ]


def test_a_process_that_is_gone_holds_nothing() -> None:
    assert held([2**22 + 1]) == Held()
