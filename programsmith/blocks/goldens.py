"""goldens: mine inputs from the source's own tests, capture outputs from the oracle, gate, split, measure.

In: lock, source, candidate, the oracle, its tree and docs. Out: pool.jsonl, split.json, kills.json, discovery.json
(what each case asks and shows). A model, where the spec names one, proposes inputs; what they should show is captured
like every other expected side, and they pass the same gates. Says too_thin where fewer than `min_kept` cases survive,
with every count.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from programsmith.errors import InputError, plain
from programsmith.goldens.capture import Capture
from programsmith.goldens.constants import constants
from programsmith.goldens.evidence import evidence
from programsmith.goldens.expand import EXPANSION, SURVIVORS, Expansion
from programsmith.goldens.gates.recall import counted, recall_families
from programsmith.goldens.pool import Pool, Setting, make_pool
from programsmith.goldens.proposals import MODEL, inputs, proposals
from programsmith.goldens.strength.pool import Material, Workbench, opened
from programsmith.goldens.variance import Allowance
from programsmith.goldens.variants import Variants, variants
from programsmith.job import Job
from programsmith.miners import ASKED_FOR, MINERS, WHEN_THIN
from programsmith.miners.base import Bench, MineContext, MineLimits
from programsmith.miners.staged import Stage
from programsmith.models.ask import Asked, questions
from programsmith.models.request import Section
from programsmith.payload.query.original import read_to_run
from programsmith.payload.verifier.environment import ORACLE, SUBMISSION, WORK
from programsmith.payload.verifier.launcher import Launcher, Request, Result
from programsmith.payload.verifier.model import Limits, canonical
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.golden import Kills, MinedCase
from programsmith.records.lock import Candidate, Lock, OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.clock import clock_fault
from programsmith.sources.tree import SourceTree, read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view, shell_view

SHARE = 20000  # bytes of each part that a model is shown
NONE_NEW = "cases: none of them is a plain new input"
COVERAGE = "coverage"
"""What `goldens.expand` says where a thin pool is expanded, and where inputs are sought that kill surviving mutants."""


def run(job: Job) -> Outcome:
    """Make the pool, or say too_thin. Raises InfraError, InputError, PrerequisiteError."""
    with ExitStack() as open_things:
        bench = _Bench(job, open_things)
        bench.require_closed()
        counts: dict[str, Counter[str]] = {}
        mined = _mine(job, bench, counts)
        job.say(f"{len(mined)} cases mined")
        made = bench.variants()
        job.say(f"{len(made.forms)} other forms of the program made")
        capture = Capture(bench.launcher_of([]), bench.facts, bench.tree, bench.limits("capture"), made.forms)
        setting = bench.setting()
        pool = make_pool(mined, capture, setting)
        job.say(f"{len(pool.goldens)} cases kept after {pool.launches} launches")
        mined, pool = _widened(bench, counts, mined, pool, capture, setting)
        families = recall_families(pool.goldens, job.rules("goldens")["recall"]["letters"])
        facts = {
            **evidence(mined, counts, pool, made.absent),
            "clock": setting.clock_fault or "turned",
            "recall": {"families": families, "cases": sum(families.values())},
        } | ({"model": bench.asked.evidence} if bench.asked else {})
        if thin := _thin(job, pool):
            return Outcome(word=Word.TOO_THIN, reason=thin, evidence=facts)
        _write(job, pool, bench.kills(pool))
    sides = pool.split
    reason = f"{len(sides.public)} public, {len(sides.held_out)} held out, {len(sides.reserve)} in reserve"
    return Outcome(word=Word.PASS, reason=reason, evidence=facts)


def _widened(
    bench: _Bench,
    counts: dict[str, Counter[str]],
    mined: list[MinedCase],
    pool: Pool,
    capture: Capture,
    setting: Setting,
) -> tuple[list[MinedCase], Pool]:
    """The pool with inputs that a model proposes, then with mutated ones, as far as the spec asks for them."""
    for name, made in ((MODEL, bench.proposed), (EXPANSION, bench.expansion), (SURVIVORS, bench.provoked)):
        more = made(pool, capture)
        if more is None:
            continue
        counts[name] = more.tried
        if more.cases:
            mined = [*mined, *more.cases]
            pool = make_pool(mined, capture, setting)
            bench.say(f"{len(pool.goldens)} cases kept after {pool.launches} launches")
    return mined, pool


def _thin(job: Job, pool: Pool) -> str:
    """Why a pool is too thin; empty where it is not. Families of digest-like output do not count in full."""
    rule, kept = job.rules("goldens")["recall"], len(pool.goldens)
    least = job.spec("goldens.min_kept", int)
    enough = counted(kept, recall_families(pool.goldens, rule["letters"]), rule["share"])
    if enough >= least:
        return ""
    few = f"{kept} cases kept, {least} wanted"
    return f"{few}; {kept - enough} of them show digests and do not count" if enough < kept else few


def _write(job: Job, pool: Pool, kills: Kills) -> None:
    codec.dump_lines(job.outputs["pool.jsonl"], pool.goldens)
    codec.dump(job.outputs["split.json"], pool.split)
    codec.dump(job.outputs["kills.json"], kills)
    codec.dump(job.outputs["discovery.json"], pool.discovery)


def _mine(job: Job, bench: _Bench, counts: dict[str, Counter[str]]) -> list[MinedCase]:
    """Cases of the miners that the spec wants; `counts` takes their refusals."""
    limits = job.rules("goldens")["mining"]
    caps = MineLimits(**{name: limits[name] for name in MineLimits.__dataclass_fields__})
    licence = licence_of(bench.lock)
    found: list[MinedCase] = []
    wanted = job.spec("goldens.miners", object)
    for name in _wanted(wanted):
        if wanted == "auto" and name in WHEN_THIN and count_tests(found) >= limits["recorder"]["thin"]:
            continue
        context = MineContext(
            tool=bench.facts.tool,
            licence=licence,
            limits=caps,
            options=bench.facts.options,
            stage=bench.stage(),
            bench=bench.suite(),
        )
        found.extend(MINERS[name].mine(bench.source, context))
        counts[name] = context.skipped
    return found


def count_tests(found: Iterable[MinedCase]) -> int:
    """How many tests cases stand for: of the invocations that are tried for one, at most one is kept."""
    return len({m.source or m.case.id for m in found})


def _compare(given: Mapping[str, Any]) -> dict[str, str]:
    """Comparator text per stream: a kind's name, or the canonical JSON of a kind with parameters."""
    return {stream: c if isinstance(c, str) else canonical(c).decode("ascii") for stream, c in given.items()}


