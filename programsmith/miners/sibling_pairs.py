"""Pairs of files that share a stem: an input, and what should come out. The invocation is a template of the folder.

Per-stem files may add options, a recorded stderr or an exit code. What should come out is known by its suffix, which
may follow the input's whole name; a stem may have a recorded stderr alone. In a folder of tests where many stems have
files of the same two suffixes, each may be what the tool makes of the other, as it stands or with one of its options.
Files of settings, a stem's own or one for all stems that have none, may be handed over by an option that names them.
Which template is meant is settled by agreement with the oracle; a stem whose input cannot be told from its other files
is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.driver_templates import Template, driver_templates
from programsmith.miners.fixtures import Fixtures, ancestors, laid
from programsmith.miners.shell import simple_command, tool_lookup, words
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_EXPECTED = (
    *(b".out", b".expected", b".golden", b".right", b".exp", b".ok", b".stdout"),
    *(b".want", b".gold", b".ref", b".correct", b".output"),
)
_OPTIONS = (b".args", b".opts", b".options", b".flags")
_COMMAND = (b".cmd",)
_STDERR = (b".err", b".stderr", b".experr")
_CODE = (b".code", b".exit", b".status")
_INPUT = (b".in", b".input", b".stdin", b".actual", b".txt")
_NOT_INPUT = _EXPECTED + _OPTIONS + _COMMAND + _STDERR + _CODE
_TOLD = frozenset(_EXPECTED + _STDERR)  # either says what a run should print
_OUTCOME = frozenset(_EXPECTED + _STDERR + _CODE)
_NEVER_LAID = _EXPECTED + _STDERR + _CODE + _COMMAND  # what tests state of a run
_SETTINGS = (b".cfg", b".conf", b".config", b".ini", b".rc")
_LOGS = (b".log", b".msg")  # what a test keeps besides, in a form of its own
_SHARED = (b"default", b"defaults", b"common", b"config")  # stems of settings that hold where a stem has none
_SETS = re.compile(r"--?(c|conf(ig)?(-?file)?|settings?|options?|rc(-?file)?)")
_MIN_PAIRS = 2
_MEANT = {b".json": "json", b".html": "markup", b".htm": "markup", b".xml": "markup", b".svg": "markup"}  # by suffix
_Stems = dict[bytes, dict[bytes, FileEntry]]
_MIN_TWINS, _MOST_OPTIONS = 5, 40  # stems of a folder with the same two suffixes; options that a template may have
_TESTS = re.compile(rb"(^|/)(tests?[^/]*|t|specs?|fixtures?|cases|samples|golden)(/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """How inputs of a folder may be handed over: as drivers do, or with settings; `settings` are for those without."""

    drivers: Sequence[Template]
    setters: Sequence[str]
    settings: FileEntry | None


class SiblingPairs:
    """The miner."""

    name = "sibling_pairs"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every stem that has an expected side, in folders that hold at least two."""
        fixtures = Fixtures(tree, context.limits)
        for folder, stems in sorted(_stems(tree).items()):
            yield from self._twins(folder, stems, fixtures, context)
            pairs = {s: p for s, p in stems.items() if not p.keys().isdisjoint(_TOLD) and p.keys() - _OUTCOME}
            if len(pairs) < _MIN_PAIRS:
                context.skipped["lone_pair"] += len(pairs)
                continue
            ways = _Ways(
                drivers=driver_templates(tree, folder, context.tool),
                setters=[o for o in context.options if _SETS.fullmatch(o)] if _has_settings(pairs) else [],
                settings=next(filter(None, (_first(stems.get(stem, {}), _SETTINGS) for stem in _SHARED)), None),
            )
            for _, parts in sorted(pairs.items()):
                try:
                    yield from self._pair(folder, parts, ways, fixtures, context)
                except Skip as skip:
                    context.skipped[str(skip)] += 1

    def _pair(
        self,
        folder: bytes,
        parts: dict[bytes, FileEntry],
        ways: _Ways,
        fixtures: Fixtures,
        context: MineContext,
    ) -> Iterator[MinedCase]:
        suffix = next(x for x in _EXPECTED + _STDERR if x in parts)
        stem = show(parts[suffix].path.removesuffix(suffix))
        command = _first(parts, _COMMAND)
        if command is not None:
            forms, subject = [("command", self._commanded(command, folder, fixtures, context))], command
        else:
            subject = _subject(parts)
            options = _first(parts, _OPTIONS)
            argv = words(options.content, tool_lookup(context.tool, {})) if options else ()
            beside = fixtures.quoted_in(subject, name_of(parts[suffix].path.removesuffix(suffix)), _NEVER_LAID)
            named = {**beside, **fixtures.named_by(argv, ancestors(folder))}
            forms = [] if options else [_driven(subject, t, beside, fixtures) for t in ways.drivers]
            if name_of(subject.path) not in argv:
                settings = _own_settings(parts, subject) or ways.settings
                forms += [_set(subject, settings, option, argv, named) for option in ways.setters]
            forms += _templates(subject, argv, named)
            fixtures.check(forms[-1][1].files)
        for template, case in forms:
            yield MinedCase(
                case=case,
                provenance=context.provenance(self.name, subject),
                group=stem,
                recorded=_recorded(parts),
                template_set=f"{self.name}:{show(folder)}:{show(suffix)}" if len(forms) > 1 else "",
                template=template,
                source=stem,
            )

    def _twins(self, folder: bytes, stems: _Stems, fixtures: Fixtures, context: MineContext) -> Iterator[MinedCase]:
        """Cases of stems with files of which no suffix says what it is: each may be the input of each."""
        for (suffix, wanted), members in _twins(folder, stems):
            for stem in members:
                subject, source = stems[stem][suffix], show(folder + b"/" + stem)
                forms = _templates(subject, (), fixtures.quoted_in(subject, stem, (wanted, *_NEVER_LAID)))
                try:
                    fixtures.check(forms[-1][1].files)
                except Skip as skip:
                    context.skipped[str(skip)] += 1
                    continue
                for option in context.options[:_MOST_OPTIONS]:
                    argv = (option.encode(), name_of(subject.path))
                    forms.append((f"operand {option}", Case(argv=argv, files=forms[1][1].files)))
                for template, case in forms:
                    yield MinedCase(
                        case=case,
                        provenance=context.provenance(self.name, subject),
                        group=source,
                        recorded=Recorded(stdout=stems[stem][wanted].content, match=_MEANT.get(wanted, "trimmed")),
                        template_set=f"{self.name}:{show(folder)}:{show(suffix)} {show(wanted)}",
                        template=template,
                        source=f"{source} {show(suffix)} {show(wanted)}",
                    )

    def _commanded(self, command: FileEntry, folder: bytes, fixtures: Fixtures, context: MineContext) -> Case:
        call = simple_command(command.content, context.tool, tool_lookup(context.tool, {}))
        bases = ancestors(folder)
        stdin = fixtures.read(call.stdin_path, bases) if call.stdin_path is not None else call.stdin or b""
        files = fixtures.named_by(call.argv, bases)
        return Case(argv=call.argv, stdin=stdin, env=call.env, files=tuple(sorted(files.values())))


