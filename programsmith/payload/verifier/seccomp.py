"""The system call filter of a launch, assembled from a table; no library is needed.

In: the machine's architecture. Out: classic BPF bytes that the init installs. Allowed unless listed: the list closes
what reaches past the namespaces (vsock, netlink, io_uring, keyrings, SysV and POSIX queues, inotify on shared files),
what inspects others (ptrace and kin), what makes namespaces, mounts or files that no mount forbids to execute. Foreign
calling conventions are killed. A program that is to run as a script makes no memory that can be executed.
"""

from __future__ import annotations

import errno
import os
import struct
from functools import cache

# name: (x86_64, aarch64); None where the architecture has no such call
DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
}

# Calls that say "no such call": programs then take another way, as on a kernel that lacks them.
ABSENT: dict[str, tuple[int | None, int | None]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "memfd_create": (319, 279),  # a file that can be executed and lies on no mount
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    "nfsservctl": (180, 42),
    "ustat": (136, None),
    "sysfs": (139, None),
}

# Calls that tell the time of day, what files say of it, and waits until a time of day: a tracer answers them.
_TELLS = {"time": (201, None), "gettimeofday": (96, 169)}
_SHOWS = {"stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291)}
_ASKS = {"clock_gettime": (228, 113), "futex": (202, 98), "clock_nanosleep": (230, 115)}
_DAY_CLOCKS = (0, 5, 11)  # CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI
_FUTEX_DAY, _ABSOLUTE = 256, 1

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_FILTERED = {"socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "ioctl": (16, 29)}
_CODE_MAKING = {"mmap": (9, 222), "mprotect": (10, 226), "pkey_mprotect": (329, 288), "personality": (135, 92)}
FAMILIES = (1, 2, 10)  # of a sandbox that holds an agent: unix, IPv4, IPv6
CASE_FAMILIES: tuple[int, ...] = ()  # a case talks to nobody, not even to itself over a loopback that others share
_PAIRS = (1,)  # of socketpair: unix, connected to itself
_NEW_NAMESPACE = 0x7E020000  # every CLONE_NEW* flag that clone takes
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_X32 = 0x40000000
_PROT_WRITE, _PROT_EXEC = 2, 4
_READ_IMPLIES_EXEC, _WHICH = 0x400000, 0xFFFFFFFF  # of personality; the second one only asks

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO, _TRACE = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FF00000
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = (
    0,
    4,
    16,
    24,
    32,
)  # offsets of struct seccomp_data; low words of arguments

_CALLS = 512  # no kernel has more; how far the last interval counts
_Step = tuple[int, int, int, int]
_Code = list[_Step]
_Answer = tuple[_Step, ...]  # code that ends in a return
_ALLOWED: _Answer = ((_RETURN, 0, 0, _ALLOW),)


def _refusal(error: int) -> _Answer:
    return ((_RETURN, 0, 0, _ERRNO | error),)


def _families(allowed: tuple[int, ...]) -> _Answer:
    tests = [step for family in allowed for step in ((_EQUAL, 0, 1, family), *_ALLOWED)]
    return ((_LOAD, 0, 0, _FIRST), *tests, *_refusal(errno.EAFNOSUPPORT))


def _unless(offset: int, tests: _Code) -> _Answer:
    """Refuse where an argument passes one of `tests`, else allow."""
    body = [step for test in tests for step in (test, *_refusal(errno.EPERM))]
    return ((_LOAD, 0, 0, offset), *body, *_ALLOWED)


def _unless_both(offset: int, one: _Step, other: _Step) -> _Answer:
    """Refuse where an argument passes both tests, else allow. A test goes on with the next step where it is passed."""
    refuse = _refusal(errno.EPERM)
    skip = len(refuse)
    tests = ((one[0], 0, skip + 1, one[3]), (other[0], 0, skip, other[3]))
    return ((_LOAD, 0, 0, offset), *tests, *refuse, *_ALLOWED)


def _makes_no_code(column: int) -> dict[int, _Answer]:
    """Memory is executed where a file that may be executed was mapped, and what is mapped so is never written."""
    writes, runs = (_ANY_BIT, 0, 1, _PROT_WRITE), (_ANY_BIT, 0, 1, _PROT_EXEC)
    answers = {
        "mmap": _unless_both(_THIRD, writes, runs),
        "mprotect": _unless(_THIRD, [runs]),
        "pkey_mprotect": _unless(_THIRD, [runs]),
        "personality": (
            (_LOAD, 0, 0, _FIRST),
            (_EQUAL, 0, 1, _WHICH),
            *_ALLOWED,
            *_unless(_FIRST, [(_ANY_BIT, 0, 1, _READ_IMPLIES_EXEC)])[1:],
        ),
    }
    return {_CODE_MAKING[name][column]: answer for name, answer in answers.items()}


def _traced(column: int) -> dict[int, _Answer]:
    """Whatever has to do with the time of day goes to the tracer, everything else past it."""
    trace: _Answer = ((_RETURN, 0, 0, _TRACE),)
    day = [step for clock in _DAY_CLOCKS for step in ((_EQUAL, 0, 1, clock), *trace)]
    found = {n[column] or 0: trace for n in (_TELLS | _SHOWS).values() if n[column] is not None}
    return found | {
        _ASKS["clock_gettime"][column]: ((_LOAD, 0, 0, _FIRST), *day, *_ALLOWED),
        _ASKS["futex"][column]: ((_LOAD, 0, 0, _SECOND), (_ANY_BIT, 0, 1, _FUTEX_DAY), *trace, *_ALLOWED),
        _ASKS["clock_nanosleep"][column]: (
            (_LOAD, 0, 0, _FIRST),
            (_EQUAL, 0, 3, _DAY_CLOCKS[0]),
            (_LOAD, 0, 0, _SECOND),
            (_ANY_BIT, 0, 1, _ABSOLUTE),
            *trace,
            *_ALLOWED,
        ),
    }


def _answers(column: int, families: tuple[int, ...]) -> dict[int, _Answer]:
    """Call number to the code that answers it."""
    found: dict[int, _Answer] = {}
    for table, error in ((DENIED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        found |= {n[column] or 0: _refusal(error) for n in table.values() if n[column] is not None}
    found[_FILTERED["socket"][column]] = _families(families)
    found[_FILTERED["socketpair"][column]] = _families(_PAIRS)
    found[_FILTERED["clone"][column]] = _unless(_FIRST, [(_ANY_BIT, 0, 1, _NEW_NAMESPACE)])
    found[_FILTERED["ioctl"][column]] = _unless(_SECOND, [(_EQUAL, 0, 1, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX)])
    return found


def _intervals(answers: dict[int, _Answer]) -> list[tuple[int, _Answer]]:
    """Where each answer begins to hold, over all call numbers."""
    edges = sorted({0, *answers, *(number + 1 for number in answers)})
    all_of_them = [(edge, answers.get(edge, _ALLOWED)) for edge in edges]
    return [one for at, one in enumerate(all_of_them) if at == 0 or one[1] != all_of_them[at - 1][1]]


def _search(intervals: list[tuple[int, _Answer]], end: int) -> list[tuple[int, _Answer | None, _Answer | None]]:
    """Steps of a binary search as (number, answer from it on, answer below it); None: the steps that follow.

    Balanced by how many numbers an interval has: whenever a filter is installed, the kernel asks it for each of them.
    Steps below come first, so a step knows that its upper part begins behind them.
    """
    starts = [start for start, _ in intervals]
    middle = min(range(1, len(starts)), key=lambda at: abs(starts[0] + end - 2 * starts[at]))
    below, above = intervals[:middle], intervals[middle:]
    first = below[0][1] if len(below) == 1 else None
    second = above[0][1] if len(above) == 1 else None
    return [
        (starts[middle], second, first),
        *([] if first else _search(below, starts[middle])),
        *([] if second else _search(above, end)),
    ]


def _linked(steps: list[tuple[int, _Answer | None, _Answer | None]]) -> _Code:
    """The search with its jumps: inner steps to inner steps, the others to one copy of each answer at the end."""
    places: dict[_Answer, int] = {}
    tail: list[tuple[int, int, int, int]] = []
    for _, *leaves in steps:
        for leaf in leaves:
            if leaf and leaf not in places:
                places[leaf] = len(steps) + len(tail)
                tail += leaf
    code = []
    for at, (number, above, below) in enumerate(steps):
        behind = at + 1 + (0 if below else _size(steps, at + 1))
        yes = places[above] if above else behind
        no = places[below] if below else at + 1
        code.append((_AT_LEAST, yes - at - 1, no - at - 1, number))
    return [*code, *tail]


def _size(steps: list[tuple[int, _Answer | None, _Answer | None]], at: int) -> int:
    """How many steps the part of the search has that begins at `at`."""
    open_ends, size = 1, 0
    while open_ends:
        open_ends += sum(leaf is None for leaf in steps[at + size][1:]) - 1
        size += 1
    return size


@cache
def assemble(
    machine: str | None = None,
    families: tuple[int, ...] = FAMILIES,
    *,
    makes_code: bool = True,
    traced: bool = False,
) -> bytes:
    """Filter bytes for `machine` (default: this one) that let sockets of `families` be made (default: a sandbox's).

    Unless it `makes_code`, what is filtered gets no memory that it wrote and can execute. `traced` hands calls about
    the time of day to a tracer, without which they fail.
    Raises ValueError for an architecture without a table.
    """
    name = machine or os.uname().machine
    if name not in _ARCHITECTURES:
        raise ValueError(f"no system call table for {name}: wanted one of {sorted(_ARCHITECTURES)}")
    column, audit = _ARCHITECTURES[name]
    code: _Code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if column == 0:
        code += [(_AT_LEAST, 0, 1, _X32), *_refusal(errno.ENOSYS)]
    answers = _answers(column, families) | ({} if makes_code else _makes_no_code(column))
    answers |= _traced(column) if traced else {}
    code += _linked(_search(_intervals(answers), _CALLS))
    return b"".join(struct.pack("<HBBI", *step) for step in code)


def filters() -> tuple[bytes, bytes, bytes]:
    """That of a case, that of a case whose program is a script, that of a sandbox."""
    return assemble(families=CASE_FAMILIES), assemble(families=CASE_FAMILIES, makes_code=False), assemble()
