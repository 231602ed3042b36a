"""Cases as the pool holds them: mined, captured, with provenance, strength facts and side."""

from __future__ import annotations

from dataclasses import dataclass, field

from programsmith.payload.verifier.model import Case, Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a case was found. `blob` is the SHA-256 of the file, `line` counts from 1 (0: the whole file).

    `made` says of which case an expansion made it, by which operator and seed; empty for a case as it was found.
    """

    miner: str
    path: bytes
    line: int
    blob: str
    licence: str
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The expectation that the repository's own test states: a cross-check, never a truth. None = not stated.

    `fails` is set where the test only says that the program fails, or does not. `match` says how its stdout is meant:
    `bytes`, `trimmed` (blanks at the end do not count), `json` (a stream of JSON values), `markup` (HTML or XML, blanks
    beside whose tags do not count), `exact` (every byte counts), `contains` (a part of it), `search` (a regular
    expression that is found in it), `whole` (one that fits all of it).
    `merged`: stdout and stderr arrive as one stream. `binding`: it was seen, not stated, so a case that the oracle
    answers otherwise lacks something of its input.
    """

    stdout: bytes | None = None
    exit_code: int | None = None
    stderr: bytes | None = None
    fails: bool | None = None
    match: str = "bytes"
    merged: bool = False
    binding: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedCase:
    """What a miner yields. `group` names the sibling group (same fixture, same source stem).

    Where the source does not state the invocation, the miner yields one case per `template` that could be meant, all
    with one `source`; the one template of a `template_set` that agrees with the oracle is chosen at capture.
    """

    case: Case
    provenance: Provenance
    group: str
    recorded: Recorded = field(default_factory=Recorded)
    template_set: str = ""
    template: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """A captured case. `agreement` is agree, disagree or absent; `tags` are facts such as `near_limit`.

    `compare` holds the comparator of each stream in which the oracle's own runs differed as it allows.
    """

    id: str
    case: Case
    expected: Expected
    provenance: Provenance
    family: str
    group: str
    agreement: str
    cpu_seconds: float
    exec_seen: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    compare: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Ids of the kept pool by side. Disjoint; together they are the pool. `dropped` are out of the task for good."""

    public: tuple[str, ...]
    held_out: tuple[str, ...]
    reserve: tuple[str, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a case asks and shows: names (options, subcommand, directive words) and constants of the oracle.

    `needs` is what the documentation does not show, so that public cases must; `shows` is what the case shows when it
    is public. `options` are its subcommand and options, each as a name. `open_only`: the documentation shows its answer
    whole, so that it may not be held out.
    """

    needs: tuple[bytes, ...]
    shows: tuple[bytes, ...]
    options: tuple[str, ...]
    open_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mutant of the oracle. `killers` are the ids of the first cases that killed it, at most five per side.

    `uncompared`: under a case that does not kill it, it showed what is not compared otherwise than the oracle (the text
    of stderr).
    """

    id: str
    path: str
    line: int
    operator: str
    diff: str
    killers: tuple[str, ...]
    uncompared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kills:
    """Mutants, and the lines that each case executes; strength of any subset is set arithmetic over this.

    `lines` maps a case id to indices into `line_table` (`path:line`); `scope_lines` counts the executable lines in
    scope. `skipped` counts mutants that did not compile or were equivalent to the compiler, by reason.
    """

    mutants: tuple[Mutant, ...]
    line_table: tuple[str, ...]
    lines: dict[str, tuple[int, ...]]
    scope_lines: int
    skipped: dict[str, int]
