"""How much the suites of a source may take: CPU time, so that a busy host records what an idle one does.

Wall time is a backstop alone. A piece that meets it and has hardly used a CPU waits for what never comes: that is
counted, and few such pieces end the suites. Where it was at work, the host is too slow: infra, never a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from programsmith.errors import InfraError
from programsmith.miners.base import Skip
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Limits
from programsmith.toolchains.build import ASLEEP


@dataclass(slots=True)
class Box:
    """What is left for all suites of a source. `rule` is the recorder's; `counted` takes what was cut, by word."""

    rule: Mapping[str, Any]
    limits: Limits
    counted: Counter[str] = field(default_factory=Counter)
    spent: float = 0.0

    @property
    def left(self) -> float:
        """CPU seconds."""
        return max(0.0, float(self.rule["cpu_seconds"]) - self.spent)

    def limits_of(self, cpu_seconds: float | None) -> Limits:
        """Limits of the next command, a piece's where it has no time of its own. Raises Skip `cpu_box`, `waits`."""
        if self.counted["waits"] >= self.rule["waits"]:
            raise Skip("waits")
        seconds = min(self.left, cpu_seconds or self.rule["piece_cpu_seconds"])
        if seconds < 1:
            raise Skip("cpu_box")
        return replace(self.limits, cpu_seconds=seconds)

    def take(self, result: Result) -> None:
        """Count what a command took. Raises InfraError where only the host was too slow for it."""
        self.spent += result.cpu_seconds
        if "cpu" in result.limits_hit:
            self.counted["piece_cpu"] += 1
        elif "wall" in result.limits_hit:
            if result.cpu_seconds > ASLEEP * result.wall_seconds:
                raise InfraError(
                    f"recorder: a piece of the suite had {result.cpu_seconds:.0f} s of CPU time in "
                    f"{result.wall_seconds:.0f} s, so the host is too busy; run again when it is less so"
                )
            self.counted["waits"] += 1
