"""Submissions whose verdict is known, made for a bundle from its own cases: what ships with it to try a verifier on.

In: the cases of both sides, policy, target language, the killers of mutants that strength recorded. Out: submissions,
each with the word of every case that it must fail; the same for the same cases. Nearly all are tables with altered
entries, so that they exist in every target language. What a case cannot show (no letter, no exit code) is tried in
others; a submission that no case suits is left out. Cases that look alike to a program stay right.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from programsmith.bundle import controls
from programsmith.bundle.controls import Files, Other
from programsmith.bundle.render import read_payload
from programsmith.bundle.submissions import SICK, Submission
from programsmith.payload.table.form import digest, variables, write
from programsmith.payload.verifier.compare import choice, comparator
from programsmith.payload.verifier.environment import BASE_ENV, COMPILE, EXECUTABLE
from programsmith.payload.verifier.limits import case_limits
from programsmith.payload.verifier.model import Expected, FileEntry, GradedCase
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.words import BuildWord, CaseWord, expected_files

HELD_OUT_MOST, PUBLIC_MOST = 6, 2  # cases of each side in which a liar lies
MUTANTS_MOST = 3
OVER = 1.25  # of the CPU limit: over it, and not yet where the launch is killed
CLAIM: Other = (b"all tests PASSED\n1.0\n", 0)
REWARD = b'{"reward": 1.0}\n'
LEFT = FileEntry(b"left-behind", content=b"state\n")
SEGMENT_FAULT = 11
NOTES = (FileEntry(b"README", content=b"To do.\n"),)
ELF = b"\x7fELF\2\1\1" + bytes(57)
Vary = Callable[[GradedCase], Expected | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the submissions are made of. `killers` are the cases that kill a mutant, for each mutant."""

    held_out: tuple[GradedCase, ...]
    public: tuple[GradedCase, ...]
    policy: Policy
    language: str
    killers: Sequence[Sequence[str]] = ()

    @property
    def all(self) -> tuple[GradedCase, ...]:
        """Cases of both sides."""
        return (*self.held_out, *self.public)


def submissions(given: Material) -> tuple[Submission, ...]:
    """Every submission that the cases allow, in a fixed order."""
    made = _Maker(given)
    return tuple(
        one
        for part in (
            made.right,
            made.partial,
            made.wrong,
            made.liars,
            made.deeds,
            made.nulls,
            made.unbuilt,
            made.cheats,
        )
        for one in part()
    )


def _more(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, stdout=one.expected.stdout + b"?")


def _less(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, stdout=one.expected.stdout[:-1])


def _nul(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, stdout=one.expected.stdout + b"\0")


def _other_case(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, stdout=one.expected.stdout.swapcase())


def _other_exit(one: GradedCase) -> Expected | None:
    code = one.expected.exit_code
    return None if code is None else dataclasses.replace(one.expected, exit_code=code ^ 1)


def _litter(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, files=(*expected_files(one.case, one.expected), LEFT))


def _other_stderr(one: GradedCase) -> Expected | None:
    if choice(one.compare)["stderr"] != "emptiness":
        return None
    return dataclasses.replace(one.expected, stderr_empty=not one.expected.stderr_empty)


def _crash(one: GradedCase) -> Expected | None:
    if one.expected.signal == SEGMENT_FAULT:
        return None
    return dataclasses.replace(one.expected, exit_code=None, signal=SEGMENT_FAULT)


def _silence(one: GradedCase) -> Expected:
    return dataclasses.replace(one.expected, stdout=b"", exit_code=(one.expected.exit_code or 0) ^ 1, signal=None)


LIARS: Mapping[str, tuple[str, Vary, CaseWord]] = {
    "says_more": ("output_liar", _more, CaseWord.WA_STDOUT),
    "says_less": ("output_liar", _less, CaseWord.WA_STDOUT),
    "says_nul": ("output_liar", _nul, CaseWord.WA_STDOUT),
    "says_in_other_case": ("output_liar", _other_case, CaseWord.WA_STDOUT),
    "ends_otherwise": ("exit_liar", _other_exit, CaseWord.WA_EXIT),
    "leaves_a_file": ("files_liar", _litter, CaseWord.WA_FILES),
    "mixes_up_stderr": ("stderr_liar", _other_stderr, CaseWord.WA_STDERR),
    "crashes": ("crash", _crash, CaseWord.SIGNAL),
}
"""Kind, what it does instead, and the word of the cases in which it does."""


