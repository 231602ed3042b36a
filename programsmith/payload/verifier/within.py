"""What a source holds of another language: which files are read as sources, and what in them is code.

In: the files of a submission, its policy. Out: per file the kind of what it holds. A file is read where its suffix is
the language's own, and where a source or a build script takes it in by its name, whatever that is. Comments are left
out and literals are no code. Each file is read in a time that grows as its length does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate

from programsmith.payload.verifier.environment import COMPILE
from programsmith.payload.verifier.layers import Budget, BudgetError
from programsmith.payload.verifier.lexing import JAVA, RUST, C, Code, Grammar, code_of
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.readings import Reading, of_c, of_java, of_rust

MOST = 4096  # bytes of assembler in one place; a whole program is more
_READ = 2  # times the bytes that a submission may have, over all readings
_SCRIPTS = (COMPILE.encode(), b"Makefile", b"makefile", b"GNUmakefile", b"Cargo.toml")
_SCRIPT_SUFFIXES = (b".sh", b".mk", b".bash")
_STARTS = re.compile(rb"#![ \t]*+/")  # in Rust, `#![` begins an attribute
_TAKES = re.compile(rb'\b(?:include\s{0,9}!?\s{0,9}[({\[]?|path\s{0,9}=)\s{0,9}"([^"\n]{1,256})"')
_WORD = re.compile(rb"(?:\$\{[^}\n]{0,64}\}|[\w.$*?/+@%\x80-\xff\[\]-])+")
_VARIABLE = re.compile(rb"\$\{[^}\n]{0,64}\}|\$\w+")
_LONGEST = 255  # bytes of a name
_PATTERNS = 256  # with wildcards; where there are more, every file is one that they may mean
_PLAIN = re.compile(rb"[\w.\x80-\xff-]")
_RUST_BEGINS = re.compile(rb"\basm\s*+!\s*+[({\[]")
_USE = re.compile(rb"\buse\b")
_RENAMED = re.compile(rb"\basm\s++as\b")
_C_BEGINS = re.compile(
    rb"\b(?:__asm__|__asm|asm)\b(?:\s*+(?:volatile|__volatile__|__volatile|goto|inline|__inline__)\b)*+\s*+\("
)
_BRACKET = re.compile(rb'([({\[])|([)}\]])|"(\d+)"|\binclude(?:_str|_bytes)?\s*+(?:!|")')
_INCLUDES = re.compile(rb"(?:^|\\n|[\n;])[ \t]*+\.include\b")
_ASSEMBLER = (  # a program: what begins it is told to the linker, and is there
    re.compile(rb"^[ \t]*+\.globa?l[ \t]++(?:main|_start)\b|^TEXT[ \t]++[^\s,]{1,256}\(SB\)", re.MULTILINE),
    re.compile(rb"^[ \t]*+(?:(?:main|_start):|RET\b)", re.MULTILINE),
)
_NATIVE_TYPES = rb"(?:sun|jdk\.internal)\.misc\.Unsafe|(?:java\.lang|jdk\.incubator)\.foreign\.\w+"
_OF_TYPES = rb"(?:<[^;(){}]{0,256}?>\s*+)?"
_DECLARED = re.compile(
    rb"(?:^[ \t]*+|\)\s*+|(?:@[\w.$]++|\b(?:public|private|protected|abstract|final|static|sealed|strictfp))\s++)"
    rb"@?(?:class|interface|enum|record)\s++[\w$\x80-\xff]",
    re.MULTILINE,
)

Search = Callable[[Code], bool]


@dataclass(frozen=True, slots=True)
class Language:
    """How sources of a language are read, the letters without which they hold nothing, what they may hold.

    `program` is in what is a source without its name: prose that a build copies has words of a language too.
    """

    grammar: Grammar
    readings: Callable[[bytes], Iterator[Reading]]
    hint: re.Pattern[bytes]
    rows: tuple[tuple[str, Search], ...]
    program: Search


def _words(pattern: bytes) -> Search:
    compiled = re.compile(pattern)
    return lambda code: compiled.search(code.text) is not None


def _literal(before: bytes, content: bytes) -> Search:
    """A literal that reads `content`, after `before`."""
    place, wanted = re.compile(before + rb'\s*+"(\d+)"'), re.compile(content)
    return lambda code: any(wanted.fullmatch(code.literals[int(m[1])]) for m in place.finditer(code.text))


def _either(*searches: Search) -> Search:
    return lambda code: any(search(code) for search in searches)


def _both(*searches: Search) -> Search:
    return lambda code: all(search(code) for search in searches)


def _renames(code: Code) -> bool:
    """A `use` that calls the macro by another name."""
    uses = ((part, _USE.search(part)) for part in code.text.split(b";"))
    return any(found and _RENAMED.search(part, found.end()) for part, found in uses)


def _declares(code: Code) -> bool:
    """A type of Java with its body."""
    pieces = re.split(rb"([;{}])", code.text)
    return any(end == b"{" and _DECLARED.search(piece) for piece, end in zip(pieces[::2], pieces[1::2], strict=False))


def _assembles(begins: re.Pattern[bytes]) -> Search:
    """Assembler that is taken from a file, or that is long enough for a program."""

    def search(code: Code) -> bool:
        at = 0
        while begun := begins.search(code.text, at):
            at, depth, size = begun.end(), 1, 0
            while depth > 0 and (found := _BRACKET.search(code.text, at)):
                at = found.end()
                depth += bool(found[1]) - bool(found[2])
                if found[3] is not None:
                    literal = code.literals[int(found[3])]
                    size += len(literal)
                    if size > MOST or _INCLUDES.search(literal):
                        return True
                elif not found[1] and not found[2]:
                    return True
        return False

    return search


_OF_C = Language(C, of_c, re.compile(rb"asm"), (("a program in assembler", _assembles(_C_BEGINS)),), lambda _: True)
_OF_JAVA = Language(
    JAVA,
    of_java,
    re.compile(rb"load|native|Unsafe|foreign"),
    (
        (
            "a native library",
            _either(
                _words(
                    rb"\b(?:System|Runtime|getRuntime\s*+\(\s*+\))\s*+(?:\.|::)\s*+"
                    + _OF_TYPES
                    + rb"load(?:Library)?\b"
                ),
                _both(_words(rb"\bgetRuntime\b"), _words(rb"(?:\.|::)\s*+" + _OF_TYPES + rb"loadLibrary\b")),
                _both(
                    _words(rb"\bstatic\s++java\s*+\.\s*+lang\s*+\.\s*+System\s*+\.\s*+\*"),
                    _words(rb"(?<![\w$.\x80-\xff])load(?:Library)?\s*+\("),
                ),
                _literal(
                    rb"\b(?:System|Runtime)\s*+\.\s*+class\s*+(?:,|\.\s*+get(?:Declared)?Method\s*+\()",
                    rb"load(?:Library)?0?",
                ),
            ),
        ),
        ("a native method", _words(rb"(?<![\w$\x80-\xff])native(?![\w$\x80-\xff])")),
        (
            "native memory",
            _either(
                _words(rb"\b(?:sun|jdk\s*+\.\s*+internal)\s*+\.\s*+misc\s*+\.\s*+Unsafe\b"),
                _both(_words(rb"\bmisc\s*+\.\s*+\*"), _words(rb"(?<![\w$\x80-\xff])Unsafe(?![\w$\x80-\xff])")),
                _words(rb"\b(?:java\s*+\.\s*+lang|jdk\s*+\.\s*+incubator)\s*+\.\s*+foreign\b"),
                _literal(rb"\b(?:forName|loadClass|findClass)\s*+\(", _NATIVE_TYPES),
            ),
        ),
    ),
    _declares,
)
_OF_RUST = Language(
    RUST,
    of_rust,
    re.compile(rb"asm"),
    (
        (
            "assembler",
            _either(
                _words(rb"(?<![\w\x80-\xff])(?:global|naked)_asm(?![\w\x80-\xff])"),
                _renames,
                _assembles(_RUST_BEGINS),
            ),
        ),
    ),
    lambda _: True,
)
LANGUAGES: dict[bytes, Language] = {
    **dict.fromkeys((b".c", b".h", b".cc", b".cpp", b".cxx", b".c++", b".hpp", b".hh", b".hxx"), _OF_C),
    b".java": _OF_JAVA,
    b".rs": _OF_RUST,
}
"""By the suffix of a source. What is not here has nothing of the kind: Go's toolchain brings no C compiler to call."""


