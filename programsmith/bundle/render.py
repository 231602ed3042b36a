"""Everything that a task holds becomes the files of its bundle, and the manifest that names them.

In: the cases of both sides, documentation, policy, programs, a solution. Out: entries of the bundle's tree, the
manifest. The same ingredients give the same bytes, whatever the place and the time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from programsmith.bundle.cases import folders as case_folders
from programsmith.bundle.harbor import TaskFacts, task_toml
from programsmith.bundle.instruction import Subject, instruction
from programsmith.bundle.manifest import Manifest, digests, families
from programsmith.bundle.places import KEPT, SERVER, folders
from programsmith.bundle.seal import Sealed, seal
from programsmith.bundle.submissions import SEALED, sealed_beside
from programsmith.bundle.tree import APP, CASES, CHECK, DOCS, IGNORING, PUBLIC, REFERENCE, plain
from programsmith.bundle.zipapp import ask_pyz
from programsmith.payload.query.serve import LOGS
from programsmith.payload.verifier.limits import case_limits, timeout_seconds
from programsmith.payload.verifier.model import FileEntry, GradedCase, canonical
from programsmith.payload.verifier.plan import Plan, Policy, encode_cases, encode_plan, encode_policy
from programsmith.payload.verifier.unseal import Purpose

PAYLOAD = Path(__file__).parent.parent / "payload"
SOURCES = tuple(sorted([*(PAYLOAD / "launch").glob("*.[ch]"), *(PAYLOAD / "init").glob("*.h")]))
"""What the launch server is compiled from, where the verifier's image is made."""
CANARIES = (APP, "tests/", "solution/")
"""Folders that carry a canary, one file each."""
LISTS = "/var/lib/apt/lists/*"
FORMAT = 1
OBEYED = re.compile(rb"LD_|PYTHON|NODE_|JAVA|_JAVA|JDK_|CLASSPATH$|PATH$|GCONV_PATH$|LOCPATH$|BASH_ENV$|ENV$|IFS$")
"""Variables that decide what a program loads or starts."""
ASKED = """An agent of this task may ask the original while it works. `solution/reference/` is the build context of the
container that answers, which `environment/docker-compose.yaml` puts beside the agent's: it holds the original, sealed,
and no case. A runner has to take that file whole, with the task's folder around it. One that starts the agent's
container alone has nobody who answers, and there the command that asks ends with exit code 125."""
"""What the README says where the original may be asked."""
SOLUTIONS = {
    "source": "the original's source",
    "wrapper": "a wrapper that carries the original",
    "table": "a table of all answers: the original is more than may be handed in",
}
"""What the README says of each kind of solution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A submission that scores 1: its kind, its tar, its tree digest where that is waived.

    `source`: the original's; `wrapper`: a program that carries the original, which is of another language; `table`: all
    answers, where a wrapper would be more than may be handed in.
    """

    kind: str
    tar: bytes
    waived: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What the two Dockerfiles say, and what the containers get: packages per side, processors, megabytes, seconds.

    `build_packages` are those among them that a build view shows besides the toolchain; `absent` are patterns of paths
    that the packages bring and neither container keeps; `run_packages` start an original of another language.
    """

    base: str
    agent_packages: tuple[str, ...]
    verifier_packages: tuple[str, ...]
    cpus: int
    memory_mb: int
    build_seconds: float
    build_packages: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    run_packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """All that a bundle is made of.

    `compare` says of each stream how it is compared; `submissions` is the archive of those whose verdict is known;
    `owner_secret` seals for the owner; `overview` are paragraphs about the program;
    `queries` says how many queries, and bytes of them, the agent may ask the original, `asking` is the
    template that tells it; `answers` makes the files of the container that answers, beside a solution that is sealed.
    """

    name: str
    description: str
    source_language: str
    licence: str
    public: tuple[GradedCase, ...]
    held_out: tuple[GradedCase, ...]
    docs: tuple[FileEntry, ...]
    policy: Policy
    reward: str
    threshold: float
    slots: int
    compare: Mapping[str, str]
    agent_seconds: float
    image: Image
    template: str
    check: bytes
    verify: bytes
    environment: bytes
    solution: Solution
    submissions: bytes
    owner_secret: bytes | None = None
    overview: tuple[str, ...] = ()
    queries: Mapping[str, int] | None = None
    asking: str = ""
    answers: Callable[[Sealed], Iterable[FileEntry]] = lambda _: ()


def render(given: Ingredients) -> tuple[list[FileEntry], Manifest]:
    """The files of the bundle, in path order, and its manifest."""
    plan = _plan(given)
    app = list(_app(given))
    identity = f"{given.name}@{digests(app)[0]}"
    entries = [
        *app,
        *_tests(given, plan, identity),
        *_solution(given, identity),
        *_canaries(identity),
        *_top(given, plan),
        file_of("environment/Dockerfile", _dockerfile("environment", given.image, given.image.agent_packages)),
    ]
    return sorted(entries), _manifest(given, plan, entries)


def allowed(cases: Iterable[GradedCase]) -> tuple[str, ...]:
    """Executables that any of the cases may start."""
    return tuple(sorted({path for c in cases for path in c.exec_allowed}))


def reference(tool: str) -> str:
    """Where a bundle has the command that asks the original."""
    return REFERENCE + plain(tool.encode()).decode("ascii")


def variables(public: Iterable[GradedCase]) -> tuple[str, ...]:
    """Names that a query may set: those that public cases set, but for what loaders and interpreters obey."""
    names = {name for c in public for name, _ in c.case.env if not OBEYED.match(name)}
    return tuple(sorted(name.decode("ascii") for name in names if name.isascii()))


def canary(identity: str, folder: str) -> str:
    """The value of the canary of one folder of one bundle."""
    return hashlib.sha256(canonical(["canary", identity, folder])).hexdigest()[:32]


def read_payload(*path: str) -> bytes:
    """A file of payload/, as it is."""
    return PAYLOAD.joinpath(*path).read_bytes()


def server_sources(folder: str = "tests/") -> dict[str, bytes]:
    """The sources of the launch server by their path in a bundle, in one build context."""
    return {f"{folder}launcher/{path.parent.name}/{path.name}": path.read_bytes() for path in SOURCES}


def server_words() -> dict[str, str]:
    """Where the verifier's Dockerfile puts the launch server."""
    return {"server": SERVER, "server_folder": KEPT}


