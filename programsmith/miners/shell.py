"""One shell line goes in; the one simple command that it is comes out. Anything a shell would compute is refused.

Understood: quotes, backslashes, known variables, leading `NAME=value`, `< file`, `<<< word`, `2>/dev/null`, `2>&1`, and
one pipe from `cat FILE`, `echo` or `printf` into the tool. Refused by a counted word: lists, substitutions, globs,
braces, other redirections, other programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from programsmith.miners.base import Skip, name_of

_OPERATORS = (
    b"2>&1",
    b"<<<",
    b"2>",
    b"1>",
    b">>",
    b"<<",
    b"&&",
    b"||",
    b"|",
    b"<",
    b">",
    b"&",
    b";",
    b"(",
    b")",
    b"\n",
)
_ENDS_WORD = b" \t\n|<>&;()"
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_BRACE = re.compile(rb"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ASSIGN = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"\\": b"\\"}
_MAX_PIPE = 2
MAX_LINE = 64 << 10  # a longer command line is refused: each part of it is copied
_PLAIN_QUOTES = {b'"': b'"', b"'": b"'"}

Lookup = Callable[[bytes], bytes | None]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or an operator. `assigns` marks a word whose NAME= part is unquoted."""

    text: bytes
    operator: bool = False
    assigns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One call of the tool. `argv` excludes its name. At most one of `stdin` and `stdin_path` is set."""

    argv: tuple[bytes, ...]
    env: tuple[tuple[bytes, bytes], ...] = ()
    stdin: bytes | None = None
    stdin_path: bytes | None = None
    merged: bool = False  # stderr goes into stdout


@dataclass(slots=True)
class _Segment:
    words: list[bytes] = field(default_factory=list)
    env: list[tuple[bytes, bytes]] = field(default_factory=list)
    stdin: bytes | None = None
    stdin_path: bytes | None = None
    merged: bool = False


def tool_lookup(tool: str, variables: Mapping[bytes, bytes]) -> Lookup:
    """Values of variables: the known ones, and the tool for any whose name ends in the tool's."""
    want = tool.encode().lower()

    def value(name: bytes) -> bytes | None:
        if name in variables:
            return variables[name]
        return tool.encode() if name.lower().endswith(want) else None

    return value


def words(text: bytes, lookup: Lookup) -> tuple[bytes, ...]:
    """The words of a text that holds arguments only, over several lines if it likes. Raises Skip."""
    tokens = list(_Scanner(text, lookup).tokens())
    if any(t.operator and t.text != b"\n" for t in tokens):
        raise Skip("not_simple")
    return tuple(t.text for t in tokens if not t.operator)


def simple_command(line: bytes, tool: str, lookup: Lookup) -> SimpleCommand:
    """The one call of `tool` that `line` is. Raises Skip: `not_simple`, `other_program`."""
    tokens = list(_Scanner(line.strip(), lookup).tokens())
    segments: list[list[Token]] = [[]]
    for token in tokens:
        if token.operator and token.text == b"|":
            segments.append([])
        else:
            segments[-1].append(token)
    parts = [_segment(s) for s in segments]
    last = parts[-1]
    if len(parts) > _MAX_PIPE or not all(p.words for p in parts):
        raise Skip("not_simple")
    if name_of(last.words[0]) != tool.encode():
        raise Skip("other_program")
    if len(parts) == _MAX_PIPE:
        _feed(parts[0], last)
    return SimpleCommand(
        argv=tuple(last.words[1:]),
        env=tuple(last.env),
        stdin=last.stdin,
        stdin_path=last.stdin_path,
        merged=last.merged,
    )


def _segment(tokens: list[Token]) -> _Segment:
    found, rest = _Segment(), iter(tokens)
    for token in rest:
        if token.operator:
            _redirect(found, token.text, rest)
        elif token.assigns and not found.words:
            name, _, value = token.text.partition(b"=")
            found.env.append((name, value))
        else:
            found.words.append(token.text)
    return found


def _redirect(found: _Segment, operator: bytes, rest: Iterator[Token]) -> None:
    if operator == b"2>&1":
        found.merged = True
        return
    target = next(rest, None)
    if target is None or target.operator or (found.stdin_path, found.stdin) != (None, None):
        raise Skip("not_simple")
    if operator == b"<":
        found.stdin_path = target.text
    elif operator == b"<<<":
        found.stdin = target.text + b"\n"
    elif operator != b"2>" or target.text != b"/dev/null":
        raise Skip("not_simple")


def _feed(source: _Segment, into: _Segment) -> None:
    """Resolve `cat FILE |`, `echo … |`, `printf … |` into the stdin of the tool."""
    if source.env or source.merged or (into.stdin, into.stdin_path, source.stdin) != (None, None, None):
        raise Skip("not_simple")
    program, args = source.words[0], source.words[1:]
    if program == b"cat":
        names = args + ([source.stdin_path] if source.stdin_path is not None else [])
        if len(names) != 1 or names[0].startswith(b"-"):
            raise Skip("not_simple")
        into.stdin_path = names[0]
    elif program == b"echo" and source.stdin_path is None:
        into.stdin = _echo(args)
    elif program == b"printf" and source.stdin_path is None and args:
        into.stdin = _printf(args[0], args[1:])
    else:
        raise Skip("not_simple")