def kinds(refused_suffixes: Iterable[str]) -> list[str]:
    """What sources of a task may not hold, in words."""
    return [kind for language in _own(refused_suffixes) for kind, _ in language.rows]


def held(entries: Iterable[FileEntry], policy: Policy) -> dict[bytes, str]:
    """What each file holds of another language, by its path; files that hold nothing are not there."""
    own, files = _own(policy.refused_suffixes), {e.path: e.content for e in entries if e.kind == "file"}
    if not own and not policy.compiled:
        return {}
    sources = {path: one for path in files if (one := _by_suffix(path)) is not None and one in own}
    scripts = {path for path, content in files.items() if path not in sources and _is_script(path, content)}
    taken, budget = _taken(files, sources, scripts), Budget(_READ * policy.submission.bytes)
    holds = {path: _kind(files[path], [one], budget, sure=True) for path, one in sources.items()}
    holds |= {path: _kind(files[path], own, budget, sure=False) for path in sorted(taken)}
    if policy.compiled:
        texts = (taken - scripts) | ({COMPILE.encode()} & {*files})  # other scripts try assemblers, as configure does
        assembled = {path for path in texts if all(sign.search(files[path]) for sign in _ASSEMBLER)}
        holds |= dict.fromkeys(assembled, "assembler")
    return {path: kind for path, kind in holds.items() if kind}


