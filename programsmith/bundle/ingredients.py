"""What a bundle is made of, read from artifacts, spec and rules; the same for the first revision and the next.

In: lock, source, candidate, facts, oracle, documentation and pool of the spec, a split of the pool. Out: Ingredients.
An expected side comes from the pool and from nowhere else. Refuses an unknown target language, and owner sealing
without the secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from programsmith.bundle.answers import Answers, given
from programsmith.bundle.cases import graded, in_words
from programsmith.bundle.controls import pack, received_digest, table, wrapper
from programsmith.bundle.places import environment
from programsmith.bundle.render import Image, Ingredients, Solution, allowed
from programsmith.bundle.seal import Sealed
from programsmith.bundle.submissions import Scale, archive
from programsmith.bundle.verdicts import Material, submissions
from programsmith.bundle.zipapp import check_pyz, verify_pyz
from programsmith.errors import InputError, PrerequisiteError
from programsmith.payload.verifier.limits import build_limits
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.plan import BuildRule, CaseRule, Policy, ReceiptRule
from programsmith.payload.verifier.policy import findings
from programsmith.payload.verifier.tree import TreeError
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.records import codec
from programsmith.records.golden import Golden, Kills, Split
from programsmith.records.lock import Candidate, Lock, OracleFacts
from programsmith.sources.tree import read_tar
from programsmith.spec.duration import seconds
from programsmith.toolchains.compile_script import is_submittable, source_submission
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.recipe import BuildRequest

T = TypeVar("T")
Cases = tuple[GradedCase, ...]


class Fields(Protocol):
    """Fields of a spec by dotted path, checked to be of a kind."""

    def __call__(self, path: str, kind: type[T], /) -> T:
        """The value at `path`."""


class Work(Protocol):
    """What of a job the ingredients are read from."""

    @property
    def spec(self) -> Fields:
        """Fields of the spec."""

    @property
    def rules(self) -> Callable[[str], Any]:
        """Rule files by name."""

    @property
    def inputs(self) -> Mapping[str, Path]:
        """Artifacts by name."""

    @property
    def scratch(self) -> Path:
        """A folder that is removed afterwards."""

    @property
    def owner_secret(self) -> bytes | None:
        """What opens bundles that their owner seals."""


def ingredients(job: Work, split: Split) -> Ingredients:
    """Everything that the bundle of `split` is made of. Raises InputError, PrerequisiteError."""
    lock = codec.load(job.inputs["lock.json"], Lock)
    candidate = codec.load(job.inputs["candidate.json"], Candidate)
    known = toolchains(job.rules("toolchains"))
    target = _target(known, candidate.target_language)
    limits = job.rules("limits")
    policy = _policy(candidate.tool, target, known, limits)
    public, held_out = _sides(job, split, known[candidate.source_language])
    reward, threshold = _reward(job.spec("reward", object))
    return Ingredients(
        name=job.spec("name", str),
        description=job.spec("description", str),
        source_language=candidate.source_language,
        licence=lock.licence,
        public=public,
        held_out=held_out,
        docs=tuple(read_tar(job.inputs["docs.tar"])),
        policy=policy,
        reward=reward,
        threshold=threshold,
        slots=limits["task"]["slots"],
        compare=in_words((*public, *held_out)),
        agent_seconds=seconds(job.spec("budget.agent_wall", object), "budget.agent_wall"),
        image=_image(target, known[candidate.source_language], job, _shared_packages(job, candidate)),
        template=job.rules("prompts/instruction.md"),
        check=check_pyz(),
        verify=verify_pyz(),
        environment=_environment(job, known, (*public, *held_out), candidate),
        solution=_solution(job, candidate, policy, (*public, *held_out)),
        submissions=_submissions(job, public, held_out, policy),
        owner_secret=_owner_secret(job),
        queries=_queries(job),
        asking=job.rules("prompts/asking.md"),
        answers=_answers(job, public, known[candidate.source_language]),
    )


def _target(known: Mapping[str, Toolchain], language: str) -> Toolchain:
    if language not in known:
        raise InputError(f"task.target_languages: wanted one of {', '.join(sorted(known))}, got {language!r}")
    return known[language]


def _policy(tool: str, target: Toolchain, known: Mapping[str, Toolchain], limits: Mapping[str, Any]) -> Policy:
    others = {s for t in known.values() if t is not target for s in t.suffixes} - set(target.suffixes)
    return Policy(
        tool=tool,
        languages=(target.language,),
        refused_suffixes=tuple(sorted(others)),
        build_programs=target.build_programs,
        run_programs=target.run_programs,
        cpu_factor=target.cpu_factor,
        case=CaseRule(**limits["case"]),
        build=BuildRule(**limits["build"]),
        submission=ReceiptRule(**limits["submission"]),
        compiled=target.compiled,
    )


def _sides(job: Work, split: Split, source: Toolchain) -> tuple[Cases, Cases]:
    pool = {g.id: g for g in codec.load_lines(job.inputs["pool.jsonl"], Golden)}

    def own(path: str) -> bool:
        return is_own(source, path)

    def side(ids: Iterable[str]) -> Cases:
        return tuple(graded(pool[i], own) for i in sorted(ids))

    return side(split.public), side(split.held_out)


def is_own(tc: Toolchain, path: str) -> bool:
    """Whether an executable is what the language itself starts, under whatever version its name carries."""
    name = path.rpartition("/")[2]
    return name in tc.run_programs or (tc.interpreter is not None and name.startswith(tc.interpreter.program))


def _reward(value: Any) -> tuple[str, float]:
    """`binary`, `fraction` or `{threshold: x}` as (mode, threshold)."""
    return ("threshold", float(value["threshold"])) if isinstance(value, Mapping) else (value, 1.0)


def _queries(job: Work) -> Mapping[str, int] | None:
    """What an agent may ask of the original; None where the spec lets it ask nothing."""
    if job.spec("task.oracle_access", str) == "none":
        return None
    meter: Mapping[str, int] = job.rules("limits")["query"]
    return {name: meter[name] for name in ("queries", "bytes")}


def _answers(job: Work, public: Cases, source: Toolchain) -> Callable[[Sealed], Iterable[FileEntry]]:
    """What makes the container that answers queries; no files where there are none."""
    if job.spec("task.oracle_access", str) == "none":
        return lambda _: ()
    docs = (e.content for e in read_tar(job.inputs["docs.tar"]) if e.kind == "file")
    return Answers(
        given=given(job, public, docs),
        source=source,
        exec_allowed=codec.load(job.inputs["facts.json"], OracleFacts).exec_allowed,
        containers=job.rules("containers"),
        owner_secret=_owner_secret(job),
    ).files


def _shared_packages(job: Work, candidate: Candidate) -> tuple[str, ...]:
    """Packages that the original is built with: the task offers them where it is to be written in the same language."""
    same = candidate.target_language == candidate.source_language
    return tuple(job.spec("build", dict).get("packages") or ()) if same else ()


def _environment(job: Work, known: Mapping[str, Toolchain], cases: Cases, candidate: Candidate) -> bytes:
    """How the verifier's container isolates launches."""
    shared, slots = _shared_packages(job, candidate), job.rules("limits")["task"]["slots"]
    source, target = known[candidate.source_language], known[candidate.target_language]
    other = None if source is target else source
    return environment(target, allowed(cases), shared, slots, job.rules("containers"), other)


