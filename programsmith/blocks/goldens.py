"""goldens: mine inputs from the source's own tests, capture outputs from the oracle, gate, split, measure.

In: lock, source, candidate, the oracle, its tree and docs. Out: pool.jsonl, split.json, kills.json,
discovery.json (what each case asks and shows). Says too_thin where fewer than `min_kept` cases survive, with every
count.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from programsmith.goldens.capture import Capture
from programsmith.goldens.constants import constants
from programsmith.goldens.evidence import evidence
from programsmith.goldens.pool import Pool, Setting, make_pool
from programsmith.goldens.strength.pool import Material, measure_pool
from programsmith.goldens.variance import Allowance
from programsmith.goldens.variants import Variants, variants
from programsmith.job import Job
from programsmith.miners import MINERS
from programsmith.miners.base import MineContext, MineLimits
from programsmith.payload.verifier.environment import ORACLE, SUBMISSION, WORK
from programsmith.payload.verifier.launcher import Launcher
from programsmith.payload.verifier.model import Limits, canonical
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.golden import Kills, MinedCase
from programsmith.records.lock import Candidate, Lock, OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree, read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Flavour, Toolchain
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view


def run(job: Job) -> Outcome:
    """Make the pool, or say too_thin. Raises InfraError, InputError, PrerequisiteError."""
    with ExitStack() as open_things:
        bench = _Bench(job, open_things)
        counts: dict[str, Counter[str]] = {}
        mined = _mine(job, bench, counts)
        job.say(f"{len(mined)} cases mined")
        made = bench.variants()
        capture = Capture(bench.launcher_of([]), bench.facts, bench.tree, bench.limits("capture"), made.forms)
        pool = make_pool(mined, capture, bench.setting())
        job.say(f"{len(pool.goldens)} cases kept after {pool.launches} launches")
        facts = evidence(mined, counts, pool, made.absent)
        least = job.spec("goldens.min_kept", int)
        if len(pool.goldens) < least:
            return Outcome(word=Word.TOO_THIN, reason=f"{len(pool.goldens)} cases kept, {least} wanted", evidence=facts)
        kills = bench.kills(pool)
        _write(job, pool, kills)
    sides = pool.split
    reason = f"{len(sides.public)} public, {len(sides.held_out)} held out, {len(sides.reserve)} in reserve"
    return Outcome(word=Word.PASS, reason=reason, evidence=facts)


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
    for name in _wanted(job.spec("goldens.miners", object)):
        context = MineContext(tool=bench.facts.tool, licence=licence, limits=caps)
        found.extend(MINERS[name].mine(bench.source, context))
        counts[name] = context.skipped
    return found


def _compare(given: Mapping[str, Any]) -> dict[str, str]:
    """Comparator text per stream: a kind's name, or the canonical JSON of a kind with parameters."""
    return {stream: c if isinstance(c, str) else canonical(c).decode("ascii") for stream, c in given.items()}


def _wanted(miners: Any) -> list[str]:
    if miners == "auto":
        return list(MINERS)
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
        self.lock = codec.load(job.inputs["lock.json"], Lock)
        self.facts = codec.load(job.inputs["facts.json"], OracleFacts)
        self.candidate = codec.load(job.inputs["candidate.json"], Candidate)
        self.source = SourceTree.open(job.inputs["source.tar"])
        self.tree = job.scratch / "oracle"
        self._oracle = tuple(read_tar(job.inputs["oracle.tar"]))
        write_tree(os.fspath(self.tree), self._oracle)

    def launcher_of(self, programs: Sequence[str]) -> Launcher:
        """A launcher whose cases may execute what the oracle may, and `programs`."""
        key = tuple(programs)
        if key not in self._launchers:
            view = run_view(self._toolchain(), (*self.facts.exec_allowed, *programs))
            launcher = open_launcher(view)
            self._open.callback(launcher.close)
            self._launchers[key] = launcher
        return self._launchers[key]

    def limits(self, section: str) -> Limits:
        """Limits of a section of rules/limits.yaml."""
        rule = self._job.rules("limits")[section]
        return Limits(**{name: rule[name] for name in Limits.__dataclass_fields__})

    def variants(self) -> Variants:
        """The honest variants of the oracle."""
        request = replace(self._request(), flavour=Flavour.OTHER_PATH)
        return variants(self.facts, self.tree, self._job.scratch, self.launcher_of, (self.source, request))

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
            queried=self._job.spec("task.oracle_access", str) == "query",
            allowed=Allowance(_compare(self._job.spec("goldens.compare", dict))),
            workers=self._job.workers,
        )

    def kills(self, pool: Pool) -> Kills:
        """Strength of the pool."""
        job = self._job
        material = Material(
            source=self.source,
            lock=self.lock,
            entry=self.candidate.entry,
            facts=self.facts,
            spec_build=job.spec("build", dict),
            tree=self.tree,
            rules={name: job.rules(name) for name in ("toolchains", "limits", "goldens")},
        )
        scratch = job.scratch / "strength"
        scratch.mkdir()
        return measure_pool(material, self.launcher_of([]), pool.goldens, pool.split, scratch, job.workers)

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
