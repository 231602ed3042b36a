"""Landlock: what the program may execute, and where nothing else holds it, read and write. The twin of fence.h."""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from programsmith.payload.init import calls
from programsmith.payload.init.calls import call, system
from programsmith.payload.init.request import Request

EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 2, 4, 8
REFER, TRUNCATE, CONTROL_DEVICE = 1 << 13, 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | CONTROL_DEVICE
READ = READ_FILE | READ_FOLDER
FIRST_RIGHTS = 0x1FFF
LATER_RIGHTS = ((2, REFER), (3, TRUNCATE), (5, CONTROL_DEVICE))
"""Version of Landlock and the right that came with it."""


def fence_files(r: Request) -> None:
    """Put the rules on this process. Without FENCE_FILES a kernel that lacks Landlock leaves it to the view.

    Moving between folders is refused by any rules that do not allow it.
    """
    version = system(calls.CREATE_RULESET, None, 0, 1)
    if version < 0 and not r.has(calls.FENCE_FILES) and ctypes.get_errno() in {38, 95}:  # ENOSYS, EOPNOTSUPP
        return
    call("Landlock", version)
    handled = FIRST_RIGHTS | sum(right for since, right in LATER_RIGHTS if version >= since)
    handled &= -1 if r.has(calls.FENCE_FILES) else EXECUTE | REFER
    rules = call("Landlock", system(calls.CREATE_RULESET, struct.pack("<Q", handled), 8, 0))
    if not r.has(calls.FENCE_FILES):
        add_rule(rules, handled, calls.MAY_WRITE, b"/")
    for rights, path in r.paths:
        add_rule(rules, handled, rights, path)
    call("Landlock", system(calls.RESTRICT_SELF, rules, 0))


def add_rule(rules: int, handled: int, rights: int, path: bytes) -> None:
    """Allow something below a path; what does not exist allows nothing."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    allowed = EXECUTE if rights & calls.MAY_EXECUTE else 0
    allowed |= READ if rights & calls.MAY_READ else 0
    allowed |= ~(EXECUTE | READ) if rights & calls.MAY_WRITE else 0
    allowed &= handled if stat.S_ISDIR(os.fstat(fd).st_mode) else handled & FILE_RIGHTS
    if allowed:
        call("Landlock rule", system(calls.ADD_RULE, rules, 1, struct.pack("<Qi", allowed, fd), 0))
    os.close(fd)