def file_of(path: str, content: bytes, mode: int = 0o644) -> FileEntry:
    """A file of a bundle."""
    return FileEntry(path.encode("ascii"), "file", mode, content)


def template(name: str, words: Mapping[str, object]) -> bytes:
    """A file of payload/harbor/ with its words."""
    return Template(read_payload("harbor", name).decode("utf-8")).substitute(words).encode("utf-8")


def dockerfile(name: str, base: str, packages: Iterable[str], absent: Iterable[str], **more: str) -> bytes:
    """A Dockerfile of payload/harbor/ with its words; `absent` are patterns of what the packages bring in vain."""
    words = {"base": base, "packages": " ".join(sorted(set(packages))), "absent": " ".join((LISTS, *absent))}
    return template(f"{name}.Dockerfile", {**words, **more})


def _dockerfile(side: str, image: Image, packages: Iterable[str], **more: str) -> bytes:
    return dockerfile(side, image.base, packages, image.absent, **more)


def _plan(given: Ingredients) -> Plan:
    sides = {"public": given.public, "held_out": given.held_out}
    limits = [case_limits(c, given.policy.case, given.policy.cpu_factor) for c in (*given.public, *given.held_out)]
    return Plan(
        reward=given.reward,
        threshold=given.threshold,
        slots=given.slots,
        timeout_seconds=timeout_seconds(limits, given.policy, slots=given.slots),
        public=tuple(sorted(c.case.id for c in given.public)),
        held_out=tuple(sorted(c.case.id for c in given.held_out)),
        families=families(sides),
        notes={"compare": dict(given.compare), **({"queries": dict(given.queries)} if given.queries else {})},
        waived=given.solution.waived,
    )


def _app(given: Ingredients) -> Iterator[FileEntry]:
    for doc in given.docs:
        if doc.kind == "file" and doc.path.rpartition(b"/")[2].decode("ascii", "replace") not in IGNORING:
            yield FileEntry(DOCS.encode() + plain(doc.path), "file", 0o644, doc.content)
    for entry in case_folders(given.policy.tool, given.public):
        yield FileEntry(CASES.encode() + entry.path, entry.kind, entry.mode, entry.content)
    yield file_of(PUBLIC, encode_cases(given.public))
    yield file_of(APP + "policy.json", encode_policy(given.policy))
    yield file_of(CHECK, given.check, 0o755)
    if given.queries:
        yield file_of(reference(given.policy.tool), ask_pyz(variables(given.public)), 0o755)


