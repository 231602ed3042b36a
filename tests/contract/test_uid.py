"""What only a launcher without namespaces has to prove: places that launches share, a user for each of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import LauncherError, Mount, Result, Surroundings
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.uid import UidLauncher
from tests.contract import contained
from tests.contract.launches import case, ended, limits, proves_nothing

pytestmark = pytest.mark.skipif(not contained.is_inside(), reason="runs inside a container: see test_contained.py")
TWO = [{"/work": f"/slots/{n}/work", "/tmp": f"/slots/{n}/tmp"} for n in range(2)]
LISTING = "import os\nfor d in ('/work', '/tmp', '/dev/shm'): print(d, os.listdir(d), oct(os.stat(d).st_mode))"


@pytest.fixture(params=contained.WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def alone(way: str) -> Iterator[UidLauncher]:
    opened = UidLauncher(contained.config(way))
    yield opened
    opened.close()


@pytest.fixture
def two(way: str) -> Iterator[UidLauncher]:
    for places in TWO:
        for place in places.values():
            os.makedirs(place, exist_ok=True)
    opened = UidLauncher(contained.config(way, TWO))
    yield opened
    opened.close()


def ours() -> list[str]:
    """Processes of the users that launches have."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            uid = int((folder / "status").read_text().split("\nUid:\t")[1].split("\t")[0])
        except OSError:
            continue
        found += [folder.name] if uid >= contained.FIRST_UID else []
    return found


def test_slots_have_users_and_places_of_their_own(two: UidLauncher) -> None:
    code = "import os, time; print(os.getuid(), os.getcwd(), os.environ['HOME'], os.environ['TMPDIR']); time.sleep(1)"
    env = ((b"HOME", b"/work"), (b"PATH", b"/usr/bin"))
    with ThreadPoolExecutor(2) as threads:
        said = sorted(ended(r).decode() for r in threads.map(lambda _: two.run(case(code, env=env)), range(2)))
    assert said == [f"{contained.FIRST_UID + n} /slots/{n}/work /slots/{n}/work /slots/{n}/tmp\n" for n in range(2)]


def test_slots_neither_see_nor_hurt_nor_meet_each_other(two: UidLauncher) -> None:
    tries = (
        "import os, time\nopen('mine', 'w').write('x'); os.chmod('mine', 0o777); os.chmod('.', 0o777)\n"
        "time.sleep(0.5)\nfound = set()\n"
        "for pid in range(2, 4000):\n"
        " if pid == os.getpid(): continue\n"
        " try: os.kill(pid, 0); found.add('signal')\n except OSError: pass\n"
        " for name in ('cmdline', 'status', 'environ', 'maps', 'stat'):\n"
        "  try: open(f'/proc/{pid}/{name}').read(1); found.add(name)\n  except OSError: pass\n"
        "for place in ('/slots/0', '/slots/1', '/tmp', '/dev/shm', '/var/tmp', '/run', '/', '/opt'):\n"
        " for d in (place, place + '/work', place + '/tmp'):\n"
        "  if d.startswith(os.getcwd()[:8]): continue\n"
        "  try: found.add(d + str(os.listdir(d)))\n  except OSError: pass\n"
        "  try: open(d + '/planted', 'w'); found.add('w' + d)\n  except OSError: pass\n"
        "  try: open(d + '/mine').read(); found.add('r' + d)\n  except OSError: pass\n"
        "print(sorted(found))"
    )
    with ThreadPoolExecutor(2) as threads:
        said = [ended(result) for result in threads.map(lambda _: two.run(case(tries)), range(2))]
    assert said == [b"[]\n"] * 2


def test_a_slot_waits_until_it_is_free(alone: UidLauncher) -> None:
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda n: alone.run(case(f"print({n})")), range(4)))
    assert [ended(result) for result in results] == [b"%d\n" % n for n in range(4)]


def test_nothing_stays_in_places_that_everybody_has(alone: UidLauncher) -> None:
    before = ended(alone.run(case(LISTING)))
    code = (
        "import os\nfor d in ('/work', '/tmp', '/dev/shm'):\n os.chdir(d)\n os.mkdir('shut'); open('shut/f', 'w')\n"
        " os.mkfifo('fifo'); os.symlink('/', 'root'); os.mkdir('sticky'); os.chmod('sticky', 0o1777)\n"
        " open('sticky/f', 'w'); os.chmod('shut', 0)\n"
        " for n in range(60): os.mkdir('d'); os.chdir('d')\n"
        "os.chdir('/work'); os.chmod('.', 0)"
    )
    ended(alone.run(case(code)))
    assert ended(alone.run(case(LISTING))) == before
    assert ours() == []


def test_a_place_that_is_not_here_is_refused_by_name(alone: UidLauncher) -> None:
    result = alone.run(case("pass", surroundings=Surroundings(cwd="/elsewhere")))
    proves_nothing(result)
    assert "no place for /elsewhere" in str(result.fault)


