"""The pipeline on one screen: what each block reads, writes and can say. README and the blocks folder agree with it.

An artifact is a path below cache/<name>/. Those that begin with `r/` belong to the revision and live in r<N>/, those
with `next/` are the next revision's, those with `t/` belong to one trial and live in r<N>/trials/<who>/<index>/.
A trailing slash marks a directory. `dist/` is the exported bundle, on the shelf of dist/ that the verdict names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from programsmith.models.ask import answer_rule, prompt_rule
from programsmith.records.outcome import Word
from programsmith.records.trial import Assignment


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

    `attack_rules` are read where the spec names an adversary of its own in `probe.model`: by a step of single trials in
    each of its tries, by the step that `attacks` to judge them. That reads `attack_reads` too, then gets the records of
    the tries, and writes `attack_writes`; they come all at once, in no batch.

    `model` is the word of `models` under which the spec may name who decides in place of the rule. `judges`: then it
    gets the transcripts of all trials too.

    `asks` and `logs` are further inputs and outputs where the spec lets agents query the original.
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
    model: str = ""
    judges: bool = False
    asks: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    attacks: bool = False
    attack_rules: tuple[str, ...] = ()
    attack_reads: tuple[str, ...] = ()
    attack_writes: tuple[str, ...] = ()


LAUNCH = ("verifier", "init", "launch")
BUILT = ("build", "entry")  # what starts and frames the builds of some languages
EVERY = ("*",)
TRIED = ("rollouts", "sweep")  # spec fields that ask for trials
ATTACKS = "attacks"
"""The basis of the tries of an adversary of the spec's own."""
BASES = (*TRIED, ATTACKS)
GROUND = ("r/manifest.json", "pool.jsonl", "discovery.json", "kills.json")
BUNDLE = (
    *("lock.json", "source.tar", "candidate.json", "facts.json", "oracle.tar", "docs.tar"),
    *("pool.jsonl", "kills.json"),
)
MADE_OF = ("name", "description", "build", "reward", "seal", "budget.agent_wall", "task.oracle_access")
CASES = (
    "goldens.public",
    "goldens.held_out",
    "goldens.min_kept",
    "goldens.miners",
    "goldens.expand",
    "goldens.compare",
)
RENDERED = (*LAUNCH, *BUILT, "bundle", "harbor", "query", "solution", "submission", "table", "verdicts")

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
        spec=("task.target_languages", "description", "models.matrix"),
        rules=("toolchains", "candidates"),
        model="matrix",
    ),
    Step(
        block="pick",
        reads=("candidates.json",),
        writes=("candidate.json",),
        says=(Word.PICKED, Word.NONE_FIT, Word.PARKED),
        spec=("name", "task.tool", "review", "approved.pick", "models.pick"),
        model="pick",
    ),
    Step(
        block="oracle",
        reads=("lock.json", "source.tar", "candidate.json"),
        writes=("facts.json", "oracle.tar", "docs.tar"),
        says=(Word.PASS, Word.UNBUILDABLE, Word.TOOLCHAIN_TOO_OLD),
        spec=("build",),
        rules=("toolchains", "limits"),
        payload=(*LAUNCH, *BUILT),
    ),
    Step(
        block="goldens",
        reads=("lock.json", "source.tar", "candidate.json", "facts.json", "oracle.tar", "docs.tar"),
        writes=("pool.jsonl", "split.json", "kills.json", "discovery.json"),
        says=(Word.PASS, Word.TOO_THIN),
        spec=(*CASES, "build", "task.oracle_access", "models.goldens"),
        model="goldens",
        rules=("toolchains", "limits", "goldens"),
        payload=(*LAUNCH, *BUILT, "coverage", "record", "variants"),
    ),
    Step(
        block="create",
        reads=(*BUNDLE, "split.json"),
        writes=("r/manifest.json", "r/bundle/", "r/split.json", "r/ops.json"),
        says=(Word.PASS,),
        spec=(*MADE_OF, "models.create"),
        model="create",
        rules=("toolchains", "limits", "containers", "prompts/instruction.md", "prompts/asking.md"),
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
        payload=(*LAUNCH, "table", "probes", "submission", "bundle", "harbor", "query", "solution", "stage"),
        per_revision=True,
    ),
    Step(
        block="trial",
        reads=("lock.json", "source.tar", "r/manifest.json", "r/bundle/", "r/places.json", "r/static.ok"),
        writes=("t/artifact.tar", "t/transcript.json"),
        says=(Word.DONE,),
        spec=("generation", "budget.agent_wall", "task.oracle_access"),
        rules=("toolchains", "limits", "containers", "seccomp", "agents", "models", "gateway", "failures"),
        payload=(*LAUNCH, "bridge", "harness"),
        asks=("facts.json", "oracle.tar"),
        logs=("t/queries.jsonl",),
        attack_rules=("prompts/adversary.md",),
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
        spec=("models.judge",),
        rules=("triage",),
        records=("rollouts",),
        model="judge",
        judges=True,
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
        rules=("adversaries", "defences", "hacks", "toolchains"),
        payload=(*LAUNCH, "adversaries", "bridge", "table", "submission", "solution"),
        after=("strength", "sanity", "static", "calibrate"),
        attacks=True,
        attack_rules=("limits",),
        attack_reads=(
            *("source.tar", "candidate.json", "facts.json", "oracle.tar", "docs.tar"),
            *("t/artifact.tar", "t/transcript.json"),
        ),
        attack_writes=("r/hacks.json",),
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
        spec=(*MADE_OF, "goldens.held_out", "models.synthesize"),
        model="synthesize",
        rules=(
            "toolchains",
            "limits",
            "containers",
            "prompts/instruction.md",
            "prompts/asking.md",
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
TRANSCRIPT = "t/transcript.json"
UNASKED = "none"
"""The value of task.oracle_access under which nobody asks the original."""


def asking(step: Step, values: Mapping[str, Any]) -> Step:
    """The step as a spec has it: one that a model decides depends on what it is asked, too; any other does not.

    One in which agents query the original has that, and a log of them.
    """
    if step.asks and values.get("task", {}).get("oracle_access", UNASKED) != UNASKED:
        step = replace(step, reads=(*step.reads, *step.asks), writes=(*step.writes, *step.logs))
    if step.attacks and attacker_of(values):
        return attacked(step)
    if not step.model or not model_of(step, values):
        return step
    return replace(
        step,
        rules=(*step.rules, *asked_rules(step)),
        reads=(*step.reads, TRANSCRIPT) if step.judges else step.reads,
        records=(*step.records, "trial") if step.judges else step.records,
    )


def attacker_of(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The entry of the adversary that the spec names; None where it names none."""
    found: Mapping[str, Any] | None = values.get("probe", {}).get("model")
    return found


def attacked(step: Step) -> Step:
    """The step that attacks, where the spec names an adversary: it waits for its tries and judges them."""
    return replace(
        step,
        reads=(*step.reads, *step.attack_reads),
        writes=(*step.writes, *step.attack_writes),
        rules=(*step.rules, *step.attack_rules),
        records=(*step.records, "trial", "grade"),
        basis=ATTACKS,
    )


def of_trial(step: Step, trial: Assignment) -> Step:
    """The step of a single trial: an adversary is told what no other is."""
    return replace(step, rules=(*step.rules, *step.attack_rules)) if trial.adversary and step.attack_rules else step


def widest(step: Step, values: Mapping[str, Any]) -> Step:
    """The step as a spec has it, with all that any of its tasks depends on."""
    own = asking(step, values)
    return replace(own, rules=(*own.rules, *step.attack_rules)) if step.per_trial and attacker_of(values) else own


def asked_rules(step: Step) -> tuple[str, ...]:
    """Rules on which a step depends where a model decides it."""
    return ("asks", prompt_rule(step.block), answer_rule(step.block)) if step.model else ()


def model_of(step: Step, values: Mapping[str, Any]) -> str | None:
    """The model that the spec names for the step; None where its rule decides."""
    found: str | None = values.get("models", {}).get(step.model) if step.model else None
    return found
