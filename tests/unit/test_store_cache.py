from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programsmith.store.cache import Hit, Miss
from programsmith.store.keys import Keys

SAMPLES = Path(__file__).parents[1] / "samples"
sys.path.insert(0, str(SAMPLES))

from shelf import OWN, STORE, WRITER, cache, made  # noqa: E402

KEY, OTHER = "a" * 64, "b" * 64
SECRET = b"what the held-out case expects"


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    folder = tmp_path / "clean"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "run.sh").write_bytes(SECRET)
    (folder / "deep" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("deep/run.sh")
    os.mkdir(os.fsencode(folder) + b"/odd \xff\n name")
    return folder


def look(root: Path, place: Path, keys: Keys = OWN, key: str = KEY, spec: str = "toy") -> Hit | Miss:
    return cache(root, keys).lookup(key, spec, {"r/clean/": place})


def why(found: Hit | Miss) -> str:
    assert isinstance(found, Miss)
    return found.why


def shown(folder: Path) -> list[tuple[bytes, int, bytes]]:
    found = []
    for at, folders, files in os.walk(os.fsencode(folder)):
        for name in folders + files:
            path = os.path.join(at, name)
            link = os.path.islink(path)
            body = os.readlink(path) if link else b"" if os.path.isdir(path) else Path(os.fsdecode(path)).read_bytes()
            found.append((path.removeprefix(os.fsencode(folder)), os.lstat(path).st_mode, body))
    return sorted(found)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_folder_comes_back_with_modes_links_and_odd_names(tmp_path: Path, clean: Path, sealed: bool) -> None:
    assert cache(tmp_path / "s").publish(KEY, made({"r/clean/": clean}, sealed=sealed)) is None
    found = look(tmp_path / "s", tmp_path / "back")
    assert found == Hit(outcome={"word": "pass"})
    assert shown(tmp_path / "back") == shown(clean)


def test_a_file_comes_back_with_its_mode(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"\0bytes")
    tool.chmod(0o750)
    assert cache(tmp_path / "s").publish(KEY, made({"tool": tool})) is None
    assert cache(tmp_path / "s").lookup(KEY, "toy", {"tool": tmp_path / "back"}) == Hit(outcome={"word": "pass"})
    assert (tmp_path / "back").read_bytes() == b"\0bytes"
    assert (tmp_path / "back").stat().st_mode & 0o777 == 0o750


def test_what_is_sealed_shows_neither_bytes_nor_digest_and_is_the_same_each_time(tmp_path: Path, clean: Path) -> None:
    for root in ("s", "t"):
        cache(tmp_path / root).publish(KEY, made({"r/clean/": clean}, sealed=True))
    assert shown(tmp_path / "s" / "sealed") == shown(tmp_path / "t" / "sealed")
    assert not (tmp_path / "s" / "cas").exists()
    kept = b"".join(p.read_bytes() for p in (tmp_path / "s").rglob("*") if p.is_file())
    assert SECRET not in kept
    assert b"pass" not in kept


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (Keys(store=None, writer=WRITER), "sealed and there is no store key; give it in PROGRAMSMITH_STORE_KEY"),
        (Keys(store=b"x" * 32, writer=WRITER), "sealed with another store key"),
        (Keys(store=STORE, writer=None), "there is no writer key"),
        (Keys(store=STORE, writer=b"x" * 32), "signed with another writer key"),
    ],
)
def test_without_the_right_key_it_is_a_miss_that_says_so(tmp_path: Path, clean: Path, keys: Keys, reason: str) -> None:
    cache(tmp_path / "s").publish(KEY, made({"r/clean/": clean}, sealed=True))
    assert reason in why(look(tmp_path / "s", tmp_path / "back", keys))
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("keys", "reason"), [(Keys(store=None, writer=WRITER), "seal"), (Keys(store=STORE, writer=None), "sign")]
)
def test_without_a_key_nothing_is_published_and_it_says_why(
    tmp_path: Path, clean: Path, keys: Keys, reason: str
) -> None:
    assert f"key to {reason} with" in str(
        cache(tmp_path / "s", keys).publish(KEY, made({"r/clean/": clean}, sealed=True))
    )
    assert isinstance(look(tmp_path / "s", tmp_path / "back"), Miss)