def _taken(files: Mapping[bytes, bytes], sources: Iterable[bytes], scripts: Iterable[bytes]) -> set[bytes]:
    """Files without a suffix of the language that sources or scripts take in, and those that these take in."""
    names, taken = _Names(), set[bytes]()
    for path in sources:
        names.add(m[1] for m in _TAKES.finditer(files[path]))
    for path in scripts:
        names.add(_VARIABLE.sub(b"*", m[0]) for m in _WORD.finditer(files[path]))
    rest = {*files} - {*sources}
    while found := {path for path in rest if names.has(path)}:
        taken |= found
        rest -= found
        for path in found:
            names.add(m[1] for m in _TAKES.finditer(files[path]))
    return taken


def _own(refused_suffixes: Iterable[str]) -> list[Language]:
    refused = {suffix.encode() for suffix in refused_suffixes}
    return list({id(one): one for suffix, one in LANGUAGES.items() if suffix not in refused}.values())


def _by_suffix(path: bytes) -> Language | None:
    _, dot, suffix = path.lower().rpartition(b".")
    return LANGUAGES.get(dot + suffix)


def _is_script(path: bytes, content: bytes) -> bool:
    name = path.rpartition(b"/")[2]
    return name in _SCRIPTS or name.endswith(_SCRIPT_SUFFIXES) or _STARTS.match(content) is not None


def _kind(content: bytes, languages: Sequence[Language], budget: Budget, *, sure: bool) -> str | None:
    """What a file holds; one that is not `sure` to be a source has to look like one."""
    for language in languages:
        try:
            for reading in language.readings(content):
                if language.hint.search(reading.content):
                    budget.spend(len(reading.content))
                    found = _kind_of(reading, language, sure=sure)
                    if found:
                        return found
        except BudgetError:
            return "more that can be read in several ways than is looked at"
    return None


def _kind_of(reading: Reading, language: Language, *, sure: bool) -> str | None:
    code = code_of(reading.content, language.grammar, reading.seams)
    found = next((kind for kind, search in language.rows if search(code)), None)
    return found if found and (sure or language.program(code)) else None


class _Names:
    """Names of files that are taken in, with the wildcards of a shell."""

    def __init__(self) -> None:
        self._exact: set[bytes] = set()
        self._like: set[str] = set()
        self._joined: re.Pattern[str] | None = None

    def add(self, words: Iterable[bytes]) -> None:
        """Take the last part of each path; one that says next to nothing of a name is none."""
        for word in words:
            name = word.rpartition(b"/")[2]
            if not {*b"*?["} & {*name}:
                self._exact.add(name)
            elif len(_PLAIN.findall(name)) > 1 and len(name) <= _LONGEST:
                self._like.add(translate(name.decode("latin-1")))
                self._joined = None

    def has(self, path: bytes) -> bool:
        """Whether a path's last part is such a name."""
        name = path.rpartition(b"/")[2]
        if name in self._exact:
            return True
        if len(self._like) > _PATTERNS:
            return True
        if self._like and self._joined is None:
            self._joined = re.compile("|".join(sorted(self._like)))
        return self._joined is not None and self._joined.match(name.decode("latin-1")) is not None
