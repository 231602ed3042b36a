"""Starts a verifier's program several times in one process and tells what is to be seen of it afterwards.

Arguments: the program, the name of the variable that holds its key. In: on standard input a JSON list of command lines.
Out: one JSON object: the exit codes, whether others may look into the process, and the environment that the system
shows of it, as hexadecimal digits. Whatever the program imports it imports here, as where it is started alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import sys

GET_DUMPABLE = 3
LONGEST = 1 << 20


def ended(program: str, words: list[str], key: tuple[str, str]) -> object:
    """How the program ends with these words and this variable, which it may take away each time."""
    os.environ.setdefault(*key)  # noqa: TID251 - the program's own start
    sys.argv = [program, *words]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return end.code
    except Exception as fault:  # noqa: BLE001 - how it ends is what is asked
        return repr(fault)
    return None


def main() -> None:
    """Start it as often as asked, then look."""
    shown = os.open("/proc/self/environ", os.O_RDONLY)
    _, program, name = sys.argv
    key = (name, os.environ[name])  # noqa: TID251
    codes = [ended(program, words, key) for words in json.load(sys.stdin)]
    said = {
        "codes": codes,
        "dumpable": ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0),
        "environment": os.pread(shown, LONGEST, 0).hex(),
    }
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
