"""Writes one stamp again and again until it is killed: `python stamper.py FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from programsmith.compiler.footing import keep
from programsmith.compiler.stamp import States, Watched, formed


def main(folder: Path) -> None:
    """Stamp a file of the folder."""
    watched = Watched([], [str(folder / "watched").encode()] * 2000, [])
    time.sleep(0.01)
    content = formed([b"field"], watched, States(watched))
    while True:
        keep(str(folder / "stamp"), content)
        print("kept", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
