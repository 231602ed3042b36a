"""Gives the right answer a little otherwise than it is, in the way that way.txt names."""

from __future__ import annotations

import importlib
import os
import signal
import sys

WAYS = {
    "mark": lambda said: b"\xef\xbb\xbf" + said,
    "returns": lambda said: said.replace(b"\n", b"\r\n"),
    "blanks": lambda said: said + b"  \n",
    "case": lambda said: said.swapcase(),
    "half": lambda said: said[: len(said) // 2],
}


def main() -> int:
    """Answer."""
    kit = importlib.import_module("kit")
    way = kit.word("way")
    code, said = kit.caught()
    kit.say(2 if way == "stream" else 1, WAYS.get(way, bytes)(said))
    if way == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return int(code)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    os._exit(main())
