"""Where every error ends: one line on stderr and an exit code, never a traceback.

In: whatever a command raises. Out: the exit code. The traceback of a bug of ours goes to a log that the line names.
"""

from __future__ import annotations

import errno
import tempfile
import traceback
from pathlib import Path
from types import TracebackType
from typing import Self

from programsmith.compiler.action import is_full
from programsmith.compiler.events import Event, Kind, Tell
from programsmith.compiler.quiet import begun
from programsmith.compiler.view import Plain
from programsmith.errors import Exit, ProgramSmithError


class Caught:
    """A context in which nothing escapes; afterwards `code` is set where something was raised.

    `logs` is the folder that takes the traceback of an internal error; where there is none, a temporary file does.
    `tell` takes the line; `about` is the spec that it is about.
    """

    def __init__(self, logs: Path | None = None, about: str = "", tell: Tell | None = None) -> None:
        self.code: Exit | None = None
        self._logs = logs
        self._about = about
        self._tell = tell or Plain().show

    def __enter__(self) -> Self:
        begun()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        match fault:
            case None:
                return True
            case ProgramSmithError():
                self._say(fault.exit, fault.kind, str(fault))
            case KeyboardInterrupt():
                self._say(Exit.INTERRUPTED, "interrupted", "run the same command again to go on")
            case OSError() if is_full(fault):
                number = errno.errorcode[fault.errno or errno.ENOSPC]
                self._say(Exit.INFRA, "infra", f"{fault.filename or 'the disk'}: {number}, disk full")
            case Exception():
                log = _write_trace(self._logs, "".join(traceback.format_exception(kind, fault, trace)))
                self._say(Exit.INFRA, "bug", f"an internal error; its traceback is in {log}")
            case _:
                return False
        return True

    def _say(self, code: Exit, word: str, message: str) -> None:
        self.code = code
        line = " ".join(message.split())
        self._tell(Event(kind=Kind.SAID, spec=self._about, text=f"{word}: {line}"))


def _write_trace(logs: Path | None, text: str) -> Path:
    if logs is not None:
        try:
            logs.mkdir(parents=True, exist_ok=True)
            path = logs / "internal.log"
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError:
            pass
        else:
            return path
    with tempfile.NamedTemporaryFile("w", prefix="programsmith.", suffix=".log", delete=False) as out:
        out.write(text)
        return Path(out.name)
