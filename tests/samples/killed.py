"""A real spec small enough to be killed often: every block of the plan runs, in two revisions.

The solver's second seed is wrong, so the rollouts are in their band; whoever copies the original always passes, so the
sweep is not, and the task is hardened once and then shelved as easy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from tests.samples.rot_project import ROOT, lay, lay_solvers, rule

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
sandbox: bubblewrap
budget: {agent_wall: 1m}
rollouts: [{agent: scripted, script: solvers/solver.py, trials: 2}]
sweep: [{agent: oracle, trials: 2}]
difficulty:
  - {basis: rollouts, pass_rate: {min: 0.1, max: 0.9}, confidence: 0.75, trials_max: 2}
  - {basis: sweep, pass_rate: {max: 0.1}, confidence: 0.55, trials_max: 2}
probe: {adversaries: [stale_executable]}
revisions: {max: 1}
"""
CHECKS = ("closed_tree", "sealing", "public_runner", "fresh_output", "reward_tamper", "run_isolation", "egress")
LINES = ("r*/*.json", "r*/b*/*.json", "r*/trials/*/*/*.json", "*.json")
TIMED = {"task.toml", "provenance.json", "manifest.json", "signature.json", "dataset.toml"}
OWNED = re.compile(r"programsmith-(\d+)-[0-9a-f]+-\d+|\.?programsmith-[a-z]+-[0-9a-f]{16}-(\d+)-\d+-")
RECORD = {"block", "outcome", "reason", "evidence", "inputs", "seconds"}


def lay_killed(root: Path) -> None:
    """Lay the project."""
    root.mkdir()
    lay(root)
    lay_solvers(root)
    solver = root / "solvers" / "solver.py"
    solver.write_text(solver.read_text().replace("    3: ", "    1: ", 1))
    checks = yaml.safe_load((ROOT / "rules" / "checks.yaml").read_text())["checks"]
    rule(root, "checks", checks=[row for row in checks if row["id"] in CHECKS])
    rule(root, "adversaries", wanted={"adversaries": 1, "defences": 1})
    rule(root, "batches", first=2, further=1)
    (root / "specs" / "rot.yaml").write_text(SPEC)


def records(cache: Path) -> dict[str, tuple[str, str]]:
    """Path to word and reason of every record."""
    found = {}
    for path in (path for pattern in LINES for path in cache.glob(pattern)):
        value = json.loads(path.read_bytes())
        if isinstance(value, dict) and set(value) == RECORD:
            found[str(path.relative_to(cache))] = (value["outcome"], value["reason"])
    return found


def digest(folder: Path) -> str:
    """SHA-256 over paths, modes and bytes below the folder, but for files that hold how long a trial took."""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in TIMED):
        total.update(f"{path.relative_to(folder)} {path.stat().st_mode:o} {path.stat().st_size}\n".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def committed(cache: Path) -> set[str]:
    """Tasks that the spec's database holds for good, by a copy: what is to be mended is left to the next start."""
    names = [name for name in (".doit.db", ".doit.db-journal") if (cache / name).exists()]
    if ".doit.db" not in names:
        return set()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            shutil.copy(cache / name, folder)
        connection = sqlite3.connect(Path(folder, ".doit.db"))
        try:
            return {name for (name,) in connection.execute("select name from task")}
        except sqlite3.DatabaseError:  # killed before there was a table, or dying while the copy was made
            return set()
        finally:
            connection.close()


def bought(cache: Path) -> Counter[str]:
    """Key of a trial to the number of times that the ledger says it was bought."""
    ledger = cache / "ledger.jsonl"
    whole = ledger.read_text().rpartition("\n")[0] if ledger.exists() else ""
    events = [json.loads(line) for line in whole.splitlines()]
    return Counter(event["key"] for event in events if event["kind"] == "spend")


def held(name: str) -> set[str]:
    """Groups of the kernel and folders that living processes hold which were told of the project `name`."""
    shared = [Path("/var/lib/programsmith"), Path("~/.cache/programsmith").expanduser()]
    groups = (Path(at, name) for at, folders, _ in os.walk("/sys/fs/cgroup") for name in folders)  # others come and go
    places = [*groups, *(p for folder in shared for p in folder.glob("*"))]
    of = {pid for pid in map(_owner, places) if pid and _was_told(pid, name)}
    return {str(path) for path in places if _owner(path) in of}


def _owner(path: Path) -> str:
    """The process that a thing's name tells of, empty where it tells of none."""
    found = OWNED.match(path.name)
    return (found[1] or found[2]) if found else ""


def left(root: Path) -> set[str]:
    """What no end of a build leaves of the project, each by what it is: processes, half-made things, mounts."""
    cache, mine = root / "cache" / "rot", os.fsencode(root)
    pids = (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())
    found = {f"process {pid} {_began(pid)}" for pid in pids if _was_told(pid, root.name)}
    half = (p for folder in (cache, root / "dist") for p in folder.rglob("*") if p.suffix in {".part", ".former"})
    things = [*half, cache / "run.json", *(cache / "scratch").glob("*"), *(root / "tmp").iterdir()]
    mounts = (line.split()[4] for line in Path("/proc/self/mountinfo").read_bytes().splitlines())
    found |= {f"{path} {at.st_ino} {at.st_mtime_ns}" for path in things if (at := _stat(path))}
    return found | {f"mount {point!r}" for point in mounts if mine in point}


def leased(root: Path) -> list[Path]:
    """Leases of keys."""
    return list((root / "cache" / "store" / "leases").glob("??/*"))


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _was_told(pid: str, name: str) -> bool:
    """Whether a process that lives knows the project: by arguments, environment, folder or what is mounted for it."""
    place, word = Path("/proc", pid), name.encode()
    try:
        told = [(place / file).read_bytes() for file in ("cmdline", "environ", "mountinfo")]
        return any(word in text for text in (*told, os.fsencode(os.readlink(place / "cwd"))))
    except OSError:  # somebody else's, or over
        return False


def _began(pid: str) -> str:
    try:
        return Path("/proc", pid, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