def _echo(args: list[bytes]) -> bytes:
    """Shells differ on backslashes in echo: without an explicit -e such a text is refused."""
    end, escapes = b"\n", False
    while args and args[0] in (b"-n", b"-e", b"-ne", b"-en"):
        flag, args = args[0], args[1:]
        end = b"" if b"n" in flag else end
        escapes = escapes or b"e" in flag
    text = b" ".join(args)
    if b"\\" in text and not escapes:
        raise Skip("not_simple")
    return (unescape(text) if escapes else text) + end


def _printf(form: bytes, args: list[bytes]) -> bytes:
    pieces = re.split(rb"(%.)", form, flags=re.DOTALL)
    holes = sum(p == b"%s" for p in pieces)
    if any(p[:1] == b"%" and p not in (b"%s", b"%%") for p in pieces) or holes != len(args):
        raise Skip("not_simple")
    values = iter(args)
    out = [next(values) if p == b"%s" else b"%" if p == b"%%" else unescape(p) for p in pieces]
    return b"".join(out)


def unescape(text: bytes) -> bytes:
    """Backslash escapes of printf and `echo -e` resolved. Raises Skip on one whose meaning differs between shells."""

    def one(match: re.Match[bytes]) -> bytes:
        if match[1] is not None:
            return bytes([int(match[1], 16)])
        if match[2] is not None:
            return bytes([int(match[2], 8) & 0xFF])
        known = {**_ESCAPES, **_PLAIN_QUOTES}.get(match[3])
        if known is None:
            raise Skip("not_simple")
        return known

    return _ESCAPE.sub(one, text)


def double_quoted(body: bytes, lookup: Lookup) -> bytes:
    """What a shell makes of the inside of double quotes. Raises Skip."""
    scanner = _Scanner(body + b'"', lookup)
    return scanner.double()


class _Scanner:
    """Cuts a line into tokens."""

    def __init__(self, line: bytes, lookup: Lookup) -> None:
        if len(line) > MAX_LINE:
            raise Skip("line_too_long")
        self._line = line
        self._at = 0
        self._lookup = lookup

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._line):
            char = self._peek()
            if char in (b" ", b"\t"):
                self._at += 1
            elif self._line.startswith(b"\\\n", self._at):
                self._at += 2
            elif char == b"#":
                end = self._line.find(b"\n", self._at)
                self._at = len(self._line) if end < 0 else end
            else:
                operator = next((o for o in _OPERATORS if self._line.startswith(o, self._at)), None)
                self._at += len(operator or b"")
                yield Token(operator, operator=True) if operator else self._word()

    def _peek(self) -> bytes:
        return self._line[self._at : self._at + 1]

    def _word(self) -> Token:
        start, bare, text = self._at, b"", b""
        while self._at < len(self._line) and self._peek() not in {bytes([c]) for c in _ENDS_WORD}:
            piece, quoted = self._piece()
            text += piece
            bare += b"" if quoted else piece
        if bare[:1] == b"~" or bare == b"!" or _BRACE.search(bare):
            raise Skip("not_simple")
        return Token(text, assigns=_ASSIGN.match(self._line, start) is not None and _ASSIGN.match(text) is not None)

    def _piece(self) -> tuple[bytes, bool]:
        """The next part of a word, and whether it is quoted."""
        char = self._peek()
        self._at += 1
        match char:
            case b"'":
                return self._until_quote(), True
            case b'"':
                return self.double(), True
            case b"\\":
                return self._escaped(), True
            case b"$":
                value = self._variable()
                if not value or any(c in b" \t\n*?[" for c in value):
                    raise Skip("not_simple")
                return value, True
            case b"`" | b"*" | b"?" | b"[":
                raise Skip("not_simple")
            case _:
                return char, False

    def _escaped(self) -> bytes:
        char = self._peek()
        self._at += 1
        if not char:
            raise Skip("not_simple")
        return b"" if char == b"\n" else char

    def _until_quote(self) -> bytes:
        end = self._line.find(b"'", self._at)
        if end < 0:
            raise Skip("not_simple")
        text, self._at = self._line[self._at : end], end + 1
        return text

    def double(self) -> bytes:
        """The inside of double quotes up to the closing one."""
        out = b""
        while (char := self._peek()) != b'"':
            self._at += 1
            if not char or char == b"`":
                raise Skip("not_simple")
            if char == b"$":
                out += self._variable_or_dollar()
            elif char == b"\\" and self._peek() in (b"$", b"`", b'"', b"\\", b"\n"):
                out += self._escaped()
            else:
                out += char
        self._at += 1
        return out

    def _variable_or_dollar(self) -> bytes:
        """A `$` that no name follows is itself."""
        after = self._peek()
        return (
            self._variable()
            if after in (b"{", b"(", b"'")
            or after.isalnum()
            or after in (b"_", b"@", b"*", b"#", b"?", b"!", b"-", b"$")
            else b"$"
        )

    def _variable(self) -> bytes:
        braced = self._peek() == b"{"
        name = _NAME.match(self._line, self._at + braced)
        if name is None or (braced and self._line[name.end() : name.end() + 1] != b"}"):
            raise Skip("not_simple")
        self._at = name.end() + braced
        value = self._lookup(name[0])
        if value is None:
            raise Skip("not_simple")
        return value
