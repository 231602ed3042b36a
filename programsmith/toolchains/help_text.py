"""What a program's own help says: its options and subcommands. In: text as bytes. Out: names, sorted. Pure."""

from __future__ import annotations

import re

_OPTION = re.compile(rb"(?<![\w\\./<-])(--[A-Za-z0-9][\w-]*|-[A-Za-z0-9](?![\w-]))")
_CLUSTER = re.compile(rb"\[\s*-([A-Za-z0-9]{2,})\s*\]")
_ROFF_DASH = re.compile(rb"\\(?:-|\(hy)")
_ROFF_FONT = re.compile(rb"\\f(?:\[\w*\]|\(..|.)|\\[&|^]")
_LISTED = re.compile(rb"^\s+(?:-|\[)")
_USAGE = re.compile(rb"(?i)^\s*(usage|or)\b|^\s*\.(?:B|BI|BR|IP|TP|OP|SH|Op|Fl)\b|^\s*\[?-")
_CHOICES = re.compile(rb"\{([a-z][\w-]*(?:,[a-z][\w-]*)+)\}")
_HEADING = re.compile(rb"(?i)^[\w ]*\b(sub)?commands?\b[\w ]*:\s*$|^positional arguments:\s*$")
_ENTRY = re.compile(rb"^(?: {1,8}|\t)([a-z][\w-]*)(?:,\s*[\w-]+)?(?:\s{2,}\S.*|\s*)$")
HELPFUL = re.compile(rb"(?i)\b(usage|options|synopsis|commands)\b")


def options(text: bytes, *, manual: bool = False) -> tuple[str, ...]:
    """Option names in a help text, or in the source of a manual page: on lines that list them or show usage."""
    plain = _ROFF_FONT.sub(b"", _ROFF_DASH.sub(b"-", text)) if manual else text
    found: set[bytes] = set()
    for line in plain.splitlines():
        if _LISTED.match(line) or _USAGE.match(line):
            found.update(o for o in _OPTION.findall(line) if not (manual and o[1:].isdigit()))
            found.update(b"-" + bytes([letter]) for cluster in _CLUSTER.findall(line) for letter in cluster)
    return tuple(sorted(o.decode("ascii") for o in found))


def subcommands(text: bytes) -> tuple[str, ...]:
    """Subcommand names in a help text: an argument's choices, and what stands below a heading of commands."""
    found = {name for choices in _CHOICES.findall(_positional(text)) for name in choices.split(b",")}
    below = False
    for line in text.splitlines():
        if _HEADING.match(line):
            below = True
        elif below and line.strip() and not line[:1].isspace():
            below = False
        elif below and (entry := _ENTRY.match(line)):
            found.add(entry[1])
    return tuple(sorted(name.decode("ascii") for name in found))


def _positional(text: bytes) -> bytes:
    """The text without options that take choices."""
    return re.sub(rb"-[\w-]+[ =]\{[^}]*\}", b"", text)
