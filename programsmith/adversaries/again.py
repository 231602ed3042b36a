"""What an adversary that a model drove did, done again by nobody: its commands, in a place as agents have it.

In: a transcript, a bundle. Out: the commands of the agent, in order; what they leave in /app/submission of this bundle.
So an exploit that lives on what a task gives away fails on a task that keeps it, though the files that it once handed
in would still score. The commands are those of an untrusted model: they run in a sandbox without a network, over a
copy of the bundle's agent's side, as they ran in the try.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from programsmith.adversaries.agent_side import LIMITS
from programsmith.agents import place
from programsmith.agents.base import APP, HOME
from programsmith.bundle.controls import Files
from programsmith.bundle.tree import APP as SHOWN
from programsmith.bundle.tree import read_bundle
from programsmith.payload.verifier.launcher import View
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.sandboxes import open_sandbox

LINES = ("command", "cmd")
"""Arguments of a harness's tools that hold a command line."""
WRITTEN = ("file_path", "content")
"""Arguments of a tool that writes a whole file."""
STAYS = frozenset({"Bash"})
"""Tools whose next command starts where the last one ended; any other starts in /app, or where it says."""
WHERE = ("workdir", "directory")
"""Arguments that say where."""
SHELL = """run='trap "pwd >$HOME/.where" EXIT; eval "$1"'
cd "$(cat "$HOME/.where" 2>/dev/null || echo /app)"
if command -v bash >/dev/null; then exec bash -c "$run" sh "$1"; fi
exec sh -c "$run" sh "$1"
"""
MOST = 1000  # commands
WORD = 100_000  # bytes of one
WALL_SECONDS = 900.0  # of all of them


def commands(transcript: Mapping[str, Any]) -> tuple[str, ...]:
    """Command lines of a trial by its transcript, files that it wrote by a tool as such.

    None where there are too many, or one is too long or nothing that a shell is given.
    """
    found = tuple(_commands(transcript))
    return found if len(found) <= MOST and all(map(_is_word, found)) else ()


def _is_word(line: str) -> bool:
    """Whether it can be an argument of a program."""
    try:
        return "\0" not in line and len(line.encode()) <= WORD
    except UnicodeEncodeError:
        return False


def _commands(transcript: Mapping[str, Any]) -> Iterator[str]:
    for step in transcript.get("steps", ()):
        for call in step.get("tool_calls") or () if step.get("source") == "agent" else ():
            arguments = call.get("arguments") or {}
            line = _line(arguments)
            if line is None:
                continue
            place = next((arguments[name] for name in WHERE if isinstance(arguments.get(name), str)), APP)
            stays = call.get("function_name") in STAYS
            yield line if stays else f"cd {shlex.quote(place)}\n{line}"


def _line(arguments: Mapping[str, Any]) -> str | None:
    """The command line of a tool call; None where it runs and writes nothing."""
    line = next((arguments[name] for name in LINES if isinstance(arguments.get(name), str)), None)
    words, path, content = arguments.get("words"), *(arguments.get(name) for name in WRITTEN)
    if isinstance(words, list):
        return shlex.join(map(str, words))
    if isinstance(path, str) and isinstance(content, str):
        there = shlex.quote(path)
        return f'mkdir -p "$(dirname {there})" && printf %s {shlex.quote(content)} >{there}'
    return line


def handed_in(lines: Sequence[str], bundle: Path, view: View, rule: ReceiptRule, scratch: Path) -> Files:
    """What the commands leave on a bundle, whatever each ends with. Raises InfraError, PrerequisiteError."""
    shown = [(path, e) for path, e in read_bundle(bundle).items() if path.startswith(SHOWN)]
    app = place.lay(
        scratch / "again", (FileEntry(path[len(SHOWN) :].encode(), e.kind, e.mode, e.content) for path, e in shown)
    )
    sandbox = open_sandbox(place.plan(view, app, (), 0))
    try:
        sandbox.put([FileEntry(b"instruction.md", content=(bundle / "instruction.md").read_bytes())], HOME)
        spent = 0.0
        for line in lines:
            words = tuple(word.encode("utf-8", "surrogatepass") for word in ("/usr/bin/sh", "-c", SHELL, "sh", line))
            spent += sandbox.run(words, cwd=APP, limits=LIMITS).wall_seconds
            if spent > WALL_SECONDS:
                break
        return place.collect(sandbox, rule).entries
    finally:
        sandbox.close()
