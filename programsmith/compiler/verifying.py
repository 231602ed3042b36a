"""What `verify` holds an exported task to: one line for each thing, with what differs, by name.

In: what lies at a path of no trust at all, a trusted key, the owner's secret. Out: lines. What they say is worked out
again from the bytes that lie there: digests, signature, label, seals, and with `run` the two grades.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from programsmith.bundle.answers import ANSWERS_NOTE
from programsmith.bundle.label import ODD, PROOF, SEALS, Difference, belongs, disagreements
from programsmith.bundle.manifest import Manifest, digests
from programsmith.bundle.present import Present
from programsmith.bundle.provided import provided
from programsmith.bundle.regrade import WANTED, regrade
from programsmith.bundle.render import CANARIES, canary
from programsmith.bundle.signature import MANIFEST, SIGNATURE, Named, read_manifest, signer
from programsmith.bundle.tree import APP, write_bundle
from programsmith.checks import consumers, harbor_validity, sealing, verifier_program
from programsmith.checks.base import Row, Scene
from programsmith.errors import Exit, InputError, PrerequisiteError, ProgramSmithError, boundary
from programsmith.payload.verifier.plan import decode_plan, decode_policy
from programsmith.payload.verifier.unseal import SECRET_NAME, decode_seal
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.rulebook.load import packaged_schema

ABSENT = "nothing"
LABEL, SUBMISSIONS = "label", "submissions"


class State(StrEnum):
    """How a thing stands."""

    OK = "ok"
    DIFFERS = "differs"
    UNPROVEN = "unproven"  # nothing speaks against it, and nothing that is trusted for it
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that was looked at. `exit` is the command's where it could not be looked at."""

    name: str
    state: State
    text: str
    differences: tuple[Difference, ...] = ()
    exit: Exit = Exit.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to hold it to: a trusted public key, the owner's secret, the rules; `run` grades too."""

    key: bytes | None
    secret: bytes | None
    rules: Callable[[str], Any]
    run: bool = False


def lines(found: Present, asked: Asked, folder: Path) -> Iterator[Line]:
    """Every line about what was found, each as soon as it is known. `folder` is empty and takes copies."""
    said = [_looked("files", lambda: files_line(found)), _looked("signature", lambda: _signature(found, asked.key))]
    yield from said
    bundle, own = folder / "bundle", _without_roots(found)
    write_bundle(bundle, [e for path, e in own.files.items() if belongs(path)])
    mine = replace(asked, secret=asked.secret if _owners(found) else None)
    for name, look in LOOKS.items():
        seen = found if name == LABEL else own
        line = _looked(name, lambda look=look, seen=seen: look(seen, mine, bundle))  # type: ignore[misc]
        said.append(line)
        yield line
    if asked.run:
        yield from _graded(own, mine, bundle, holds=all(line.state is not State.DIFFERS for line in said))


def _without_roots(found: Present) -> Present:
    """What was found but for root file systems: what is in them is for the signature alone to say."""
    try:
        given = provided(json.loads(found.files[PROOF].content))
    except ODD:
        return found
    roots = given.roots if given else ()
    return replace(found, files={path: e for path, e in found.files.items() if path not in roots})


def exit_of(said: list[Line]) -> Exit:
    """What the command ends with: nothing differs, something does, or something that was asked for was not seen."""
    if any(line.state is State.DIFFERS for line in said):
        return Exit.ENDED
    return Exit.worst([line.exit for line in said])


def _looked(name: str, look: Callable[[], Line]) -> Line:
    """The line of one look. What is not formed as an export is differs from it, and is no fault of ours."""
    try:
        with boundary(InputError, "not formed as an export is", *ODD, OSError):
            return look()
    except ProgramSmithError as fault:
        return Line(name=name, state=State.DIFFERS, text=str(fault))


def _of(name: str, differences: list[Difference], good: str, bad: str) -> Line:
    state, text = (State.DIFFERS, bad) if differences else (State.OK, good)
    return Line(name=name, state=state, text=text, differences=tuple(differences))