def _wanted(miners: Any) -> list[str]:
    if miners == "auto":
        return [name for name in MINERS if name not in ASKED_FOR]
    return list(miners)


def licence_of(lock: Lock) -> Callable[[bytes], str]:
    """The licence of a path: that of the nearest folder with a statement of its own, else the whole's."""
    nearest: dict[str, str] = {}
    for fact in lock.licences:
        nearest.setdefault(os.path.dirname(fact.path), fact.expression)
    nearest[""] = lock.licence

    def of(path: bytes) -> str:
        folder = os.path.dirname(path.decode("utf-8", "surrogateescape"))
        while folder and folder not in nearest:
            folder = os.path.dirname(folder)
        return nearest[folder]

    return of


class _Bench:
    """The job's inputs, opened: source, facts, the oracle's tree on disk, launchers that close with the job."""

    def __init__(self, job: Job, open_things: ExitStack) -> None:
        self._job = job
        self._open = open_things
        self._launchers: dict[tuple[str, ...], Launcher] = {}
        self._work: Workbench | None = None
        self.asked: Asked | None = None
        self.lock = codec.load(job.inputs["lock.json"], Lock)
        self.facts = codec.load(job.inputs["facts.json"], OracleFacts)
        self.candidate = codec.load(job.inputs["candidate.json"], Candidate)
        self.source = SourceTree.open(job.inputs["source.tar"])
        self.tree = job.scratch / "oracle"
        self._oracle = tuple(read_tar(job.inputs["oracle.tar"]))
        write_tree(os.fspath(self.tree), self._oracle)

    def require_closed(self) -> None:
        """Refuse an original that could show its own text to who asks it, unless the spec takes that.

        Raises InputError.
        """
        read = read_to_run(self._oracle, self._toolchain().suffixes)
        if read and self._job.spec("task.oracle_access", str) == "query":
            name = read[0].path.decode("utf-8", "backslashreplace")
            raise InputError(
                "task.oracle_access: wanted `none` or `query_at_risk` for an original that is read to run "
                f"({plain(name)}), got `query`: whoever asks it may make it show its own text; "
                "write `query_at_risk` to take that (docs/queries.md)"
            )

    def launcher_of(self, programs: Sequence[str]) -> Launcher:
        """A launcher whose cases may execute what the oracle may, and `programs`."""
        key = tuple(programs)
        if key not in self._launchers:
            view = run_view(self._toolchain(), (*self.facts.exec_allowed, *programs))
            launcher = open_launcher(view)
            self._open.callback(launcher.close)
            self._launchers[key] = launcher
        return self._launchers[key]

    def stage(self) -> Stage:
        """Where shell text of the source is played, with the tool as a stub; its launcher opens at the first script."""

        def play(request: Request) -> Result:
            key = ("shell",)
            if key not in self._launchers:
                self._launchers[key] = open_launcher(shell_view(self._toolchain()))
                self._open.callback(self._launchers[key].close)
            return self._launchers[key].run(request)

        return Stage(play=play, limits=self.limits("mining"))

    def limits(self, section: str) -> Limits:
        """Limits of a section of rules/limits.yaml."""
        rule = self._job.rules("limits")[section]
        return Limits(**{name: rule[name] for name in Limits.__dataclass_fields__})

    def variants(self) -> Variants:
        """The other forms of the oracle."""
        own = (self.source, self._request())
        return variants(self.facts, self.tree, self._job.scratch, self.launcher_of, own)

    def suite(self) -> Bench:
        """What a miner needs that runs the source's own suite."""
        return Bench(
            request=self._request(),
            facts=self.facts,
            oracle=self.tree,
            limits=self.limits("suite"),
            rule=self._job.rules("goldens")["mining"]["recorder"],
            say=self._job.say,
        )

    def setting(self) -> Setting:
        """What the gates judge by."""
        rule = self._job.rules("goldens")
        found = constants(self.source, self._oracle, self.lock.language, rule["size"]["constant_bytes"])
        return Setting(
            facts=self.facts,
            rule=rule,
            public=self._job.spec("goldens.public", float),
            held_out=self._job.spec("goldens.held_out", int),
            docs=tuple(read_tar(self._job.inputs["docs.tar"])),
            constants=found,
            marks=self._marks(rule["ignored_names"]),
            queried=self._job.spec("task.oracle_access", str) != "none",
            allowed=Allowance(_compare(self._job.spec("goldens.compare", dict))),
            workers=self._job.workers,
            clock_fault=clock_fault(),
        )

    def say(self, line: str) -> None:
        """Where the block's lines go."""
        self._job.say(line)

    @property
    def expands(self) -> bool:
        """Whether the spec asks for cases that are made of others."""
        return self._job.spec("goldens.expand", str) == COVERAGE

    def expansion(self, pool: Pool, capture: Capture) -> Expansion | None:
        """Cases that are made of the pool's, as far as that is thin; None where the spec asks for none."""
        if not self.expands:
            return None
        if not 0 < len(pool.goldens) < self._job.rules("goldens")["expansion"]["enough"]:
            return Expansion()
        found = self.work().expand(pool.goldens, capture)
        self.say(f"{len(found.cases)} of {found.tried['run']} mutated inputs reach what none before them did")
        return found

    def proposed(self, pool: Pool, _capture: Capture) -> Expansion | None:
        """Inputs that a model proposes; None where the spec names none. What was asked is `asked`."""
        job = self._job
        own = questions(job, "goldens", job.spec("models.goldens", object))
        if own is None:
            return None
        names = {"program": self.facts.tool, "subcommands": self.facts.subcommands, "options": self.facts.options}
        docs = [entry.content for entry in read_tar(job.inputs["docs.tar"]) if entry.kind == "file"]
        shown = [
            Section(name="names", content=json.dumps(names, indent=1), most=SHARE),
            Section(name="cases that there are", content=inputs(pool.goldens, pool.split.public), most=SHARE),
            *(Section(name="documentation", content=text, most=SHARE) for text in docs),
        ]
        known = [g.case for g in pool.goldens]

        def cases(told: Any) -> Expansion:
            return proposals(told, own.model, self.lock.licence, known)

        self.asked = own.put(shown, lambda told: "" if cases(told).cases else NONE_NEW)
        found = cases(self.asked.answer) if self.asked.answer else Expansion()
        job.say(f"{len(found.cases)} inputs proposed by {own.model}")
        return found

    def work(self) -> Workbench:
        """The oracle as something to trace and mutate, built when it is first asked for."""
        if self._work is None:
            made = opened(self._material(), self.launcher_of([]), self._scratch("strength"), self._job.workers)
            self._work = self._open.enter_context(made)
        return self._work

    def provoked(self, pool: Pool, capture: Capture) -> Expansion | None:
        """Cases under which mutants die that no closed case kills; None where the spec asks for no expansion.

        The mutants are others than those that measure the pool: its score stays one of programs that it never saw.
        """
        if not self.expands or not pool.goldens:
            return None
        practice = self.work().practice(pool.goldens, pool.split)
        found = self.work().provoke(pool.goldens, pool.split, practice, capture)
        self.say(f"{len(found.cases)} mutants that survived practice die under inputs made for them")
        return found

    def kills(self, pool: Pool) -> Kills:
        """Strength of the pool."""
        return self.work().kills(pool.goldens, pool.split)

    def _scratch(self, name: str) -> Path:
        folder = self._job.scratch / name
        folder.mkdir()
        return folder

    def _material(self) -> Material:
        job = self._job
        return Material(
            source=self.source,
            lock=self.lock,
            entry=self.candidate.entry,
            facts=self.facts,
            spec_build=job.spec("build", dict),
            tree=self.tree,
            rules={name: job.rules(name) for name in ("toolchains", "limits", "goldens")},
        )

    def _toolchain(self) -> Toolchain:
        return toolchains(self._job.rules("toolchains"))[self.lock.language]

    def _request(self) -> BuildRequest:
        return BuildRequest(
            toolchain=self._toolchain(),
            lock=self.lock,
            entry=self.candidate.entry,
            spec_build=self._job.spec("build", dict),
            limits=self.limits("build"),
        )

    def _marks(self, ignored: Iterable[str]) -> Mapping[str, Sequence[bytes]]:
        """Byte strings that no expected side may show, by word."""
        job = self._job
        names = {"host_name": socket.gethostname(), "user_name": getpass.getuser()}
        shown = {word: [name.encode()] for word, name in names.items() if name not in ignored}
        folders = [job.scratch, job.project, job.store, job.dist, Path(__file__).parent.parent]
        return {
            "host_path": [os.fsencode(f.resolve()) for f in folders],
            "oracle_path": [ORACLE.encode(), SUBMISSION.encode(), b"/opt/variant"],
            "work_path": [WORK.encode()],
            **shown,
        }