def _driven(
    subject: FileEntry, template: Template, beside: dict[bytes, FileEntry], fixtures: Fixtures
) -> tuple[str, Case]:
    """The input handed over as the folder's driver does it."""
    at = name_of(subject.path)
    named = fixtures.named_by((*template.before, *template.after), ancestors(folder_of(subject.path)))
    files = {**beside, **named} if template.stdin else {**beside, **named, at: laid(subject, at)}
    stdin = subject.content if template.stdin else b""
    return template.name, Case(argv=template.argv(at), stdin=stdin, files=tuple(sorted(files.values())))


def _set(
    subject: FileEntry,
    settings: FileEntry | None,
    option: str,
    argv: tuple[bytes, ...],
    named: dict[bytes, FileEntry],
) -> tuple[str, Case]:
    """The input with its settings handed over by an option; a test that has none is run without."""
    at = name_of(subject.path)
    files = {**named, at: laid(subject, at)}
    before: tuple[bytes, ...] = ()
    if settings is not None:
        where = name_of(settings.path)
        files[where], before = laid(settings, where), (option.encode(), where)
    return f"operand {option} SETTINGS", Case(argv=(*before, *argv, at), files=tuple(sorted(files.values())))


def _own_settings(parts: dict[bytes, FileEntry], subject: FileEntry) -> FileEntry | None:
    own = _first(parts, _SETTINGS)
    return None if own == subject else own