def files_line(found: Present) -> Line:
    """Whether the files are those of the manifest. Raises InputError where there is none to read."""
    if MANIFEST not in found.files:
        raise InputError(f"{MANIFEST} is missing: nothing says what the task consists of")
    _, wanted = read_manifest(found.files[MANIFEST].content)
    there = {path: Named.of(e) for path, e in found.files.items() if path not in {MANIFEST, SIGNATURE}}
    differences = [
        Difference(
            path=path, wanted=str(wanted.get(path, ABSENT)), got=str(there.get(path, found.odd.get(path, ABSENT)))
        )
        for path in sorted(wanted.keys() | there.keys())
        if wanted.get(path) != there.get(path)
    ]
    told = {d.path for d in differences}
    differences += [
        Difference(path=path, wanted=str(wanted.get(path, ABSENT)), got=what)
        for path, what in sorted(found.odd.items())
        if path not in told
    ]
    return _of("files", differences, f"{len(there)} files are those of {MANIFEST}", f"{len(differences)} differ")


def _signature(found: Present, key: bytes | None) -> Line:
    if SIGNATURE not in found.files or MANIFEST not in found.files:
        raise InputError(
            f"{SIGNATURE if MANIFEST in found.files else MANIFEST} is missing: nobody vouches for this task"
        )
    own = signer(found.files[MANIFEST].content, found.files[SIGNATURE].content)
    if key is None:
        text = f"signed by {own.hex()}; whether that is whom you trust is for --key to say"
        return Line(name="signature", state=State.UNPROVEN, text=text)
    wrong = [] if own == key else [Difference(path=SIGNATURE, wanted=f"the key {key.hex()}", got=own.hex())]
    return _of("signature", wrong, f"signed by the trusted key {own.hex()}", "signed by another key")


def _label(found: Present, asked: Asked, bundle: Path) -> Line:  # noqa: ARG001 - every look has the same form
    task, _ = read_manifest(found.files[MANIFEST].content)
    differences = disagreements(found.files)
    name = json.loads(found.files[PROOF].content)["name"]
    if task.rpartition("/")[2] != name:
        differences.append(Difference(path=f"{MANIFEST}: task", wanted=name, got=task))
    return _of("label", differences, "says what its evidence and the bundle say", "does not follow from what lies here")


def _harbor(found: Present, asked: Asked, bundle: Path) -> Line:
    return _checked("harbor", harbor_validity.run(_scene(found, asked, bundle), {}), "a valid Harbor task")


def _verifier(found: Present, asked: Asked, bundle: Path) -> Line:
    """Another version's programs are no fault of a task; a run uses this installation's."""
    row = verifier_program.run(_scene(found, asked, bundle), {})
    state = State.OK if row.passed else State.UNPROVEN
    return Line(name="verifier", state=state, text=row.reason if row.passed else f"{row.reason}; not this version's")


def _sealing(found: Present, asked: Asked, bundle: Path) -> Line:
    differences = list(_identity(found))
    if differences:
        return _of("sealing", differences, "", "not sealed for this bundle")
    if _owners(found) and asked.secret is None:
        text = f"for this bundle, by its owner; whether it opens cannot be said without the secret in {SECRET_NAME}"
        return Line(name="sealing", state=State.UNPROVEN, text=text)
    row = sealing.run(_scene(found, asked, bundle), _parameters(asked, "sealing"))
    return _checked("sealing", row, "two sealed parts")


def _consumers(found: Present, asked: Asked, bundle: Path) -> Line:
    return _checked("consumers", consumers.run(_scene(found, asked, bundle), _parameters(asked, "consumers")), "")


def _parameters(asked: Asked, check: str) -> Mapping[str, Any]:
    """What the rule tells a check; nothing where the rule does not list it."""
    return next((row.get("parameters", {}) for row in asked.rules("checks")["checks"] if row["id"] == check), {})


LOOKS: dict[str, Callable[[Present, Asked, Path], Line]] = {
    LABEL: _label,
    "harbor": _harbor,
    "consumers": _consumers,
    "verifier": _verifier,
    "sealing": _sealing,
}


