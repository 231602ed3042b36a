"""Gherkin `.feature` files: scenarios that run a command and say what its output is or holds.

Known steps: a file named "…" with a text, I run `…`, the output is or contains a text, the exit status. A step of the
repository's own may set up anything, so a scenario that has one is counted `own_step`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from programsmith.miners.base import MineContext, Skip, folder_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.invocation import Invocations, own_file
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_STEP = re.compile(rb"(?:Given|When|Then|And|But|\*) (.*)")
_FILE = re.compile(rb'(?:a|an) (?:empty )?file (?:named |called )?"([^"]{1,200})"(?: with:?)?')
_RUN = re.compile(rb"I (?:successfully )?(?:run|execute) (?:`([^`]*)`|\"([^\"]*)\")")
_OUTPUT = re.compile(rb"the (?:output|stdout) should (be|be exactly|equal|contain|contain exactly)( \"[^\"]*\")?:?")
_STATUS = re.compile(rb"the exit (?:status|code) should be (\d{1,3})|it should (pass|fail)")
_FENCES = (b'"""', b"```")


@dataclass(slots=True)
class Scenario:
    """Steps with their line and their text."""

    line: int
    steps: list[tuple[int, bytes, bytes | None]] = field(default_factory=list)


class Features:
    """The miner."""

    name = "features"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every scenario whose steps are all known."""
        reads = Invocations(context, Fixtures(tree, context.limits))
        for entry in tree.files(b".feature"):
            for scenario in read_scenarios(entry.content):
                try:
                    yield _case(entry, scenario, reads, context)
                except Skip as skip:
                    context.skipped[str(skip)] += 1


def read_scenarios(text: bytes) -> list[Scenario]:
    """The scenarios of a file; the steps of a background come first in each."""
    found: list[Scenario] = []
    background = Scenario(0)
    at: Scenario | None = None
    fence, held = b"", [b""]
    for number, line in enumerate(text.replace(b"\r\n", b"\n").split(b"\n"), 1):
        bare = line.strip()
        if fence:
            if bare == fence and at is not None and at.steps:
                at.steps[-1] = (*at.steps[-1][:2], _dedented(held))
                fence = b""
            held.append(line)
        elif bare in _FENCES:
            fence, held = bare, []
        elif bare.startswith(b"Background:"):
            at = background
        elif bare.startswith((b"Scenario:", b"Example:", b"Scenario Outline:")):
            at = Scenario(number, list(background.steps))
            found.append(at)
        elif at is not None and (step := _STEP.fullmatch(bare)):
            at.steps.append((number, step[1], None))
    return found


def _dedented(lines: list[bytes]) -> bytes:
    text = b"\n".join(lines).decode("utf-8", "surrogateescape")
    return textwrap.dedent(text).encode("utf-8", "surrogateescape") + (b"\n" if lines else b"")


def _case(entry: FileEntry, scenario: Scenario, reads: Invocations, context: MineContext) -> MinedCase:
    own: dict[bytes, FileEntry] = {}
    command, stdout, match, code, fails = None, None, "bytes", None, None
    line = scenario.line
    for number, step, text in scenario.steps:
        if file := _FILE.fullmatch(step):
            own[file[1]] = own_file(file[1], text or b"")
        elif run := _RUN.fullmatch(step):
            if command is not None:
                raise Skip("several_calls")
            command, line = run[1] if run[1] is not None else run[2], number
        elif said := _OUTPUT.fullmatch(step):
            stdout = text if text is not None else said[2][2:-1] if said[2] else None
            match = "contains" if said[1] == b"contain" else "bytes"
        elif status := _STATUS.fullmatch(step):
            code = int(status[1]) if status[1] else 0 if status[2] == b"pass" else None
            fails = True if status[2] == b"fail" else None
        else:
            raise Skip("own_step")
    if command is None:
        raise Skip("no_call")
    call = reads.of(command, folder_of(entry.path), own)
    return MinedCase(
        case=call.case,
        provenance=context.provenance(Features.name, entry, line),
        group=f"{show(entry.path)}:{scenario.line}",
        recorded=Recorded(stdout=stdout, match=match, exit_code=code, fails=fails, merged=True),
    )