def _tests(given: Ingredients, plan: Plan, identity: str) -> Iterator[FileEntry]:
    sealed = seal(
        encode_cases(given.held_out), identity=identity, purpose=Purpose.HELD_OUT, owner_secret=given.owner_secret
    )
    places = " ".join(folders(given.slots))
    packages = (*given.image.verifier_packages, *given.image.run_packages)
    own = _dockerfile("tests", given.image, packages, places=places, **server_words())
    yield file_of("tests/Dockerfile", own)
    yield from (file_of(path, content) for path, content in server_sources().items())
    yield file_of("tests/test.sh", read_payload("harbor", "test.sh"), 0o755)
    yield file_of("tests/verify.pyz", given.verify)
    yield file_of("tests/environment.json", given.environment)
    yield file_of("tests/policy.json", encode_policy(given.policy))
    yield file_of("tests/plan.json", encode_plan(plan))
    yield file_of("tests/public.jsonl", encode_cases(given.public))
    yield file_of("tests/held_out.sealed", sealed.content)
    yield file_of("tests/seal.json", sealed.seal)


def _solution(given: Ingredients, identity: str) -> Iterator[FileEntry]:
    sealed = seal(given.solution.tar, identity=identity, purpose=Purpose.SOLUTION, owner_secret=given.owner_secret)
    yield file_of("solution/solve.sh", read_payload("harbor", "solve.sh"), 0o755)
    yield file_of("solution/open.py", read_payload("solution", "open.py"))
    yield file_of("solution/solution.sealed", sealed.content)
    yield file_of(SEALED, sealed_beside(sealed, given.submissions, given.owner_secret))
    yield file_of("solution/seal.json", sealed.seal)
    yield from given.answers(sealed)


def _canaries(identity: str) -> Iterator[FileEntry]:
    for folder in CANARIES:
        yield file_of(f"{folder}CANARY", template("CANARY", {"value": canary(identity, folder)}))


def _top(given: Ingredients, plan: Plan) -> Iterator[FileEntry]:
    subject = Subject(
        description=given.description,
        policy=given.policy,
        plan=plan,
        compare=given.compare,
        exec_allowed=allowed((*given.public, *given.held_out)),
        build_packages=given.image.build_packages,
        overview=given.overview,
        queries=given.queries,
        variables=variables(given.public) if given.queries else (),
        asking=given.asking,
    )
    yield file_of("instruction.md", instruction(given.template, subject))
    yield file_of("task.toml", task_toml(_facts(given, plan)))
    yield file_of("README.md", template("README.md", _readme(given, plan)))


def _facts(given: Ingredients, plan: Plan) -> TaskFacts:
    language = " or ".join(given.policy.languages)
    return TaskFacts(
        name=given.name,
        description=f"Re-implement {given.policy.tool} in {language}; match its behaviour exactly.",
        keywords=("re-implementation", "command-line", *given.policy.languages),
        agent_seconds=given.agent_seconds,
        verifier_seconds=plan.timeout_seconds,
        build_seconds=given.image.build_seconds,
        cpus=given.image.cpus,
        memory_mb=given.image.memory_mb,
        owner_sealed=given.owner_secret is not None,
        metadata=_metadata(given, plan),
        logs={"source": LOGS, "service": "reference"} if given.queries else None,
    )


def _metadata(given: Ingredients, plan: Plan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "tool": given.policy.tool,
        "target_language": "/".join(given.policy.languages),
        "source_language": given.source_language,
        "licence": given.licence,
        "solution": given.solution.kind,
        "seal": "inline" if given.owner_secret is None else "owner",
        "reward": plan.reward,
        "threshold": plan.threshold,
        "public": len(plan.public),
        "held_out": len(plan.held_out),
        "families": len(plan.families),
        **({"oracle_access": "query", **given.queries} if given.queries else {}),
    }


def _readme(given: Ingredients, plan: Plan) -> dict[str, object]:
    inline = "The secret of the sealed files lies beside them, in tests/ and solution/ only."
    sealed = inline if given.owner_secret is None else "The secret of the sealed files is the owner's."
    return {
        "name": given.name,
        "tool": given.policy.tool,
        "language": " or ".join(given.policy.languages),
        "public_count": len(plan.public),
        "held_out_count": len(plan.held_out),
        "family_count": len(plan.families),
        "licence": given.licence,
        "solution": SOLUTIONS[given.solution.kind],
        "sealed": f"{sealed}\n\n{ASKED}" if given.queries else sealed,
    }


def _manifest(given: Ingredients, plan: Plan, entries: Iterable[FileEntry]) -> Manifest:
    tree, files = digests(entries)
    return Manifest(
        tree=tree,
        files=files,
        public=plan.public,
        held_out=plan.held_out,
        families={name: dict(row) for name, row in plan.families.items()},
        tool=given.policy.tool,
        target_language="/".join(given.policy.languages),
        exec_allowed=allowed((*given.public, *given.held_out)),
        solution=given.solution.kind,
        waived=given.solution.waived,
        build_packages=given.image.build_packages,
        run_packages=given.image.run_packages,
        source_language=given.source_language,
        overview=given.overview,
    )