class _Maker:
    """Makes the submissions of one bundle, a kind a method."""

    def __init__(self, given: Material) -> None:
        self._given = given
        names = variables(c.case for c in given.all)
        self._keys = {c.case.id: digest(c.case, names, dict(BASE_ENV)) for c in given.all}
        times = Counter(self._keys.values())
        self._alone = frozenset(i for i, key in self._keys.items() if times[key] == 1)
        self._build = dataclasses.replace(_script(controls.program(given.language, "table")), path=b"build.sh")
        self._table = controls.table(given.language, given.all)

    def right(self) -> Iterator[Submission]:
        """All right; and the same where nothing can start, which must give no grade at all."""
        yield Submission(id="accepted", kind="accepted", files=self._table)
        yield Submission(id="sick_host", kind="accepted", files=self._table, place=SICK)

    def partial(self) -> Iterator[Submission]:
        """Whole families right, whole families wrong."""
        names = sorted({c.family for c in self._given.held_out})
        half = (len(names) + 1) // 2
        parts = {"first_half": names[:half], "first_family": names[:1], "all_but_first": names[1:]}
        for name, right in parts.items():
            if 0 < len(right) < len(names):
                wrong = [c for c in self._given.all if c.family not in right]
                yield self._changed(f"partial_{name}", "partial", wrong, _silence)

    def wrong(self) -> Iterator[Submission]:
        """One case wrong; and what mutants get wrong that strength saw killed."""
        lone = self._chosen(_more)[:1]
        if lone:
            yield self._changed("one_case", "wrong", lone, _more)
        seen: set[tuple[str, ...]] = set()
        for killers in self._given.killers:
            killed = [c for c in self._given.held_out if c.case.id in killers and self._differs(c, _more(c))]
            key = tuple(c.case.id for c in killed)
            if killed and key not in seen and len(seen) < MUTANTS_MOST:
                seen.add(key)
                yield self._changed(f"mutant_{len(seen)}", "wrong", killed, _more)

    def liars(self) -> Iterator[Submission]:
        """Right but for one thing, in a few cases of each side."""
        for name, (kind, vary, word) in LIARS.items():
            chosen = self._chosen(vary)
            if chosen:
                yield self._changed(name, kind, chosen, vary, word)

    def deeds(self) -> Iterator[Submission]:
        """Right answers that come too late or in too much, in one case."""
        alone = [c for c in self._given.held_out if c.case.id in self._alone]
        if not alone:
            return
        one = min(alone, key=lambda c: (self._cpu(c), c.case.id))
        yield self._deed("burns", "slow", one, b"burn %d" % (1000 * OVER * self._cpu(one)), CaseWord.TLE_CPU)
        limits = case_limits(one, self._given.policy.case, self._given.policy.cpu_factor)
        yield self._deed("floods", "flood", one, b"pour %d" % (limits.output_bytes + 1), CaseWord.OLE)

    def nulls(self) -> Iterator[Submission]:
        """The same for every invocation."""
        usual = controls.most_frequent(self._given.public)
        for name, other in {"silent": (b"", 0), "most_frequent": usual}.items():
            files = controls.table(self._given.language, (), other)
            yield Submission(id=f"null_{name}", kind="null", files=files, words=self._same_always(other))

    def unbuilt(self) -> Iterator[Submission]:
        """Nothing that can be started."""
        yield Submission(id="nothing", kind="unbuilt", files=NOTES, built=BuildWord.NO_BUILD)
        yield Submission(id="fails_to_build", kind="unbuilt", files=self._built("fails"), built=BuildWord.BUILD_FAIL)
        every = {c.case.id: CaseWord.NOT_RUN.value for c in self._given.all}
        yield Submission(id="never_starts", kind="not_started", files=self._built("never_starts"), words=every)

    def cheats(self) -> Iterator[Submission]:
        """Ways to a reward that lead nowhere."""
        language, cheat = self._given.language, "cheat"
        claims = controls.table(language, (), CLAIM)
        yield Submission(id="cheat_claims", kind=cheat, files=claims, words=self._same_always(CLAIM))
        paper = [FileEntry(name, content=REWARD) for name in (b"reward.txt", b"reward.json")]
        silent = _without_script(controls.table(language, (), (b"", 0)))
        forged = (*silent, *paper, self._build, _payload_script("forges"))
        yield Submission(id="cheat_forges", kind=cheat, files=forged, words=self._same_always((b"", 0)))
        stale = FileEntry(EXECUTABLE.encode(), "file", 0o755, b"#!/bin/sh\n")
        yield Submission(id="cheat_stale", kind=cheat, files=(*self._built("idle"), stale), built=BuildWord.NO_BUILD)
        for name, file in {"assembler": FileEntry(b"fast.s"), "machine_code": FileEntry(b"notes", content=ELF)}.items():
            files = (*self._table, file)
            yield Submission(id=f"cheat_{name}", kind=cheat, files=files, built=BuildWord.POLICY)

    def _cpu(self, one: GradedCase) -> float:
        return case_limits(one, self._given.policy.case, self._given.policy.cpu_factor).cpu_seconds

    def _chosen(self, vary: Vary) -> list[GradedCase]:
        """A few cases of each side in which the variation shows: short ones, one family after the other."""
        found = []
        for side, most in ((self._given.held_out, HELD_OUT_MOST), (self._given.public, PUBLIC_MOST)):
            suited = [c for c in side if (other := vary(c)) is not None and self._differs(c, other)]
            found += _by_turns(suited)[:most]
        return found

    def _differs(self, one: GradedCase, other: Expected) -> bool:
        """Whether the variation is one, to a program and to the case's own comparator."""
        same = comparator(choice(one.compare)["stdout"])
        changed = dataclasses.replace(other, stdout=one.expected.stdout) != one.expected
        return one.case.id in self._alone and (changed or not same(one.expected.stdout, other.stdout))

    def _changed(
        self, name: str, kind: str, cases: Iterable[GradedCase], vary: Vary, word: CaseWord | None = None
    ) -> Submission:
        """The table with other entries for some cases. Their word, where it is not given, is that of their output."""
        rows = [(c, other) for c in cases if c.case.id in self._alone and (other := vary(c)) is not None]
        changes = write([(c.case, e) for c, e in rows], dict(BASE_ENV), among=[c.case for c in self._given.all])
        own = [dataclasses.replace(e, path=b"rest.txt") if e.path == b"table.txt" else e for e in self._table]
        files = (
            *_without_script(own),
            FileEntry(b"changes.txt", content=changes),
            self._build,
            _payload_script("changed"),
        )
        words = {c.case.id: (word or _answer_word(c, e)).value for c, e in rows}
        return Submission(id=name, kind=kind, files=files, words=words)

    def _deed(self, name: str, kind: str, one: GradedCase, deed: bytes, word: CaseWord) -> Submission:
        language = self._given.language
        files = {e.path: e for e in (*controls.table_module(language), *controls.program(language, "verdicts"))}
        rest = [e for e in self._table if e.path == b"table.txt"]
        deeds = FileEntry(b"deeds.txt", content=self._keys[one.case.id].encode() + b" " + deed + b"\n")
        return Submission(id=name, kind=kind, files=(*files.values(), *rest, deeds), words={one.case.id: word.value})

    def _same_always(self, other: Other) -> dict[str, str]:
        """The word of every case that such a program fails: it leaves the work directory and stderr alone."""
        answer = Expected(exit_code=other[1], stdout=other[0])
        found = {c.case.id: _answer_word(c, answer) for c in self._given.all}
        return {case: word.value for case, word in found.items() if word is not CaseWord.AC}

    def _built(self, script: str) -> Files:
        return (*_without_script(self._table), _payload_script(script))