def test_what_is_shown_is_copied_anew_when_it_changes(alone: UidLauncher, tmp_path: Path) -> None:
    said = []
    for content in ("one", "two"):
        tree = tmp_path / content
        tree.mkdir(mode=0o755)
        (tree / "f").write_text(content)
        shown = (Mount(source=str(tree), target="/opt/shown"),)
        said.append(ended(alone.run(case("print(open('/opt/shown/f').read())", mounts=shown))))
        closed = case("open('/opt/shown/f', 'w')", mounts=shown)
        assert alone.run(closed).exit_code == 1
    assert said == [b"one\n", b"two\n"]


def test_a_tree_of_scripts_lies_where_nobody_maps_code_and_only_its_scripts_where_they_are_executed(
    alone: UidLauncher, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir(mode=0o755)
    for name in ("main", "data"):
        (tree / name).write_text(name)
    for scripts, wanted in ((("/opt/shown/main",), ["data"]), (None, []), ((), ["data", "main"])):
        shown = (Mount(source=str(tree), target="/opt/shown", scripts=scripts),)
        code = "import os\nfor n in sorted(os.listdir('/opt/shown')): print(n, open('/opt/shown/' + n).read())"
        assert ended(alone.run(case(code, mounts=shown))) == b"data data\nmain main\n"
        assert [name for name in sorted(os.listdir("/opt/shown")) if os.path.islink(f"/opt/shown/{name}")] == wanted


@pytest.mark.parametrize("where", ["tree", "places", "neither"])
def test_that_no_file_becomes_code_is_said_where_the_kernel_refuses_it_everywhere(way: str, where: str) -> None:
    os.makedirs("/opt/code", exist_ok=True)  # of a file system whose files may be mapped as code
    config = contained.config(way, [{"/work": "/opt/code" if where == "places" else "/work"}])
    launcher = UidLauncher({**config, "tree": "/opt/code"} if where == "tree" else config)
    assert ("code" in launcher.enforced()) == (where == "neither")
    launcher.close()


def test_a_place_without_bounds_of_its_own_is_watched(alone: UidLauncher) -> None:
    code = "import time\nfor n in range(4): open(f'f{n}', 'wb').write(bytes(2 << 20))\ntime.sleep(20)"
    begun = time.monotonic()
    assert "work" in alone.run(case(code, limits=limits(work_bytes=4 << 20))).limits_hit
    assert time.monotonic() - begun < 10


def first_processes() -> list[int]:
    """The processes of ours, running as root, that watch over a launch; servers come before what they started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        words = (folder / "cmdline").read_bytes().split(b"\0")
        if words[0] == os.fsencode(contained.SERVER) or b"programsmith.payload.init.owned" in words:
            found.append(int(folder.name))
    return sorted(found)


@pytest.mark.parametrize("victim", [0, -1], ids=["first", "last"])
def test_a_launch_whose_guard_is_killed_is_a_fault_and_nothing_of_it_lives(alone: UidLauncher, victim: int) -> None:
    results: list[Result] = []
    forks = "import os, time\nos.fork() or os.setsid(); os.fork(); open('left', 'w'); time.sleep(60)"
    worker = threading.Thread(target=lambda: results.append(alone.run(case(forks))))
    worker.start()
    until(lambda: len(ours()) == 4)
    os.kill(first_processes()[victim], signal.SIGKILL)
    worker.join()
    proves_nothing(results[0])
    until(lambda: ours() == [])
    assert ended(alone.run(case("import os; print(os.listdir('.'))"))) == b"[]\n"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("code", [0, 1, 126, 127])
def test_a_server_that_only_exits_is_a_fault(code: int, tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.write_text(f"#!/bin/sh\nexit {code}\n")
    server.chmod(0o755)
    launcher = UidLauncher({**contained.config("uid"), "server": str(server)})
    proves_nothing(launcher.run(case("pass")))
    launcher.close()


@pytest.mark.parametrize("uid", [0, (1 << 32) - 1, 1 << 32, -5])
def test_a_user_that_is_none_is_refused(way: str, uid: int) -> None:
    with pytest.raises(LauncherError, match="ordinary user"):
        UidLauncher({**contained.config(way), "uid": uid})


@pytest.mark.parametrize("uid", [0, (1 << 32) - 1])
def test_nobody_becomes_root_or_stays_it(way: str, uid: int) -> None:
    launcher = UidLauncher(contained.config(way))
    launcher._config["uid"] = uid  # past the first check
    proves_nothing(launcher.run(case("pass")))
    launcher.close()


def test_executing_is_free_while_building_and_only_then(way: str) -> None:
    own = (FileEntry(b"own", "file", 0o755, b"#!/usr/bin/python3\nprint('ran')\n"),)
    code = "import subprocess\ntry: print(subprocess.check_output(['./own']))\nexcept OSError: print('no')"
    config = contained.config(way, [{"/opt/built": "/opt/built"}])
    os.makedirs("/opt/built", exist_ok=True)
    request = case(code, files=own, surroundings=Surroundings(cwd="/opt/built"))
    for executables, wanted in (((), b"no\n"), (("/opt/built",), b"b'ran\\n'\n")):
        view = {**config["view"], "executables": [*config["view"]["executables"], *executables]}
        launcher = UidLauncher({**config, "view": view})
        assert ended(launcher.run(request)) == wanted
        launcher.close()
