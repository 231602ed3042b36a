"""The pipeline on one screen: what each block reads, writes and can say. README and the blocks folder agree with it.

An artifact is a path below cache/<name>/. Those that begin with `r/` belong to the revision and live in r<N>/.
A trailing slash marks a directory. `dist/` is the exported bundle, on the shelf of dist/ that the verdict names.
"""

from __future__ import annotations

from dataclasses import dataclass

from programsmith.records.outcome import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One block's row. `spec` and `rules` are the slice: exactly what the block may read, and does.

    Below `approved` lies no field of the file but what a person accepted of a block's proposals.

    `payload` names folders of payload/ whose bytes the block puts into its outputs or runs. `outside` names spec
    fields that hold a path of the project whose content is an input. A step that `closes` its revision runs last,
    over every record settled before it; what it reads may be absent. With `records` a step gets the records too.
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
    closes: bool = False
    records: bool = False


LAUNCH = ("verifier", "init")

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
        spec=("goldens", "build", "task.oracle_access"),
        rules=("toolchains", "limits", "goldens"),
        payload=(*LAUNCH, "coverage", "variants"),
    ),
    Step(
        block="create",
        reads=(
            "lock.json",
            "source.tar",
            "candidate.json",
            "facts.json",
            "oracle.tar",
            "docs.tar",
            "pool.jsonl",
            "split.json",
        ),
        writes=("r/manifest.json", "r/bundle/", "r/split.json", "r/ops.json"),
        says=(Word.PASS,),
        spec=("name", "description", "build", "goldens.compare", "reward", "seal", "budget.agent_wall"),
        rules=("toolchains", "limits", "prompts/instruction.md"),
        payload=("verifier", "init", "bundle", "harbor", "solution", "submission"),
        per_revision=True,
    ),
    Step(
        block="images",
        reads=("r/manifest.json", "r/bundle/"),
        writes=("r/environments.json",),
        says=(Word.PASS, Word.UNBUILDABLE),
        spec=("sandbox",),
        rules=("toolchains",),
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
        reads=("facts.json", "oracle.tar", "candidate.json", "r/manifest.json", "r/bundle/", "r/environments.json"),
        says=(Word.PASS, Word.FAIL),
        rules=("toolchains", "acceptance"),
        payload=(*LAUNCH, "table", "nulls", "submission"),
        per_revision=True,
    ),
    Step(
        block="static",
        reads=("lock.json", "oracle.tar", "r/manifest.json", "r/bundle/", "r/environments.json"),
        writes=("r/static.ok",),
        says=(Word.PASS, Word.FAIL),
        rules=("checks",),
        payload=(*LAUNCH, "table", "probes", "submission"),
        per_revision=True,
    ),
    Step(
        block="gate",
        reads=("lock.json", "candidate.json", "r/ops.json"),
        writes=("verdict.json",),
        says=(Word.SHIP, Word.REVISE, Word.SHELVE_EASY, Word.SHELVE_HARD, Word.DROP, Word.DRAFT, Word.PARKED),
        spec=("name", "horizon", "rollouts", "sweep", "review", "approved.gate"),
        rules=("acceptance", "routes"),
        per_revision=True,
        closes=True,
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
        spec=("name",),
        per_revision=True,
        records=True,
    ),
)

STEP = {step.block: step for step in STEPS}
