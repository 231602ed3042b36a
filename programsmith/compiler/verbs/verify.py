"""The verb `verify`: an exported task, from whomever it comes, held to what it says of itself.

In: a folder or a tar, `--run`, `--key`. Out: a line for each thing on stdout, or one JSON object; an exit code; a line
on stderr where it lies in dist/ and its spec asks for something else by now. Refuses what cannot be read, and a key
that is none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from programsmith.bundle.label import TASK
from programsmith.bundle.present import read_present
from programsmith.bundle.signature import KEY_BYTES, MANIFEST
from programsmith.compiler.compile import owner_secret
from programsmith.compiler.verbs.reading import VERSION, emit
from programsmith.compiler.verbs.stale import asked_of, warn
from programsmith.compiler.verifying import Asked, Line, State, exit_of, lines
from programsmith.errors import Exit, InputError, plain
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.scratch import scratch
from programsmith.spec.find import find_project

SHOWN = 40  # differences of one line that a person is shown
HOLDS = {Exit.OK: "holds", Exit.ENDED: "does not hold"}
_KEY_FILE_BYTES = 4096


def verify(paths: Sequence[str], start: Path, *, key: str | None, run: bool, as_json: bool) -> Exit:
    """Look at one exported task and print how it stands. Raises InputError, PrerequisiteError, InfraError."""
    if len(paths) != 1:
        raise InputError(f"verify: wanted one folder or tar of an exported task, got {len(paths)}")
    found = read_present(start / paths[0])
    if not {TASK, MANIFEST} & found.files.keys():
        raise InputError(
            f"verify: {paths[0]}: wanted an exported task such as dist/NAME, got neither {TASK} nor {MANIFEST}"
        )
    asked = Asked(
        key=None if key is None else trusted(start, key),
        secret=owner_secret(),
        rules=Rulebook(_project(start)).load,
        run=run,
    )
    said: list[Line] = []
    with scratch("verify") as folder:
        for line in lines(found, asked, folder):
            said.append(line)
            if not as_json:
                emit(_text(line))
    code = exit_of(said)
    spec = asked_of((start / paths[0]).resolve())
    if spec is not None:
        warn(spec)
    emit(_json(paths[0], said, code) if as_json else f"{HOLDS.get(code, 'not decided')}: {_printable(paths[0])}")
    return code


def _project(start: Path) -> Path | None:
    """The project whose rules hold here, None where there is none: a task is looked at anywhere."""
    try:
        return find_project(start)
    except InputError:
        return None


def trusted(start: Path, given: str) -> bytes:
    """A public key as it is given: hexadecimal digits, or the path of a file that holds them. Raises InputError."""
    try:
        text = given if _is_key(given) else _read(start / given)
    except OSError as fault:
        raise InputError(f"--key {given}: neither {2 * KEY_BYTES} hexadecimal digits nor a file: {fault}") from fault
    if not _is_key(text):
        raise InputError(f"--key {given}: wanted a public key of {2 * KEY_BYTES} hexadecimal digits in it")
    return bytes.fromhex(text)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_KEY_FILE_BYTES).decode("ascii", "replace").strip()


def _is_key(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == KEY_BYTES
    except ValueError:
        return False


def _text(line: Line) -> str:
    rows = [f"{line.state:<9} {line.name:<10} {_printable(line.text)}"]
    rows += [f"  {_printable(str(one))}" for one in line.differences[:SHOWN]]
    more = len(line.differences) - SHOWN
    return "\n".join([*rows, *([f"  and {more} more"] if more > 0 else [])])


def _printable(text: str) -> str:
    """The text on one line, whatever a hostile task put into it."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def _json(path: str, said: Sequence[Line], code: Exit) -> str:
    rows = [
        {
            "name": line.name,
            "state": line.state.value,
            "text": line.text,
            "differences": [{"path": d.path, "wanted": d.wanted, "got": d.got} for d in line.differences],
        }
        for line in said
    ]
    holds = all(line.state in {State.OK, State.UNPROVEN} for line in said)
    return json.dumps({"version": VERSION, "path": path, "holds": holds, "exit": int(code), "lines": rows}, indent=1)
