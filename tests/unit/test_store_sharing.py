"""Leases, slots, retries and the collection of garbage."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from programsmith.compiler.lock import check_premises
from programsmith.compiler.paths import Project
from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.store.backend import Namespace
from programsmith.store.cache import COLLECTION, Hit, Miss
from programsmith.store.directory import Directory
from programsmith.store.garbage import YOUNG_SECONDS, Collected, collected
from programsmith.store.leases import Leases
from programsmith.store.retry import Retries, retried
from programsmith.store.slots import slot

SAMPLES = Path(__file__).parents[1] / "samples"
sys.path.insert(0, str(SAMPLES))

from shelf import cache, made  # noqa: E402

KEYS = [digit * 64 for digit in "abcdef"]
SLEEPER = (
    "import sys, time; from pathlib import Path; from programsmith.store.{module} import {name}\n"
    "with {held}:\n    print('held', flush=True); time.sleep(60)\n"
)


def holder(tmp_path: Path, module: str, name: str, held: str) -> subprocess.Popen[str]:
    code = SLEEPER.format(module=module, name=name, held=held)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=-1, text=True, env=env)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def waits(work: threading.Thread) -> bool:
    work.start()
    work.join(0.2)
    return work.is_alive()


def test_a_lease_waits_for_its_holder_and_ends_with_the_holders_life(tmp_path: Path) -> None:
    process = holder(tmp_path, "leases", "Leases", f"Leases(Path(sys.argv[1])).lease({KEYS[0]!r})")
    leases, got = Leases(tmp_path), threading.Event()

    def want() -> None:
        with leases.lease(KEYS[0]):
            got.set()

    waiting = threading.Thread(target=want)
    try:
        with leases.lease(KEYS[1]):
            assert waits(waiting)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    waiting.join(10)
    assert got.is_set()
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with Leases(tmp_path).lease(KEYS[0]):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


@pytest.mark.parametrize("key", ["../x", "", "x" * 64])
def test_a_hostile_key_makes_no_lease(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="names no object"), Leases(tmp_path).lease(key):
        pass
    assert list(tmp_path.iterdir()) == []


def test_slots_are_counted_over_processes_and_come_back_with_a_death(tmp_path: Path) -> None:
    process = holder(tmp_path, "slots", "slot", "slot(Path(sys.argv[1]), 'toy', 2)")
    numbers: list[int] = []

    def want() -> None:
        with slot(tmp_path, "toy", 2) as number:
            numbers.append(number)

    waiting = threading.Thread(target=want)
    try:
        with slot(tmp_path, "toy", 2) as second, slot(tmp_path, "other", 1) as other:
            assert (second, other) == (1, 0)
            assert waits(waiting)
            process.send_signal(signal.SIGKILL)
            waiting.join(10)
    finally:
        process.kill()
        process.communicate()
    assert numbers == [0]
    with pytest.raises(ValueError, match="at least one slot"), slot(tmp_path, "toy", 0):
        pass


def test_infra_is_tried_again_later_and_later(tmp_path: Path) -> None:
    pauses: list[float] = []
    said: list[str] = []
    policy = Retries.of({"attempts": 4, "first_seconds": 1, "factor": 5, "most_seconds": 12})
    faults = [InfraError("off"), InfraError("off")]

    def act() -> str:
        if faults:
            raise faults.pop()
        return "on"

    assert retried(act, policy, said.append, pauses.append) == "on"
    assert pauses == [1, 5]
    assert said == ["attempt 1 of 4: off; again in 1 s", "attempt 2 of 4: off; again in 5 s"]
    faults += [InfraError("off")] * 4
    with pytest.raises(InfraError):
        retried(act, policy, said.append, pauses.append)
    assert pauses[2:] == [1, 5, 12]


@pytest.mark.parametrize("fault", [InputError("wrong"), RuntimeError("bug"), KeyboardInterrupt()])
def test_nothing_else_is_tried_again(fault: BaseException) -> None:
    count = 0

    def act() -> None:
        nonlocal count
        count += 1
        raise fault

    with pytest.raises(type(fault)):
        retried(act, Retries(attempts=3), print, time.sleep)
    assert count == 1


def keep(root: Path, key: str, text: str, spec: str, *, sealed: bool = False) -> None:
    path = root / f"{text}.txt"
    path.write_text(text)
    assert cache(root / "s").publish(key, made({"t": path}, spec=spec, sealed=sealed)) is None


def gc(root: Path, live: set[str], since: float, later: float = 2 * YOUNG_SECONDS) -> Collected:
    leases = Leases(root / "s" / "leases")
    return collected(Directory(root / "s"), leases, live=live, since=since, now=time.time() + later)


def hits(root: Path, key: str) -> bool:
    (root / "back").unlink(missing_ok=True)
    return isinstance(cache(root / "s").lookup(key, "toy", {"t": root / "back"}), Hit)


def test_a_collection_removes_what_only_the_dead_and_long_unused_refer_to(tmp_path: Path) -> None:
    for key, text, spec in zip(KEYS, ("same", "same", "old", "new"), ("live", "dead", "dead", "dead"), strict=False):
        keep(tmp_path, key, text, spec, sealed=text == "old")
    for key in KEYS[1:3]:
        os.utime(tmp_path / "s" / "ac" / key[:2] / key, (1000, 1000))
    (tmp_path / "s" / "ac" / "ee").mkdir()
    (tmp_path / "s" / "ac" / "ee" / KEYS[4]).write_bytes(b"cut o")
    (tmp_path / "s" / "tmp" / "draft").write_bytes(b"half")
    found = gc(tmp_path, {"live"}, since=2000)
    assert (found.entries, found.objects, found.entries_kept) == (3, 2, 2)
    assert [hits(tmp_path, key) for key in KEYS[:4]] == [True, False, False, True]
    assert list((tmp_path / "s" / "tmp").iterdir()) == []
    assert list(Directory(tmp_path / "s").list(Namespace.SEALED)) == []
    again = gc(tmp_path, {"live"}, since=2000)
    assert (again.entries, again.objects, again.freed) == (0, 0, 0)


def test_what_a_writer_on_another_machine_has_put_so_far_stays(tmp_path: Path) -> None:
    store = Directory(tmp_path / "s")
    for space, name in ((Namespace.CAS, KEYS[0]), (Namespace.SEALED, KEYS[1]), (Namespace.CAS, KEYS[2])):
        store.put(space, name, b"an object whose entry comes next")
    old = time.time() - YOUNG_SECONDS - 60
    os.utime(tmp_path / "s" / "cas" / "cc" / KEYS[2], (old, old))
    os.utime(tmp_path / "s" / "sealed" / "bb" / KEYS[1], (old, old))
    store.put(Namespace.SEALED, KEYS[1], b"an object whose entry comes next")  # which counts as a use
    drafts = [store.tmp / name for name in ("new", "old")]
    for draft in drafts:
        draft.write_bytes(b"half")
    os.utime(drafts[1], (old, old))
    found = gc(tmp_path, set(), since=time.time() + 1000, later=0)
    assert (found.objects, found.objects_kept) == (1, 2)
    assert [store.has(Namespace.CAS, KEYS[0]), store.has(Namespace.SEALED, KEYS[1])] == [True, True]
    assert [draft.exists() for draft in drafts] == [True, False]
    assert gc(tmp_path, set(), since=time.time() + 1000).objects == 2


def test_a_collection_that_can_hold_nobody_off_removes_nothing(tmp_path: Path) -> None:
    keep(tmp_path, KEYS[0], "one", "dead")
    leases = tmp_path / "s" / "leases"
    code = (
        "import sys, time; from pathlib import Path\n"
        "from programsmith.store.directory import Directory\n"
        "from programsmith.store.garbage import collected\n"
        "from programsmith.store.leases import Leases\n"
        "root, later = Path(sys.argv[1]), time.time() + 10_000\n"
        "try:\n    collected(Directory(root), Leases(root / 'leases'), live=(), since=later, now=later)\n"
        "except Exception as fault:\n    print(type(fault).__name__, int(fault.exit), fault)\n"
    )
    mounted = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    inner = [sys.executable, "-c", code, str(tmp_path / "s")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["unshare", "-rm", "sh", "-c", mounted, "sh", str(leases), *inner]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"needs user and mount namespaces: sysctl kernel.unprivileged_userns_clone=1 ({done.stderr})")
    assert done.stdout.startswith(f"PrerequisiteError 3 gc: {leases} cannot be written, so nobody can be kept from ")
    assert hits(tmp_path, KEYS[0])


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    handles = len(os.listdir("/proc/self/fd"))
    with pytest.raises(PrerequisiteError, match=r"cannot be locked .*PROGRAMSMITH_STORE"), Leases(tmp_path).shared("x"):
        pass
    assert len(os.listdir("/proc/self/fd")) == handles
    with pytest.raises(PrerequisiteError, match=r"cannot be written \(No locks available\)"):
        check_premises(Project(tmp_path))


def test_an_entry_that_a_live_spec_takes_over_lives(tmp_path: Path) -> None:
    keep(tmp_path, KEYS[0], "one", "dead")
    assert hits(tmp_path, KEYS[0])
    gc(tmp_path, {"toy"}, since=time.time() + 1000)
    assert hits(tmp_path, KEYS[0])
    gc(tmp_path, set(), since=time.time() + 1000)
    assert isinstance(cache(tmp_path / "s").lookup(KEYS[0], "toy", {}), Miss)


def test_a_collection_waits_for_who_publishes(tmp_path: Path) -> None:
    keep(tmp_path, KEYS[0], "one", "dead")
    leases = Leases(tmp_path / "s" / "leases")
    collecting = threading.Thread(target=gc, args=(tmp_path, set(), time.time() + 1000))
    with leases.shared(COLLECTION):
        assert waits(collecting)
        assert (tmp_path / "s" / "ac" / "aa" / KEYS[0]).exists()
    collecting.join(10)
    assert not (tmp_path / "s" / "ac" / "aa" / KEYS[0]).exists()


def test_collections_beside_publishers_never_take_a_live_object(tmp_path: Path) -> None:
    keep(tmp_path, KEYS[0], "shared", "dead")
    code = (
        "import sys; from pathlib import Path; from shelf import cache, made\n"
        "root = Path(sys.argv[1])\n"
        "for n in range(60):\n"
        "    key = f'{n:064x}'\n"
        "    assert cache(root / 's').publish(key, made({'t': root / 'shared.txt'}, spec='live')) is None\n"
        "    found = cache(root / 's').lookup(key, 'live', {'t': root / f'{sys.argv[2]}.{n}'})\n"
        "    assert type(found).__name__ == 'Hit', found\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SAMPLES), *sys.path])}
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen([*command, n], stderr=-1, text=True, env=env) for n in "12"]
    rounds = 0
    while any(process.poll() is None for process in running):
        gc(tmp_path, {"live"}, since=time.time() + 1000)
        rounds += 1
    assert [process.communicate()[1] for process in running] == ["", ""]
    assert rounds > 1
    assert all(hits(tmp_path, f"{n:064x}") for n in range(60))
