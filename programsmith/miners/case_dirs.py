"""One test per folder: a `cmd` line with its recorded streams, or an input with an `args` file and `expected.*`.

A folder whose recorded side passes a filter, or whose command is a script, is handled by name: the first keeps its
input and loses the record, the second is counted `not_simple`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures, ancestors, laid
from programsmith.miners.shell import Lookup, simple_command, tool_lookup, words
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_COMMAND = (b"cmd", b"CMD", b"command", b"cmd.sh", b"run.sh")
_STDOUT = (b"expout", b"stdout-expected.txt", b"stdout.txt", b"stdout", b"expected", b"expected.txt", b"out", b"res")
_STDERR = (b"experr", b"stderr-expected.txt", b"stderr.txt", b"stderr")
_CODE = (b"exit-expected.txt", b"expcode", b"exit_code", b"code")
_FAILS = (b"should-fail", b"should_fail", b"xfail")
_FILTERS = (b"post.sed", b"filter", b"filter.sed", b"stdout-filter", b"stderr-filter")
_ENV = (b"env", b"environment")
_RECORDS = frozenset(_COMMAND + _STDOUT + _STDERR + _CODE + _FAILS + _FILTERS + _ENV + (b"postcmp",))
_WANTED = (b".expect", b".expected")  # what files are compared with afterwards
_RUNNERS = (b".go", b".py", b".sh", b".bash", b".rb", b".pl", b".rs", b".mk", b"Makefile")
_SETS = re.compile(
    rb"""(?:Setenv\(\s*|environ\[|set_var\(\s*|env\(\s*|export +)["']?(\w{1,60})["']?(?:[\]),= \t]+)"""
    rb"""["']([^"'\n$]{0,200})["']"""
)


@dataclass(frozen=True, slots=True)
class _Folder:
    path: bytes
    by_name: dict[bytes, FileEntry]

    def first(self, names: tuple[bytes, ...]) -> FileEntry | None:
        return next((self.by_name[n] for n in names if n in self.by_name), None)

    def stem(self, stem: bytes) -> FileEntry | None:
        """The one file that is called `stem` or `stem.something`."""
        hits = [e for n, e in self.by_name.items() if n == stem or n.startswith(stem + b".")]
        return hits[0] if len(hits) == 1 else None


class CaseDirs:
    """The miner."""

    name = "case_dirs"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every folder that is one test."""
        fixtures = Fixtures(tree, context.limits)
        env = runner_env(tree, context.tool)
        for folder in _folders(tree):
            try:
                yield from self._folder(folder, fixtures, context, env)
            except Skip as skip:
                context.skipped[str(skip)] += 1

    def _folder(
        self, folder: _Folder, fixtures: Fixtures, context: MineContext, env: Mapping[bytes, bytes]
    ) -> Iterator[MinedCase]:
        command = folder.first(_COMMAND)
        if command is not None and (folder.first(_STDOUT) or folder.first(_STDERR)):
            found = self._commanded(folder, command, fixtures, context)
            own = {**env, **_env(folder), **dict(found.case.env)}
            yield replace(found, case=replace(found.case, env=tuple(sorted(own.items()))))
        elif command is None and folder.stem(b"expected") and folder.stem(b"input"):
            yield from self._with_args(folder, fixtures, context)

    def _commanded(self, folder: _Folder, command: FileEntry, fixtures: Fixtures, context: MineContext) -> MinedCase:
        line, text = _only_line(command.content)
        lookup = tool_lookup(context.tool, {b"CASEDIR": folder.path or b"."})
        call = simple_command(text, context.tool, lookup)
        bases = ancestors(folder.path)
        kept = {n: e for n, e in folder.by_name.items() if n not in _RECORDS and not n.endswith(_WANTED)}
        files = {n: laid(e, n) for n, e in kept.items()}
        files.update(fixtures.named_by(call.argv, bases))
        fixtures.check(files.values())
        stdin = fixtures.read(call.stdin_path, bases) if call.stdin_path is not None else call.stdin or b""
        case = Case(argv=call.argv, stdin=stdin, env=call.env, files=tuple(sorted(files.values())))
        recorded = Recorded() if call.merged else _recorded(folder)
        return MinedCase(
            case=case,
            provenance=context.provenance(self.name, command, line),
            group=show(folder.path),
            recorded=recorded,
        )

    def _with_args(self, folder: _Folder, fixtures: Fixtures, context: MineContext) -> Iterator[MinedCase]:
        """The source does not say how the input is handed over: as an operand, or as stdin."""
        subject, expected = folder.stem(b"input"), folder.stem(b"expected")
        assert subject is not None
        assert expected is not None
        args = folder.stem(b"args")
        lookup = tool_lookup(context.tool, {})
        argv = _arguments(args.content, lookup) if args else ()
        at = name_of(subject.path)
        own = {expected.path, *([args.path] if args else [])}
        files = {n: laid(e, n) for n, e in folder.by_name.items() if e.path not in own and n not in _RECORDS}
        files.update(fixtures.named_by(argv, ancestors(folder.path)))
        fixtures.check(files.values())
        entries = tuple(sorted(files.values()))
        rest = tuple(e for e in entries if e.path != at)
        named = Case(argv=argv, files=entries)
        forms = (
            [("named", named)]
            if at in argv
            else [
                ("operand", Case(argv=(*argv, at), files=entries)),
                ("stdin", Case(argv=argv, stdin=subject.content, files=rest)),
            ]
        )
        recorded = Recorded() if folder.first(_FILTERS) else Recorded(stdout=expected.content)
        for template, case in forms:
            yield MinedCase(
                case=case,
                provenance=context.provenance(self.name, subject),
                group=show(folder.path),
                recorded=recorded,
                template_set=f"{self.name}:input" if len(forms) > 1 else "",
                template=template,
                source=show(folder.path),
            )


def runner_env(tree: SourceTree, tool: str) -> dict[bytes, bytes]:
    """Variables of the tool's own that a runner of such folders sets, as literals, for every case.

    A runner is a program that names both files of a case; a variable is the tool's own where it begins with its name.
    """
    prefix, found = tool.upper().encode(), dict[bytes, bytes]()
    for entry in tree.files():
        if entry.path.endswith(_RUNNERS) and _runs_cases(entry.content):
            found.update({m[1]: m[2] for m in _SETS.finditer(entry.content) if m[1].startswith(prefix)})
    return found


def _runs_cases(text: bytes) -> bool:
    """Whether a program names a command file and the file with what should come out, as texts of their own."""
    return all(
        any(b'"%s"' % name in text or b"/%s" % name in text for name in names) for names in (_COMMAND[:2], (b"expout",))
    )


def _env(folder: _Folder) -> dict[bytes, bytes]:
    """Variables that a file beside the command states, one a line."""
    entry = folder.first(_ENV)
    lines = entry.content.split(b"\n") if entry else []
    pairs = [line.strip().removeprefix(b"export ").partition(b"=") for line in lines if b"=" in line]
    if any(not name.strip() or b"\0" in value or b"$" in value for name, _, value in pairs):
        raise Skip("not_simple")
    return {name: value for name, _, value in pairs}


def _folders(tree: SourceTree) -> Iterator[_Folder]:
    by_folder: dict[bytes, dict[bytes, FileEntry]] = {}
    for entry in tree.files():
        by_folder.setdefault(folder_of(entry.path), {})[name_of(entry.path)] = entry
    for path in sorted(by_folder):
        yield _Folder(path, by_folder[path])


def _only_line(text: bytes) -> tuple[int, bytes]:
    """Number and text of the one command line; comments and blank lines aside. Raises Skip `not_simple`."""
    lines = [(n, ln) for n, ln in enumerate(text.replace(b"\r\n", b"\n").split(b"\n"), 1) if ln.strip()]
    lines = [(n, ln) for n, ln in lines if not ln.lstrip().startswith(b"#")]
    whole: list[tuple[int, bytes]] = []
    for number, line in lines:
        if whole and whole[-1][1].endswith(b"\\"):
            whole[-1] = (whole[-1][0], whole[-1][1] + b"\n" + line)
        else:
            whole.append((number, line))
    if len(whole) != 1:
        raise Skip("not_simple")
    return whole[0]


def _arguments(text: bytes, lookup: Lookup) -> tuple[bytes, ...]:
    argv = words(text.replace(b"\r\n", b"\n"), lookup)
    if any(b"\0" in a for a in argv):
        raise Skip("not_simple")
    return argv


def _recorded(folder: _Folder) -> Recorded:
    if folder.first(_FILTERS):
        return Recorded()
    out, err, code = folder.first(_STDOUT), folder.first(_STDERR), folder.first(_CODE)
    return Recorded(
        stdout=out.content if out else None,
        stderr=err.content if err else None,
        exit_code=exit_code_of(code.content) if code else None,
        fails=True if folder.first(_FAILS) else None,
    )
