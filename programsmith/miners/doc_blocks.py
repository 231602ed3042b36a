"""Documentation that shows commands with their output: `$` blocks, pairs of blocks, and given/then/output triplets.

A block of a page opens with a fence or `<pre>`. Its commands are the lines after `$ ` (or, where the info string or
class says command, the whole block); what follows is output. Output that is cut short (a line of dots) is a part only;
prompts of other programs, and commands in pipelines with others, are counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from programsmith.miners.base import MineContext, Skip, folder_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.invocation import Invocations, own_file
from programsmith.miners.patterns import ANY_LINES, literal, whole
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_SUFFIXES = (b".md", b".markdown", b".rst", b".txt", b".adoc")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)")
_PRE = re.compile(rb"<pre[^>]*>")
_BOLD = re.compile(rb"<b>(.*)</b>")
_GIVEN = re.compile(rb"[Gg]iven (?:a|an|the)?[ \t]*(?:sample )?`?([A-Za-z0-9_./-]{1,80})`?[ \t]*(?:file)?\b")
_CUT = frozenset({b"...", b"\xe2\x80\xa6", b"[...]", b"<snip>", b"(...)"})
_NEAR = 6  # lines between a block and the one that it belongs with
_MAX_PAGE = 2 << 20


@dataclass(slots=True)
class Block:
    """One block of a page: its first line's number, what the fence says, its lines, the prose before it."""

    line: int
    info: bytes
    lines: list[bytes] = field(default_factory=list)
    prose: bytes = b""
    end: int = 0


class DocBlocks:
    """The miner."""

    name = "doc_blocks"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every page that shows the tool being called."""
        reads = Invocations(context, Fixtures(tree, context.limits))
        for entry in tree.files():
            if entry.path.endswith(_SUFFIXES) and context.tool.encode() in entry.content:
                if len(entry.content) > _MAX_PAGE:
                    context.skipped["page_too_large"] += 1
                    continue
                yield from _page(entry, reads, context)


def _page(entry: FileEntry, reads: Invocations, context: MineContext) -> Iterator[MinedCase]:
    own: dict[bytes, FileEntry] = {}
    found = blocks(entry.content)
    for at, block in enumerate(found):
        given = _GIVEN.search(block.prose)
        if given and b"." in given[1]:
            try:
                own = {**own, given[1]: own_file(given[1], b"".join(line + b"\n" for line in block.lines))}
            except Skip as skip:
                context.skipped[str(skip)] += 1
            continue
        after = found[at + 1] if at + 1 < len(found) and found[at + 1].line - block.end <= _NEAR else None
        for line, command, output in told(block, after, context.tool.encode()):
            try:
                call = reads.of(command, folder_of(entry.path), own)
                recorded = Recorded() if call.merged or output is None else _recorded(output)
                yield MinedCase(
                    case=call.case,
                    provenance=context.provenance(DocBlocks.name, entry, line),
                    group=f"{show(entry.path)}:{line}",
                    recorded=recorded,
                )
            except Skip as skip:
                context.skipped[str(skip)] += 1


def blocks(text: bytes) -> list[Block]:
    """The blocks of a page in order."""
    found: list[Block] = []
    fence, prose = b"", b""
    for number, line in enumerate(text.replace(b"\r\n", b"\n").split(b"\n"), 1):
        start, pre = _FENCE.fullmatch(line), _PRE.match(line)
        if not fence and (start or pre):
            fence = start[1] if start else b"</pre>"
            found.append(Block(number + 1, start[2].strip() if start else line, prose=prose))
            rest = line[pre.end() :] if pre else b""
            if rest:
                found[-1].lines.append(rest)
            prose = b""
        elif fence and (line.startswith(fence) if fence != b"</pre>" else fence in line):
            found[-1].end, fence = number, b""
        elif fence:
            found[-1].lines.append(line)
        else:
            prose = (prose + line[-300:] + b"\n")[-300:]
    return [b for b in found if b.end]


def told(block: Block, after: Block | None, tool: bytes) -> Iterator[tuple[int, bytes, list[bytes] | None]]:
    """(line, command, output) of what a block shows; the output is None where it shows none."""
    bold = [(n, _BOLD.fullmatch(line)) for n, line in enumerate(block.lines)]
    if block.info.startswith(b"<pre") and bold and all(m for _, m in bold):
        command = b"\n".join(m[1] for _, m in bold if m)
        yield block.line, _plain(command), [_plain(x) for x in after.lines] if after else None
    elif any(line.startswith((b"$ ", b"% ")) for line in block.lines):
        yield from _prompted(block)
    elif block.info.split(b" ")[0] in (b"bash", b"sh", b"shell", b"console") and block.lines:
        first = block.lines[0].lstrip()
        if len(block.lines) == 1 and (first.startswith(tool + b" ") or b"| " + tool + b" " in first):
            paired = after is not None and after.info.split(b" ")[0] not in (b"bash", b"sh", b"shell", b"console")
            yield block.line, first, after.lines if after and paired else None


def _plain(text: bytes) -> bytes:
    return html.unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _prompted(block: Block) -> Iterator[tuple[int, bytes, list[bytes] | None]]:
    """Commands at a prompt, lines that end in a backslash joined; a prompt with nothing below it shows no output."""
    at = 0
    while at < len(block.lines):
        line = block.lines[at]
        if not line.startswith((b"$ ", b"% ")):
            at += 1
            continue
        number, command, at = at, line[2:], at + 1
        while command.endswith(b"\\") and at < len(block.lines):
            command, at = command + b"\n" + block.lines[at].removeprefix(b"> "), at + 1
        start = at
        while at < len(block.lines) and not block.lines[at].startswith((b"$ ", b"% ")):
            at += 1
        output = block.lines[start:at]
        while output and not output[-1].strip():
            output.pop()
        yield block.line + number, command, output or None


def _recorded(lines: Sequence[bytes]) -> Recorded:
    if any(line.strip() in _CUT for line in lines):
        shown = [ANY_LINES if line.strip() in _CUT else literal(line) for line in lines]
        return Recorded(stdout=whole(shown), match="whole")
    return Recorded(stdout=b"".join(line + b"\n" for line in lines))
