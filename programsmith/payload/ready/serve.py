"""Starts a verifier once and forks it for each grading run. Argument: the verifier's program, a zip file.

In: one JSON object a line on standard input: `words` of the verifier's command line, `scratch` (its work folder and
TMPDIR), `said` (the file for what it says). Out: two lines for each: the process id of the run, its exit code. A run is
the leader of its process group, which ends with it. The end of the input ends this process. Nothing that a run does to
its own process is there for the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

Verify = Callable[[Sequence[str]], int]


def main(program: str) -> None:
    """Serve until the input ends."""
    sys.path.insert(0, program)
    from programsmith.payload.verifier.__main__ import main as verify
    from programsmith.payload.verifier.__main__ import warm

    warm()
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            _become(json.loads(line), verify)
        os.write(1, b"%d\n" % child)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # what keeps its number until its group is gone
        _end_group(child)
        _, status = os.waitpid(child, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:  # it ended before it led a group
        return


def _become(request: dict[str, Any], verify: Verify) -> NoReturn:
    """Be one grading run, and end with its exit code."""
    code: Any = 1
    try:
        _enter(request["scratch"], request["said"])
        code = verify(request["words"])
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - whatever it is, it must not become the server's
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):  # a full disk; the exit code tells
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def _enter(scratch: str, said: str) -> None:
    os.setpgid(0, 0)
    os.chdir(scratch)
    os.environ["TMPDIR"] = scratch  # noqa: TID251 - this process is the verifier's
    out = os.open(said, os.O_WRONLY | os.O_APPEND)
    for number, fd in enumerate((os.open(os.devnull, os.O_RDONLY), out, out)):
        os.dup2(fd, number)


if __name__ == "__main__":
    main(sys.argv[1])