def _image(target: Toolchain, source: Toolchain, job: Work, shared: tuple[str, ...]) -> Image:
    rule, containers = job.rules("limits")["task"], job.rules("containers")
    packages = containers["packages"]
    there = {*target.packages, *packages["verifier"]}
    return Image(
        base=target.public_base,
        agent_packages=(*target.packages, *shared, *packages["agent"]),
        verifier_packages=(*target.packages, *shared, *packages["verifier"]),
        build_packages=shared,
        cpus=rule["cpus"],
        memory_mb=rule["memory_mb"],
        build_seconds=float(rule["image_seconds"]),
        run_packages=() if source is target else tuple(p for p in source.run_packages if p not in there),
        absent=tuple(containers["absent"].get(target.language, ())),
    )


def _solution(job: Work, candidate: Candidate, policy: Policy, cases: Cases) -> Solution:
    """The locked source where the target is its language and its toolchain builds it alone, else a wrapper.

    All answers where that is too large.
    """
    source = toolchains(job.rules("toolchains"))[candidate.source_language]
    is_own = candidate.target_language == source.language and is_submittable(source)
    if is_own and not _system_packages(job, candidate):
        return Solution(kind="source", tar=pack(_source(job, candidate, policy)), waived="")
    facts = codec.load(job.inputs["facts.json"], OracleFacts)
    files = wrapper(candidate.target_language, facts.tool, read_tar(job.inputs["oracle.tar"]), facts.program)
    try:
        waived = received_digest(files, job.scratch / "wrapper", policy.submission)
    except TreeError:
        return Solution(kind="table", tar=pack(table(candidate.target_language, cases)), waived="")
    return Solution(kind="wrapper", tar=pack(files), waived=waived)


def _system_packages(job: Work, candidate: Candidate) -> tuple[str, ...]:
    """Packages of the original's build system, which no task has."""
    system = codec.load(job.inputs["lock.json"], Lock).build_system
    return toolchains(job.rules("toolchains"))[candidate.source_language].build_systems[system].packages


def _source(job: Work, candidate: Candidate, policy: Policy) -> Iterator[FileEntry]:
    """The locked source, apart from files that the policy refuses."""
    request = BuildRequest(
        toolchain=toolchains(job.rules("toolchains"))[candidate.source_language],
        lock=codec.load(job.inputs["lock.json"], Lock),
        entry=candidate.entry,
        spec_build=job.spec("build", dict),
        limits=build_limits(policy.build),
    )
    files = source_submission(request, read_tar(job.inputs["source.tar"]), read_tar(job.inputs["oracle.tar"]))
    refused = {f.path for f in findings(files, policy)}
    return (e for e in files if e.kind == "file" and e.path not in refused)


def _submissions(job: Work, public: Cases, held_out: Cases, policy: Policy) -> bytes:
    """The archive of the submissions whose verdict is known."""
    reward, threshold = _reward(job.spec("reward", object))
    given = Material(
        public=public, held_out=held_out, policy=policy, language=policy.languages[0], killers=_killers(job)
    )
    cases = {"held_out": held_out, "public": public}
    return archive(submissions(given), Scale(cases=cases, reward=reward, threshold=threshold), pack)


def _killers(job: Work) -> tuple[tuple[str, ...], ...]:
    return tuple(mutant.killers for mutant in codec.load(job.inputs["kills.json"], Kills).mutants)


def _owner_secret(job: Work) -> bytes | None:
    if job.spec("seal", str) == "inline":
        return None
    if job.owner_secret is None:
        raise PrerequisiteError(f"seal: owner: wanted the secret as hexadecimal digits in {SECRET_NAME}, got none")
    return job.owner_secret
