"""The pipeline on one screen: what each block reads, writes and can say. README and the blocks folder agree with it.

An artifact is a path below cache/<name>/. Those that begin with `r/` belong to the revision and live in r<N>/, those
with `next/` are the next revision's, those with `t/` belong to one trial and live in r<N>/trials/<who>/<index>/.
A trailing slash marks a directory. `dist/` is the exported bundle, on the shelf of dist/ that the verdict names.
"""

from __future__ import annotations

from dataclasses import dataclass

from programsmith.records.outcome import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One block's row. `spec` and `rules` are the slice: exactly what the block may read, and does.

    Below `approved` lies no field of the file but what a person accepted of a block's proposals; `proven` is where the
    spec was proven besides its own build, `pushed` what a registry has of it.

    `payload` names folders of payload/ whose bytes the block puts into its outputs or runs. `outside` names spec
    fields that hold a path of the project whose content is an input. `records` are the blocks whose records it gets, as
    far as they settled, or EVERY. It waits for blocks of `after`, and for those of `records`, that the spec asks for.

    `when` names spec fields of which one must be set: else there is no such step. `per_trial`: a task for each trial.
    `basis` is the field whose trials the step judges: it runs once in every batch of them. The step that `revises` runs
    where a word sends the revision there; the one that `closes` a revision runs last; what it reads may be absent.
    """

    block: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    says: tuple[Word, ...]
    spec: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    per_revision: bool = False
    records: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    per_trial: bool = False
    basis: str = ""
    revises: bool = False
    closes: bool = False


LAUNCH = ("verifier", "init", "launch")
EVERY = ("*",)
TRIED = ("rollouts", "sweep")  # spec fields that ask for trials
GROUND = ("r/manifest.json", "pool.jsonl", "discovery.json", "kills.json")
BUNDLE = (
    *("lock.json", "source.tar", "candidate.json", "facts.json", "oracle.tar", "docs.tar"),
    *("pool.jsonl", "kills.json"),
)
MADE_OF = ("name", "description", "build", "reward", "seal", "budget.agent_wall")
CASES = ("goldens.public", "goldens.held_out", "goldens.min_kept", "goldens.miners", "goldens.compare")
RENDERED = (*LAUNCH, "bundle", "harbor", "solution", "submission", "table", "verdicts")

STEPS: tuple[Step, ...] = (
    Step(
        block="ingest",
        writes=("lock.json", "source.tar"),
        says=(Word.PASS, Word.REJECT),
        spec=("source",),
        rules=("licenses", "overlap", "toolchains", "limits"),
        outside=("source.path", "source.archive"),
    ),
    Step(
        block="matrix",
        reads=("lock.json", "source.tar"),
        writes=("candidates.json",),
        says=(Word.PASS, Word.NONE_FIT),
        spec=("task.target_languages", "description"),
        rules=("toolchains", "candidates"),
    ),
    Step(
        block="pick",
        reads=("candidates.json",),
        writes=("candidate.json",),
        says=(Word.PICKED, Word.NONE_FIT, Word.PARKED),
        spec=("name", "task.tool", "review", "approved.pick"),
    ),
    Step(
        block="oracle",
        reads=("lock.json", "source.tar", "candidate.json"),
        writes=("facts.json", "oracle.tar", "docs.tar"),
        says=(Word.PASS, Word.UNBUILDABLE, Word.TOOLCHAIN_TOO_OLD),
        spec=("build",),
        rules=("toolchains", "limits"),
        payload=LAUNCH,
    ),
    Step(
        block="goldens",
        reads=("lock.json", "source.tar", "candidate.json", "facts.json", "oracle.tar", "docs.tar"),
        writes=("pool.jsonl", "split.json", "kills.json", "discovery.json"),
        says=(Word.PASS, Word.TOO_THIN),
        spec=(*CASES, "build", "task.oracle_access"),
        rules=("toolchains", "limits", "goldens"),
        payload=(*LAUNCH, "coverage", "variants"),
    ),
    Step(
        block="create",
        reads=(*BUNDLE, "split.json"),
        writes=("r/manifest.json", "r/bundle/", "r/split.json", "r/ops.json"),
        says=(Word.PASS,),
        spec=MADE_OF,
        rules=("toolchains", "limits", "containers", "prompts/instruction.md"),
        payload=RENDERED,
        per_revision=True,
    ),
    Step(
        block="images",
        reads=("r/manifest.json", "r/bundle/"),
        writes=("r/environments.json", "r/places.json"),
        says=(Word.PASS, Word.UNBUILDABLE),
        spec=("sandbox",),
        rules=("toolchains", "containers", "seccomp"),
        payload=(*LAUNCH, "probes", "submission"),
        per_revision=True,
    ),
    Step(
        block="strength",
        reads=("docs.tar", "pool.jsonl", "kills.json", "discovery.json", "r/manifest.json"),
        says=(Word.PASS, Word.TOO_WEAK),
        rules=("acceptance",),
        per_revision=True,
    ),
    Step(
        block="sanity",
        reads=("facts.json", "oracle.tar", "r/manifest.json", "r/bundle/", "r/environments.json"),
        says=(Word.PASS, Word.FAIL),
        rules=("acceptance",),
        payload=(*LAUNCH, "table", "nulls", "submission"),
        per_revision=True,
    ),
    Step(
        block="static",
        reads=("lock.json", "oracle.tar", "r/manifest.json", "r/bundle/", "r/environments.json"),
        writes=("r/static.ok",),
        says=(Word.PASS, Word.FAIL),
        rules=("checks",),
        payload=(*LAUNCH, "table", "probes", "submission", "bundle", "harbor", "solution"),
        per_revision=True,
    ),
    Step(
        block="trial",
        reads=("lock.json", "source.tar", "r/manifest.json", "r/bundle/", "r/places.json", "r/static.ok"),
        writes=("t/artifact.tar", "t/transcript.json"),
        says=(Word.DONE,),
        spec=("generation", "budget.agent_wall", "task.oracle_access"),
        rules=("toolchains", "limits", "containers", "seccomp"),
        payload=LAUNCH,
        after=("strength", "sanity"),
        when=TRIED,
        per_revision=True,
        per_trial=True,
    ),
    Step(
        block="grade",
        reads=("t/artifact.tar", "r/manifest.json", "r/bundle/", "r/environments.json"),
        writes=("t/details.json",),
        says=(Word.DONE,),
        payload=LAUNCH,
        when=TRIED,
        per_revision=True,
        per_trial=True,
    ),
    Step(
        block="rollouts",
        says=(Word.DONE,),
        records=("trial", "grade"),
        when=TRIED,
        basis="rollouts",
        per_revision=True,
    ),
    Step(
        block="triage",
        reads=GROUND,
        says=(Word.DONE, Word.DEFECT),
        rules=("triage",),
        records=("rollouts",),
        when=TRIED,
        basis="rollouts",
        per_revision=True,
    ),
    Step(
        block="calibrate",
        says=(Word.IN_BAND, Word.MORE, Word.HARDEN, Word.EASE, Word.TOO_HARD, Word.BROKEN),
        spec=("difficulty", "sweep"),
        rules=("triage", "batches", "acceptance"),
        records=("triage",),
        when=TRIED,
        basis="rollouts",
        per_revision=True,
    ),
    Step(
        block="probe",
        reads=("lock.json", "r/manifest.json", "r/bundle/", "r/environments.json"),
        says=(Word.CLEAN, Word.HACKED),
        spec=("probe.adversaries",),
        rules=("adversaries", "defences"),
        payload=(*LAUNCH, "adversaries", "table", "submission", "solution"),
        after=("strength", "sanity", "static", "calibrate"),
        when=TRIED,
        per_revision=True,
    ),
    Step(
        block="sweep",
        reads=GROUND,
        says=(Word.IN_BAND, Word.MORE, Word.HARDEN, Word.EASE, Word.TOO_HARD, Word.BROKEN, Word.DEFECT),
        spec=("difficulty", "sweep"),
        rules=("triage", "batches", "acceptance"),
        records=("trial", "grade", "rollouts"),
        after=("calibrate", "probe"),
        when=("sweep",),
        basis="sweep",
        per_revision=True,
    ),
    Step(
        block="gate",
        reads=("lock.json", "candidate.json", "r/ops.json"),
        writes=("verdict.json",),
        says=(Word.SHIP, Word.SHELVE_EASY, Word.SHELVE_HARD, Word.DROP, Word.DRAFT, Word.PARKED),
        spec=("name", "horizon", "rollouts", "sweep", "review", "approved.gate", "proven"),
        rules=("acceptance", "routes"),
        records=EVERY,
        per_revision=True,
        closes=True,
    ),
    Step(
        block="synthesize",
        reads=(*BUNDLE, "discovery.json", "r/manifest.json", "r/split.json", "r/ops.json"),
        writes=("next/manifest.json", "next/bundle/", "next/split.json", "next/ops.json"),
        says=(Word.REVISED, Word.GAVE_UP),
        spec=(*MADE_OF, "goldens.held_out"),
        rules=(
            "toolchains",
            "limits",
            "containers",
            "prompts/instruction.md",
            "operations",
            "triage",
            "goldens",
            "acceptance",
        ),
        payload=RENDERED,
        records=("images", "strength", "sanity", "static", "triage", "calibrate", "probe", "sweep"),
        per_revision=True,
        revises=True,
    ),
    Step(
        block="export",
        reads=(
            "verdict.json",
            "lock.json",
            "source.tar",
            "pool.jsonl",
            "r/manifest.json",
            "r/bundle/",
            "r/environments.json",
        ),
        writes=("dist/",),
        says=(Word.EXPORTED,),
        spec=("name", "pushed"),
        records=EVERY,
        per_revision=True,
    ),
)

STEP = {step.block: step for step in STEPS}