def _has_settings(pairs: _Stems) -> bool:
    """Whether some stem has settings beside an input."""
    return any(len(p.keys() - {*_NOT_INPUT, *_LOGS}) > 1 and _first(p, _SETTINGS) for p in pairs.values())


def _templates(subject: FileEntry, argv: tuple[bytes, ...], named: dict[bytes, FileEntry]) -> list[tuple[str, Case]]:
    """The ways in which the input may be handed over; the options settle it where they name it."""
    at = name_of(subject.path)
    with_input = tuple(sorted({**named, at: laid(subject, at)}.values()))
    if at in argv:
        return [("named", Case(argv=argv, files=with_input))]
    return [
        ("stdin", Case(argv=argv, stdin=subject.content, files=tuple(sorted(named.values())))),
        ("operand", Case(argv=(*argv, at), files=with_input)),
    ]


def _stems(tree: SourceTree) -> dict[bytes, _Stems]:
    """Files by folder, stem and suffix; what is expected of `a.x` may be called `a.x.out`."""
    found: dict[bytes, _Stems] = {}
    for entry in tree.files():
        name = name_of(entry.path)
        stem, dot, suffix = name.rpartition(b".")
        if stem and dot:
            found.setdefault(folder_of(entry.path), {}).setdefault(stem, {})[b"." + suffix] = entry
    for folder, stems in found.items():
        for name, parts in stems.items():
            subject = tree.get(folder + b"/" + name if folder else name)
            if subject is not None and subject.kind == "file" and not parts.keys() - _NOT_INPUT:
                parts.setdefault(_INPUT[0], subject)
    return found


def _twins(folder: bytes, stems: _Stems) -> Iterator[tuple[tuple[bytes, bytes], list[bytes]]]:
    """Ordered pairs of suffixes of unknown meaning, and the stems that have both, where tests lie and many do."""
    if not _TESTS.search(folder):
        return
    parts = {stem: own for stem, own in stems.items() if own.keys().isdisjoint(_NOT_INPUT)}
    often = Counter(pair for own in parts.values() for pair in permutations(sorted(own), 2))
    for pair, count in sorted(often.items()):
        if count >= _MIN_TWINS:
            yield (pair[0], pair[1]), sorted(stem for stem, own in parts.items() if own.keys() >= set(pair))


def _subject(parts: dict[bytes, FileEntry]) -> FileEntry:
    """The input among a stem's files: the known suffix, else the only one left but settings and logs. Raises Skip."""
    known = _first(parts, _INPUT)
    if known is not None:
        return known
    left = {s: e for s, e in parts.items() if s not in _NOT_INPUT}
    if len(left) > 1:
        left = {s: e for s, e in left.items() if s not in _SETTINGS + _LOGS}
    if len(left) != 1:
        raise Skip("ambiguous_input")
    return next(iter(left.values()))


def _recorded(parts: dict[bytes, FileEntry]) -> Recorded:
    expected, err, code = _first(parts, _EXPECTED), _first(parts, _STDERR), _first(parts, _CODE)
    return Recorded(
        stdout=expected.content if expected else None,
        stderr=err.content if err else None,
        exit_code=exit_code_of(code.content) if code else None,
    )


def _first(parts: dict[bytes, FileEntry], suffixes: tuple[bytes, ...]) -> FileEntry | None:
    return next((parts[s] for s in suffixes if s in parts), None)
