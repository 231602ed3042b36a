"""The Python twin of watch.h: the agent under watch by seccomp notification."""

from __future__ import annotations

import collections
import ctypes
import errno
import fcntl
import os
import socket
import struct

from programsmith.payload.bridge.common import libc

TYPE_CHECKING = False  # importing typing costs a tenth of a start
if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = {  # socket, execve, execveat, seccomp, tgkill
    "x86_64": (41, 59, 322, 317, 234),
    "aarch64": (198, 221, 281, 277, 131),
}
SOCKET, EXECVE, EXECVEAT, SECCOMP, TGKILL = _NUMBERS[os.uname().machine]
_NOTICE = struct.Struct("<QIIiIQ6Q")  # id, thread, flags, call, architecture, place, arguments
_ANSWER = struct.Struct("<QqiI")  # id, value, error, flags
_GIFT = struct.Struct("<QIIII")  # id, flags, ours, theirs, flags of theirs
_NEXT, _TELL, _GIVE = 0xC0502100, 0xC0182101, 0x40182103  # ioctls; the size of each is in it
_CONTINUE, _SEND = 1, 2
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_STOP, _PASS = 0x7FC00000, 0x7FFF0000
_CALL, _FIRST = 0, 16  # offsets of struct seccomp_data
_GIVEN = 1024
ESTABLISHED = 1


def watch() -> int:
    """Put this process and all that come after it under watch; where stopped calls are told. Raises OSError."""
    code = b"".join(
        struct.pack("<HBBI", *step)
        for step in (
            (_LOAD, 0, 0, _CALL), (_EQUAL, 5, 0, EXECVE), (_EQUAL, 4, 0, EXECVEAT), (_EQUAL, 0, 4, SOCKET),
            (_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, socket.AF_INET), (_EQUAL, 0, 1, socket.AF_INET6),
            (_RETURN, 0, 0, _STOP), (_RETURN, 0, 0, _PASS),
        )
    )  # fmt: skip
    room = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(room))
    made = -1
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        made = libc.syscall(ctypes.c_long(SECCOMP), ctypes.c_long(1), ctypes.c_long(flags), program)
        if made >= 0 or ctypes.get_errno() != errno.EINVAL:
            break
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(made)


class Watch:
    """What the relay knows of the agent: `started` 1 while it runs its program, 2 once it has executed another.

    `told` is called for each internet socket that is refused.
    """

    def __init__(self, agent: int, watched: int) -> None:
        self.watched = watched
        self.agent = agent
        self.told: Callable[[], None] = lambda: None
        self._started = 0
        self._given: collections.deque[int] = collections.deque(maxlen=_GIVEN)

    def judge(self) -> None:
        """Answer one stopped call."""
        room = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self.watched, _NEXT, room)
        except OSError:
            return  # whoever asked is gone
        number, thread, _, call, _, _, *words = _NOTICE.unpack(room)
        own = libc.syscall(ctypes.c_long(TGKILL), self.agent, thread, 0) == 0
        if call != SOCKET:
            self._started += own and self._started < 2  # noqa: PLR2004 - see the class
            self._answer(number, 0)
        elif own and self._started == 1:
            self._give(number, words)
        else:
            self.told()
            self._answer(number, errno.EACCES)

    def _answer(self, number: int, error: int) -> None:
        try:
            fcntl.ioctl(self.watched, _TELL, _ANSWER.pack(number, 0, -error, 0 if error else _CONTINUE))
        except OSError:
            return

    def _give(self, number: int, words: list[int]) -> None:
        """Make the socket that the agent asks for, and give it away."""
        family, kind, protocol = (ctypes.c_int(word & 0xFFFFFFFF).value for word in words[:3])
        try:
            made = socket.socket(family, kind, protocol)
        except OSError as error:
            self._answer(number, error.errno or errno.EACCES)
            return
        with made:
            os.set_blocking(made.fileno(), not kind & socket.SOCK_NONBLOCK)
            self._given.append(os.fstat(made.fileno()).st_ino)
            try:
                fcntl.ioctl(self.watched, _GIVE, _GIFT.pack(number, _SEND, made.fileno(), 0, os.O_CLOEXEC))
            except OSError as error:
                if error.errno == errno.EINVAL:
                    raise

    def was_given(self, number: int) -> bool:
        """Whether it is the number of a socket of the agent's."""
        return number in self._given


def socket_of(port: int, own: int) -> int:
    """The number of the socket that is connected from `port` to the port `own`; 0 where there is none."""
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):  # the second: of a socket that speaks both
        with open(table, encoding="ascii") as rows:
            for row in rows:
                words = row.split()
                if words[0] == "sl" or int(words[3], 16) != ESTABLISHED:
                    continue
                if (int(words[1].rpartition(":")[2], 16), int(words[2].rpartition(":")[2], 16)) == (port, own):
                    return int(words[9])
    return 0
