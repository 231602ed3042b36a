"""tests/environment.json: how the verifier's container isolates a launch, where nobody can make namespaces.

In: a toolchain, what cases may start, the container rule. Out: the configuration of the `uid` launcher for both stages,
by the usual names of the distribution that the image is made from; the same bytes on every host. A path that an image
has not allows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from programsmith.payload.verifier.environment import SUBMISSION, WORK
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import canonical
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.views import encode_view
from programsmith.toolchains.model import Toolchain

KIND = "uid"
SLOTS = "/slots"
TREE = f"{SLOTS}/tree"
"""Where a built tree of scripts lies, of which nothing is mapped as code."""
TEMPORARY = "/tmp"  # noqa: S108 - as a case names it
PROGRAMS = "/usr/bin"
SERVER = "/launcher/launch"
"""Where the verifier's image has the launch server, for root alone."""
KEPT = SERVER.rpartition("/")[0]
"""Where it keeps the verifier's modules compiled, in a folder called by the program's SHA-256."""


def slot_places(slots: int) -> tuple[dict[str, str], ...]:
    """Where each slot has the places that a case names."""
    return tuple({WORK: f"{SLOTS}/{n}{WORK}", TEMPORARY: f"{SLOTS}/{n}{TEMPORARY}"} for n in range(slots))


def build_places() -> dict[str, str]:
    """Where a build has its places: it works where the agent worked."""
    return {SUBMISSION: SUBMISSION, TEMPORARY: f"{SLOTS}/build{TEMPORARY}"}


def folders(slots: int) -> tuple[str, ...]:
    """Every folder that an image must have for its launches."""
    return (*(place for places in (*slot_places(slots), build_places()) for place in places.values()), TREE)


def scratch(slots: int, policy: Policy) -> dict[str, str]:
    """Places as file systems of their own: path to the options of a tmpfs. What is compiled lies on disk.

    That of a tree is the grader's and has no bounds but the container's memory: whatever a build was let leave fits.
    """
    case, build = policy.case, policy.build
    mine = f"rw,nosuid,nodev,exec,mode=755,size={build.work_bytes},nr_inodes={build.work_files + 1}"
    tree = "rw,nosuid,nodev,noexec,mode=755,size=0,nr_inodes=0"
    own = room(case.work_bytes, case.work_files)
    cases = {place: own for places in slot_places(slots) for place in places.values()}
    return {**cases, build_places()[TEMPORARY]: mine, TREE: tree}


def room(work_bytes: int, work_files: int) -> str:
    """Options of a tmpfs that is a case's place."""
    return f"rw,nosuid,nodev,noexec,mode=755,size={work_bytes},nr_inodes={work_files + 1}"


def answering(source: Toolchain, exec_allowed: Iterable[str], slots: int, rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """How the container that answers queries isolates the original: a stage of the verifier's, for another program."""
    views = rule["views"]
    run = _view((source,), (*source.run_programs, *exec_allowed), views["run"], views)
    stage = _stage(run, slot_places(slots), rule["verifier"]["uid"], witness=_witness(views))
    return {name: value for name, value in stage.items() if name != "tree"}


def environment(
    target: Toolchain,
    exec_allowed: Iterable[str],
    packages: Iterable[str],
    slots: int,
    rule: Mapping[str, Any],
    source: Toolchain | None = None,
) -> bytes:
    """The file's bytes. `rule` is that of containers; `packages` are further ones that a build may use.

    `source` is the original's language where it is another one: then there is a view for the original too.
    """
    views, first, started = rule["views"], rule["verifier"]["uid"], tuple(exec_allowed)
    run = _view((target,), (*target.run_programs, *started), views["run"], views)
    started_by_them = (*views["build"]["execute"], *views["execute"].get(target.language, ()))
    built = (*target.common.shell, *target.build_programs, *started_by_them)
    build = _view((target,), (*built, *([PROGRAMS] if tuple(packages) else [])), views["build"], views)
    stages = {"run": (run, slot_places(slots), first), "build": (build, (build_places(),), first + slots)}
    value = {name: _stage(*parts, witness=_witness(views)) for name, parts in stages.items()}
    if source is not None:
        both = (*source.run_programs, *target.run_programs, *started)
        value["original"] = encode_view(_view((source, target), both, views["run"], views))
    return canonical({"kind": KIND, "fingerprint": "", **value})


def _stage(view: View, places: tuple[dict[str, str], ...], uid: int, *, witness: View) -> dict[str, Any]:
    return {
        "kind": KIND,
        "server": SERVER,
        "uid": uid,
        "places": list(places),
        "tree": TREE,
        "view": encode_view(view),
        "probe": {"view": encode_view(witness)},
    }


def _witness(views: Mapping[str, Any]) -> View:
    """What the witness of isolation needs: a Python, as every verifier's image has one."""
    return _of((f"{PROGRAMS}/python3",), (*views["run"]["read"], *views["read"]["python"]), views)


def _view(
    languages: Iterable[Toolchain], names: Iterable[str], stage: Mapping[str, Any], views: Mapping[str, Any]
) -> View:
    programs = tuple(name if name.startswith("/") else f"{PROGRAMS}/{name}" for name in dict.fromkeys(names))
    own = (path for one in languages for path in views["read"].get(one.language, ()))
    return _of(programs, (*stage["read"], *own), views)


def _of(programs: Iterable[str], read: Iterable[str], views: Mapping[str, Any]) -> View:
    shown = tuple(Mount(source=path, target=path) for path in sorted(set(read)))
    return View(mounts=shown, executables=tuple(sorted({*programs, *views["loaders"]})))