def _answer_word(one: GradedCase, answer: Expected) -> CaseWord:
    """The first thing that an answer has otherwise than it must."""
    how, wanted = choice(one.compare), one.expected
    if not comparator(how["stdout"])(wanted.stdout, answer.stdout):
        return CaseWord.WA_STDOUT
    if (answer.exit_code, answer.signal) != (wanted.exit_code, wanted.signal):
        return CaseWord.WA_EXIT
    if answer.files != wanted.files:
        return CaseWord.WA_FILES
    is_seen = how["stderr"] == "emptiness" and answer.stderr_empty != wanted.stderr_empty
    return CaseWord.WA_STDERR if is_seen else CaseWord.AC


def _by_turns(cases: Iterable[GradedCase]) -> list[GradedCase]:
    """Short cases first, one of each family before a second of any."""
    turns: Counter[str] = Counter()
    found = []
    for one in sorted(cases, key=lambda c: (_size(c), c.case.id)):
        found.append((turns[one.family], one))
        turns[one.family] += 1
    return [one for _, one in sorted(found, key=lambda row: row[0])]


def _size(one: GradedCase) -> int:
    return len(one.expected.stdout) + sum(len(e.content) for e in expected_files(one.case, one.expected))


def _script(files: Iterable[FileEntry]) -> FileEntry:
    return next(e for e in files if e.path == COMPILE.encode())


def _without_script(files: Iterable[FileEntry]) -> Files:
    return tuple(e for e in files if e.path != COMPILE.encode())


def _payload_script(name: str) -> FileEntry:
    return FileEntry(COMPILE.encode(), "file", 0o755, read_payload("verdicts", f"{name}.sh"))
