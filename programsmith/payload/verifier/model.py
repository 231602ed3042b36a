"""The words that the verifier and the pipeline share: files, cases, limits, and their one JSON form.

Bytes stay bytes: in JSON every byte string is base64, so no program output is ever decoded.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class FileEntry:
    """One regular file, directory or symlink below a work directory.

    `path` is relative, `/`-separated, without `.` or `..` parts. `kind` is `file`, `dir` or `link`;
    `content` holds the bytes of a file, the target of a link, and nothing for a directory.
    """

    path: bytes
    kind: str = "file"
    mode: int = 0o644
    content: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one launch may use, counted over all of its processes. Seconds and bytes."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    pids: int
    output_bytes: int  # each of stdout and stderr
    work_bytes: int  # size of the work directory
    work_files: int  # entries in the work directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One invocation of a command-line program: what goes in.

    `argv` excludes the program's own name. `env` is added to the fixed base environment. `files` fill the
    work directory, which is the current directory, before the start. stdin is always a pipe.
    """

    argv: tuple[bytes, ...]
    stdin: bytes = b""
    env: tuple[tuple[bytes, bytes], ...] = ()
    files: tuple[FileEntry, ...] = ()

    @property
    def id(self) -> str:
        """Name of the case: `c` and 16 hexadecimal digits of the SHA-256 of its canonical JSON."""
        return "c" + hashlib.sha256(canonical(encode_case(self))).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the oracle did: what must come out.

    Exactly one of `exit_code` and `signal` is set. `stderr_empty` is the class of stderr (its bytes are not
    compared). `files` is the work directory afterwards, None where the case left it as it was.
    """

    exit_code: int | None
    signal: int | None = None
    stdout: bytes = b""
    stderr_empty: bool = True
    files: tuple[FileEntry, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedCase:
    """A case with its expected side, its family and its comparators, as the verifier reads it.

    `compare` maps `stdout`, `exit_code`, `files`, `stderr` to a comparator `{kind, ...parameters}`.
    `exec_allowed` lists absolute paths of executables that the oracle was seen to start in this case.
    """

    case: Case
    expected: Expected
    family: str
    cpu_seconds: float  # the oracle's slowest, over all processes
    compare: tuple[tuple[str, str], ...] = ()
    exec_allowed: tuple[str, ...] = ()


def canonical(value: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def b64(data: bytes) -> str:
    """Base64 text of bytes."""
    return base64.b64encode(data).decode("ascii")


def unb64(text: str) -> bytes:
    """Bytes of base64 text. Raises ValueError on anything else."""
    return base64.b64decode(text, validate=True)


def encode_file(entry: FileEntry) -> dict[str, Any]:
    """JSON form of a file entry."""
    return {"path": b64(entry.path), "kind": entry.kind, "mode": entry.mode, "content": b64(entry.content)}


def decode_file(value: dict[str, Any]) -> FileEntry:
    """File entry of its JSON form."""
    return FileEntry(unb64(value["path"]), value["kind"], value["mode"], unb64(value["content"]))


def encode_case(case: Case) -> dict[str, Any]:
    """JSON form of a case; its canonical bytes name the case."""
    return {
        "argv": [b64(a) for a in case.argv],
        "stdin": b64(case.stdin),
        "env": [[b64(k), b64(v)] for k, v in case.env],
        "files": [encode_file(f) for f in case.files],
    }


def decode_case(value: dict[str, Any]) -> Case:
    """Case of its JSON form."""
    return Case(
        argv=tuple(unb64(a) for a in value["argv"]),
        stdin=unb64(value["stdin"]),
        env=tuple((unb64(k), unb64(v)) for k, v in value["env"]),
        files=tuple(decode_file(f) for f in value["files"]),
    )


def encode_expected(expected: Expected) -> dict[str, Any]:
    """JSON form of an expected side."""
    files = expected.files
    return {
        "exit_code": expected.exit_code,
        "signal": expected.signal,
        "stdout": b64(expected.stdout),
        "stderr_empty": expected.stderr_empty,
        "files": None if files is None else [encode_file(f) for f in files],
    }


def decode_expected(value: dict[str, Any]) -> Expected:
    """Expected side of its JSON form."""
    files = value["files"]
    return Expected(
        exit_code=value["exit_code"],
        signal=value["signal"],
        stdout=unb64(value["stdout"]),
        stderr_empty=value["stderr_empty"],
        files=None if files is None else tuple(decode_file(f) for f in files),
    )


def encode_graded(graded: GradedCase) -> dict[str, Any]:
    """JSON form of a graded case."""
    return {
        "case": encode_case(graded.case),
        "expected": encode_expected(graded.expected),
        "family": graded.family,
        "cpu_seconds": graded.cpu_seconds,
        "compare": [list(c) for c in graded.compare],
        "exec_allowed": list(graded.exec_allowed),
    }


def decode_graded(value: dict[str, Any]) -> GradedCase:
    """Graded case of its JSON form."""
    return GradedCase(
        case=decode_case(value["case"]),
        expected=decode_expected(value["expected"]),
        family=value["family"],
        cpu_seconds=value["cpu_seconds"],
        compare=tuple((a, b) for a, b in value["compare"]),
        exec_allowed=tuple(value["exec_allowed"]),
    )
