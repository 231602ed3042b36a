"""A sequential verifier with scans, as the public original's is described: each step a program of its own.

`python scans.py STEP FOLDER`. FOLDER holds `submission/` with its executable, `oracle` and `prebuilt` (programs that
must not come back), `cases.json` and a fixture per case. Steps: `smuggled` looks for copies of the oracle in files of
50 kB and more; `submission` for the oracle in seven encodings, for vendored folders, for too many files; `similarity`
holds the code section and every window of 64 bytes against the prebuilt program; `traced` follows two runs with
strace; `cases` runs one case after the other and writes metrics and reward. Exit code 3 where a step objects. Written
from the description alone. Nothing is killed or removed here, and FOLDER alone is searched: both make it faster.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import hashlib
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OBJECTS = 3
BIG, MOST_FILES, WINDOW, ALIKE, SECONDS = 50_000, 80, 64, 0.95, 20
VENDORED = re.compile(r"(^|/)(vendor|node_modules|\.cargo|github\.com/[^/]+/[^/]+@v[^/]*)(/|$)")
DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "raw": bytes,
    "zlib": zlib.decompress,
    "gzip": lambda raw: zlib.decompress(raw, wbits=31),
    "lzma": lzma.decompress,
    "bz2": bz2.decompress,
    "base64": base64.b64decode,
    "hex": lambda raw: binascii.unhexlify(raw.strip()),
}
FAULTS = (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError)
SUSPECT = re.compile(r"memfd_create\(|PROT_READ\|PROT_WRITE\|PROT_EXEC|execve\(\"/tmp/")
SECTION = struct.Struct("<IIQQQQIIQQ")
"""An entry of the section table of a 64-bit ELF file."""


def main() -> int:
    """One step; OBJECTS where it does."""
    step, folder = sys.argv[1], Path(sys.argv[2])
    found = list(STEPS[step](folder))
    print("\n".join(found))
    return OBJECTS if found else 0


def digest(raw: bytes) -> str:
    """SHA-256 as text."""
    return hashlib.sha256(raw).hexdigest()


def files(folder: Path) -> Iterator[Path]:
    """Regular files below a folder."""
    for top, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(top, name)).is_file() and not path.is_symlink())


def smuggled(folder: Path) -> Iterator[str]:
    """Copies of the oracle."""
    wanted = digest((folder / "oracle").read_bytes())
    for path in files(folder / "submission"):
        if path.stat().st_size >= BIG and digest(path.read_bytes()) == wanted:
            yield f"{path} is the oracle"


def submission(folder: Path) -> Iterator[str]:
    """The oracle in an encoding, foreign folders, too many files."""
    wanted = digest((folder / "oracle").read_bytes())
    handed_in = [path for path in files(folder / "submission") if path.name != "executable"]
    if len(handed_in) > MOST_FILES:
        yield f"{len(handed_in)} files"
    for path in handed_in:
        if VENDORED.search(str(path.relative_to(folder))):
            yield f"{path} is vendored"
        raw = path.read_bytes()
        for name, decode in DECODERS.items():
            with contextlib.suppress(*FAULTS):
                if digest(decode(raw)) == wanted:
                    yield f"{path} is the oracle as {name}"


def code_of(raw: bytes) -> bytes:
    """The .text section of a 64-bit ELF file, nothing of anything else."""
    if raw[:5] != b"\x7fELF\2":
        return b""
    at, (size, count, names) = struct.unpack_from("<Q", raw, 0x28)[0], struct.unpack_from("<HHH", raw, 0x3A)
    table = [SECTION.unpack_from(raw, at + number * size) for number in range(count)]
    first = table[names][4]
    for entry in table:
        start = first + entry[0]
        if raw[start : raw.index(b"\0", start)] == b".text":
            return raw[entry[4] : entry[4] + entry[5]]
    return b""


def similarity(folder: Path) -> Iterator[str]:
    """The prebuilt program's code, or most of its bytes."""
    ours, theirs = (folder / "submission" / "executable").read_bytes(), (folder / "prebuilt").read_bytes()
    if code_of(ours) and digest(code_of(ours)) == digest(code_of(theirs)):
        yield "the code is the prebuilt program's"
    known = {theirs[i : i + WINDOW] for i in range(len(theirs) - WINDOW + 1)}
    count = max(len(ours) - WINDOW + 1, 1)
    same = sum(ours[i : i + WINDOW] in known for i in range(count))
    if same / count > ALIKE:
        yield f"{same / count:.2f} of the executable is the prebuilt program's"


def traced(folder: Path) -> Iterator[str]:
    """System calls of a program that unpacks another one."""
    for words in (["--help"], read_cases(folder)[0]["args"]):
        program = str(folder / "submission" / "executable")
        trace = ["strace", "-f", "-e", "trace=execve,memfd_create,mmap,mprotect", program, *words]
        done = subprocess.run(trace, capture_output=True, check=False, input=b"", timeout=SECONDS)
        yield from SUSPECT.findall(done.stderr.decode("utf-8", "replace"))


def read_cases(folder: Path) -> list[dict[str, Any]]:
    """The list of cases."""
    value: list[dict[str, Any]] = json.loads((folder / "cases.json").read_bytes())
    return value


def cases(folder: Path) -> Iterator[str]:
    """Cases that fail, one after the other; metrics.json and reward.txt."""
    rows = [{"id": case["id"], "passed": passes(folder, case)} for case in read_cases(folder)]
    passed = sum(row["passed"] for row in rows)
    metrics = {"total": len(rows), "passed": passed, "failed": len(rows) - passed, "by_case": rows}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "reward.txt").write_text(str(int(passed == len(rows) > 0)))
    yield from (row["id"] for row in rows if not row["passed"])


def passes(folder: Path, case: dict[str, Any]) -> bool:
    """Whether the program says what the fixture says and ends as it must."""
    words = [str(folder / "submission" / "executable"), *case["args"]]
    expected = (folder / "fixtures" / f"{case['id']}.expected.stdout").read_bytes()
    try:
        done = subprocess.run(words, input=b"", capture_output=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout == expected and done.returncode == case["expected_rc"]


STEPS: dict[str, Callable[[Path], Iterator[str]]] = {
    "smuggled": smuggled,
    "submission": submission,
    "similarity": similarity,
    "traced": traced,
    "cases": cases,
}

if __name__ == "__main__":
    sys.exit(main())