def _checked(name: str, row: Row, wanted: str) -> Line:
    faults = [Difference(path=name, wanted=wanted, got=fault) for fault in row.evidence.get("faults", ())]
    return _of(name, faults, row.reason, row.reason)


def _identity(found: Present) -> Iterator[Difference]:
    """All seals and canaries are of the bundle whose agent's side lies here."""
    name = json.loads(found.files[PROOF].content)["name"]
    canaries = {f"{folder}CANARY" for folder in CANARIES}
    app = [e for path, e in found.files.items() if path.startswith(APP) and path not in canaries]
    identity = f"{name}@{digests(app)[0]}"
    for path in (*SEALS, *({ANSWERS_NOTE} & found.files.keys())):
        said = decode_seal(found.files[path].content).identity
        if said != identity:
            yield Difference(path=path, wanted=f"the identity {identity}", got=said)
    for folder in CANARIES:
        value, path = canary(identity, folder), f"{folder}CANARY"
        if value.encode("ascii") not in found.files[path].content:
            yield Difference(path=path, wanted=f"the value {value}", got="another one")


def _owners(found: Present) -> bool:
    """Whether the owner holds the secret; False too where no seal can be read, which other lines say."""
    try:
        return any(decode_seal(found.files[path].content).secret is None for path in SEALS)
    except ODD:
        return False


def _scene(found: Present, asked: Asked, bundle: Path) -> Scene:
    """The bundle as checks see it. Its manifest is made of what lies there: what differs, other lines say."""
    own = {path: e for path, e in found.files.items() if belongs(path)}
    tree, files = digests(own.values())
    plan, policy = decode_plan(own["tests/plan.json"].content), decode_policy(own["tests/policy.json"].content)
    proof = json.loads(found.files[PROOF].content)
    manifest = Manifest(
        tree=tree,
        files=files,
        public=plan.public,
        held_out=plan.held_out,
        families={name: dict(row) for name, row in plan.families.items()},
        tool=policy.tool,
        target_language="/".join(policy.languages),
        exec_allowed=(),
        solution=proof["solution"],
        waived=plan.waived,
        build_packages=tuple(proof["build_packages"]),
        source_language=proof["source"]["language"],
    )
    return Scene(
        bundle=bundle,
        environments=bundle / "tests" / "environment.json",
        manifest=manifest,
        lock=codec.decode(Lock, proof["source"]),
        oracle=(),
        schema=packaged_schema("harbor_task"),
        scratch=bundle.parent,
        owner_secret=asked.secret,
    )


def _graded(found: Present, asked: Asked, bundle: Path, *, holds: bool) -> Iterator[Line]:
    """A line for each grade, or why there is none."""
    try:
        if not holds:
            raise InputError("what differs above has to be mended before this task is graded")
        if _owners(found) and asked.secret is None:
            raise PrerequisiteError(f"sealed by its owner: give the secret as hexadecimal digits in {SECRET_NAME}")
        with boundary(InputError, "not formed as an export is", *ODD, OSError):
            proof = json.loads(found.files[PROOF].content)
            got_all = regrade(bundle, proof, asked.rules, bundle.parent, asked.secret)
    except ProgramSmithError as fault:
        names = (*WANTED, SUBMISSIONS)
        yield from (Line(name=name, state=State.NOT_RUN, text=str(fault), exit=fault.exit) for name in names)
        return
    for name, wanted in WANTED.items():
        got = got_all.grades[name]
        text = f"reward {got.reward:g}, {got.word}: {got.reason}"
        wrong = Difference(path=name, wanted=f"reward {wanted:g}", got=f"reward {got.reward:g}")
        yield _of(name, [wrong] if got.reward != wanted else [], text, text)
    odd = [
        Difference(path=name, wanted="the verdict that the task tells of it", got=fault)
        for name, fault in got_all.submissions.items()
        if fault
    ]
    count = f"{len(got_all.submissions)} sealed submissions"
    yield _of(SUBMISSIONS, odd, f"{count} get what they must", f"{len(odd)} of {count} get something else")
