"""The mill's build by one worker, killed at its first purchase: `python buying.py WHEN ROOT WORD…`.

WHEN is `before` what was bought is kept in the store, or `after` it and its record were published, with the reservation
still open.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from programsmith.compiler.build import build
from programsmith.compiler.cached import Kept
from programsmith.store.budget import Budget

sys.path.insert(0, str(Path(__file__).parent))
from toyread import compiler  # noqa: E402

kept = Kept.publish


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def publish(place: Kept, ran: Any) -> None:
    """Keep what costs nothing."""
    (die if place._turn.step.block == "trial" else kept)(place, ran)


if __name__ == "__main__":
    when, root = sys.argv[1], Path(sys.argv[2])
    if when == "before":
        Kept.publish = publish  # type: ignore[method-assign]
    else:
        Budget.close = die  # type: ignore[method-assign,assignment]
    sys.path.insert(0, str(root))
    sys.exit(build(sys.argv[3:], root, workers=1, yes=True, compiler=compiler("mill", root)))
