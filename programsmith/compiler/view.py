"""How a build shows itself on stderr: a live table on a terminal, plain lines elsewhere.

In: events, one after the other; ticks. Out: `tally  ingest  pass  0.4 s  reason  [why it ran]`, the same lines in both;
on a terminal below them what runs now.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, TextIO

from programsmith.compiler.events import Event, Kind, line_of


class View(Protocol):
    """Shows events."""

    def show(self, event: Event) -> None:
        """Show one event."""

    def tick(self) -> None:
        """Show how time goes by."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Plain:
    """One line per event that has one."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out

    def show(self, event: Event) -> None:
        """See View."""
        line = line_of(event)
        if line:
            print(line, file=self._out or sys.stderr, flush=True)

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""


class Live:
    """The same lines, and below them a table of the tasks that run. It starts no thread: children are forked."""

    def __init__(self, console: Any) -> None:
        from rich.live import Live as Region

        self._console = console
        self._runs: dict[tuple[str, str], float] = {}
        self._done: dict[str, int] = {}
        self._region = Region(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._region.start()

    def show(self, event: Event) -> None:
        """See View."""
        place = (event.spec, event.task)
        match event.kind:
            case Kind.BEGUN:
                self._runs[place] = time.monotonic()
            case Kind.ANSWERED | Kind.FAILED:
                self._runs.pop(place, None)
                self._done[event.spec] = self._done.get(event.spec, 0) + 1
            case Kind.ENDED:
                self._runs = {known: since for known, since in self._runs.items() if known[0] != event.spec}
            case Kind.SAID:
                pass
        line = line_of(event)
        if line:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self.tick()

    def tick(self) -> None:
        """See View."""
        from rich.table import Table

        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        now = time.monotonic()
        for (spec, task), since in list(self._runs.items()):
            table.add_row(spec, task, f"{now - since:.0f} s", f"{self._done.get(spec, 0)} done", style="dim")
        self._region.update(table, refresh=True)

    def close(self) -> None:
        """See View."""
        self._region.stop()


def view() -> View:
    """The view for this stderr."""
    if not sys.stderr.isatty():
        return Plain()
    from rich.console import Console

    console = Console(stderr=True)
    return Live(console) if console.is_terminal and not console.is_dumb_terminal else Plain()