def entry(root: Path, key: str = KEY) -> Path:
    return root / "ac" / key[:2] / key


def _edited(raw: bytes, change: Callable[[Any], None]) -> bytes:
    value = json.loads(raw)
    change(value)
    return json.dumps(value).encode()


TAMPERINGS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "truncated": (lambda raw: raw[: len(raw) // 2], "damaged"),
    "empty": (lambda raw: b"", "damaged"),
    "no JSON object": (lambda raw: b"[" * 100000, "damaged"),
    "user added": (lambda raw: _edited(raw, lambda v: v["entry"]["specs"].append("other")), "signature does not hold"),
    "signature cut": (lambda raw: _edited(raw, lambda v: v.pop("mac")), "signature does not hold"),
    "hostile name": (lambda raw: _edited(raw, lambda v: v["entry"]["outcome"].update(name="../../x")), "damaged"),
    "hostile space": (lambda raw: _edited(raw, lambda v: v["entry"]["outcome"].update(space="../ac")), "damaged"),
    "not ASCII": (lambda raw: _edited(raw, lambda v: v.update(mac="é")), "signature does not hold"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampered_entry_is_a_miss_and_is_replaced_by_the_next(tmp_path: Path, clean: Path, name: str) -> None:
    root = tmp_path / "s"
    change, reason = TAMPERINGS[name]
    cache(root).publish(KEY, made({"r/clean/": clean}))
    entry(root).write_bytes(change(entry(root).read_bytes()))
    assert reason in why(look(root, tmp_path / "back"))
    assert cache(root).publish(KEY, made({"r/clean/": clean})) is None
    assert isinstance(look(root, tmp_path / "back"), Hit)


def test_an_entry_moved_to_another_key_is_a_miss(tmp_path: Path, clean: Path) -> None:
    root = tmp_path / "s"
    cache(root).publish(KEY, made({"r/clean/": clean}))
    entry(root, OTHER).parent.mkdir()
    entry(root, OTHER).write_bytes(entry(root).read_bytes())
    assert "belongs to another key" in why(look(root, tmp_path / "back", key=OTHER))


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("damage", ["rot", "cut", "gone", "folder", "link"])
def test_a_damaged_object_is_a_miss_and_is_healed_by_the_next(
    tmp_path: Path, clean: Path, sealed: bool, damage: str
) -> None:
    root = tmp_path / "s"
    cache(root).publish(KEY, made({"r/clean/": clean}, sealed=sealed))
    for path in [p for p in (root / ("sealed" if sealed else "cas")).rglob("*") if p.is_file()]:
        raw = path.read_bytes()
        path.unlink()
        match damage:
            case "rot":
                path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
            case "cut":
                path.write_bytes(raw[:5])
            case "link":
                path.symlink_to("/etc/passwd")
            case "folder":
                path.mkdir()
    found = why(look(root, tmp_path / "back"))
    assert ("is rotten" if damage in {"rot", "cut"} else "is gone") in found
    if damage == "folder":
        for path in [p for p in root.rglob("*") if p.is_dir() and len(p.name) == 64]:
            path.rmdir()
    assert cache(root).publish(KEY, made({"r/clean/": clean}, sealed=sealed)) is None
    assert isinstance(look(root, tmp_path / "back"), Hit)


def test_a_sealed_object_under_another_ones_name_is_rotten(tmp_path: Path) -> None:
    root = tmp_path / "s"
    for key, text in ((KEY, "one"), (OTHER, "two")):
        (tmp_path / text).write_text(text)
        cache(root).publish(key, made({"t": tmp_path / text}, sealed=True))
    files = [p for p in (root / "sealed").rglob("*") if p.is_file()]
    for path, raw in zip(files, [p.read_bytes() for p in reversed(files)], strict=True):
        path.write_bytes(raw)
    found = [why(cache(root).lookup(key, "toy", {"t": tmp_path / f"back{key[0]}"})) for key in (KEY, OTHER)]
    assert any("is rotten" in reason for reason in found)
    assert not [p for p in tmp_path.glob("back*") if p.read_text() not in {"one", "two"}]


def test_artifacts_that_the_block_does_not_write_are_not_restored(tmp_path: Path, clean: Path) -> None:
    cache(tmp_path / "s").publish(KEY, made({"r/clean/": clean}))
    assert "does not write" in why(cache(tmp_path / "s").lookup(KEY, "toy", {"other": tmp_path / "back"}))


@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_writer_killed_while_it_publishes_leaves_no_entry(tmp_path: Path, clean: Path, when: int) -> None:
    command = [sys.executable, str(SAMPLES / "shelf.py"), str(tmp_path / "s"), KEY, str(clean), str(when)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert isinstance(look(tmp_path / "s", tmp_path / "back"), Miss)
    assert cache(tmp_path / "s").publish(KEY, made({"r/clean/": clean})) is None
    assert isinstance(look(tmp_path / "s", tmp_path / "back"), Hit)


def test_a_full_disk_publishes_nothing_says_so_and_leaves_no_draft(tmp_path: Path, clean: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        fault = cache(tmp_path / "s").publish(KEY, made({"r/clean/": clean}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert fault == "the store cannot be written (File too large)"
    assert list((tmp_path / "s" / "tmp").iterdir()) == []
    assert isinstance(look(tmp_path / "s", tmp_path / "back"), Miss)


def test_a_read_only_store_gives_and_takes_nothing(tmp_path: Path, clean: Path) -> None:
    root = tmp_path / "s"
    cache(root).publish(KEY, made({"r/clean/": clean}))
    code = (
        "import sys; from pathlib import Path; from shelf import cache, made\n"
        "s, t, back = cache(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])\n"
        "with s.lease('a' * 64):\n"
        "    print(type(s.lookup('a' * 64, 'new', {'r/clean/': back})).__name__)\n"
        "print(s.publish('b' * 64, made({'t': t})))\n"
    )
    mounted = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    inner = [sys.executable, "-c", code, str(root), __file__, str(tmp_path / "back")]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mounted, "sh", str(root), *inner],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SAMPLES), *sys.path])},
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"needs user and mount namespaces: sysctl kernel.unprivileged_userns_clone=1 ({done.stderr})")
    assert done.stdout == "Hit\nthe store cannot be written (Read-only file system)\n", done.stderr
    assert shown(tmp_path / "back") == shown(clean)


def test_users_of_an_entry_add_up(tmp_path: Path, clean: Path) -> None:
    root = tmp_path / "s"
    cache(root).publish(KEY, made({"r/clean/": clean}, spec="one"))
    assert isinstance(look(root, tmp_path / "b1", spec="two"), Hit)
    cache(root).publish(KEY, made({"r/clean/": clean}, spec="three"))
    assert json.loads(entry(root).read_bytes())["entry"]["specs"] == ["one", "three", "two"]
    assert isinstance(look(root, tmp_path / "b2", spec="one"), Hit)


def test_two_who_want_the_same_work_on_it_once(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from shelf import cache, made\n"
        "from programsmith.store.cache import Hit\n"
        "root = Path(sys.argv[1]); s = cache(root / 's'); me = root / sys.argv[2]\n"
        "with s.lease('a' * 64):\n"
        "    if not isinstance(s.lookup('a' * 64, 'toy', {'t': me}), Hit):\n"
        "        time.sleep(0.3); me.write_text('made'); print('made')\n"
        "        s.publish('a' * 64, made({'t': me}))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SAMPLES), *sys.path])}
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), n], stdout=-1, text=True, env=env) for n in "123"
    ]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert sorted(said) == ["", "", "made\n"]
    assert {(tmp_path / n).read_text() for n in "123"} == {"made"}


def test_who_only_looks_is_given_the_same_and_leaves_no_trace(tmp_path: Path, clean: Path) -> None:
    root = tmp_path / "store"
    assert isinstance(cache(root).look(KEY, {"r/clean/": tmp_path / "none"}), Miss)
    assert not root.exists()
    assert cache(root).publish(KEY, made({"r/clean/": clean})) is None
    shutil.rmtree(root / "leases")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    found = cache(root).look(KEY, {"r/clean/": tmp_path / "seen"})
    assert found == Hit(outcome={"word": "pass"})
    assert (tmp_path / "seen" / "deep" / "run.sh").read_bytes() == SECRET
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
