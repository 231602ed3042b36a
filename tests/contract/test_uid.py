"""What only a launcher without namespaces has to prove: places that launches share, a user for each of them."""

from __future__ import annotations

import json
import os
import signal
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.payload.verifier import launchers
from programsmith.payload.verifier.launcher import LauncherError, Mount, Result, Surroundings
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.uid import UidLauncher
from tests.contract import contained
from tests.contract.launches import case, ended, limits, proves_nothing, until

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


@pytest.mark.parametrize("number", ["SIGSTOP", "SIGKILL"])
def test_who_comes_to_end_a_launch_cannot_be_ended_by_it(alone: UidLauncher, number: str) -> None:
    """Who ends a user's processes is that user for a moment, and what is to end tries all the time to be faster."""
    code = (
        "import os, signal\nif os.fork(): signal.pause()\n"
        f"while True:\n try: os.kill(-1, signal.{number})\n except OSError: pass"
    )
    for _ in range(6):
        result = alone.run(case(code, limits=limits(wall_seconds=1)))
        assert (result.fault, result.files is None) == (None, False)
        assert ours() == []


MARKS = (  # what of a place is no entry of it
    "import os, struct\nplaces = {places}\nassert {{os.stat(d).st_uid for d in places}} == {{os.getuid()}}\n"
    "print(places, [(os.listxattr(d), os.stat(d).st_mtime_ns, oct(os.stat(d).st_mode)) for d in places])\n"
)
ACL = struct.pack("<I9H", 2, 1, 7, 0xFFFF, 0xFFFF, 4, 5, 0xFFFF, 0xFFFF, 32) + struct.pack("<HI", 5, 0xFFFFFFFF)
MARKING = (
    "for d in places:\n for name, value in (('user.x', b'1'), ('system.posix_acl_default', " + repr(ACL) + ")):\n"
    "  try: os.setxattr(d, name, value); print('set')\n  except OSError: pass\n"
    " os.utime(d, ns=(7, 7)); os.chmod(d, 0)\n"
)


@pytest.mark.parametrize("place", ["/work", "/opt/marked"], ids=["memory", "disk"])
def test_nothing_sticks_to_a_place_of_its_users_own(way: str, place: str) -> None:
    os.makedirs(place, exist_ok=True)
    os.makedirs("/opt/marked_tmp", exist_ok=True)
    opened = UidLauncher(contained.config(way, [{"/work": place, "/tmp": "/opt/marked_tmp"}]))
    code = MARKS.format(places=[place, "/opt/marked_tmp"])
    before = ended(opened.run(case(code)))
    marked = ended(opened.run(case(code + MARKING)))
    after = ended(opened.run(case(code)))
    opened.close()
    assert b"set" in marked
    assert b"user." not in before
    assert after == before


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


def open_files() -> list[int]:
    return [len(os.listdir(f"/proc/{pid}/fd")) for pid in first_processes()]


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


def test_a_place_that_only_its_user_may_enter_is_as_before(alone: UidLauncher) -> None:
    before = ended(alone.run(case(LISTING)))
    ended(alone.run(case("import os; os.chmod('.', 0)")))
    assert ended(alone.run(case(LISTING))) == before


def test_nothing_of_a_launch_counts_for_the_next_one(alone: UidLauncher) -> None:
    busy = "import time\nwhile time.process_time() < 0.6: pass"
    files = tuple(FileEntry(b"d%d/f" % n, "file", 0o644, bytes(50_000)) for n in range(80))
    kept = "import os; print(len(os.listdir('.')))"
    for _ in range(2):
        assert alone.run(case(busy)).cpu_seconds >= 0.6
        assert ended(alone.run(case(kept, files=files))) == b"80\n"
        quiet = alone.run(case(kept))
        assert ended(quiet) == b"0\n"
        assert quiet.cpu_seconds < 0.5


def test_a_tree_that_cannot_be_read_back_leaves_nothing_open(alone: UidLauncher) -> None:
    deep = "import os\nfor n in range(200): os.mkdir('d'); os.chdir('d')"
    ended(alone.run(case("pass")))
    time.sleep(0.5)  # a report may be read before its writer has closed the pipe
    before = open_files()
    for _ in range(3):
        assert alone.run(case(deep)).files is None
    until(lambda: open_files() == before)


@pytest.mark.parametrize("code", [0, 1, 126, 127])
def test_a_server_that_only_exits_is_a_fault(code: int, tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.write_text(f"#!/bin/sh\nexit {code}\n")
    server.chmod(0o755)
    launcher = UidLauncher({**contained.config("uid"), "server": str(server)})
    proves_nothing(launcher.run(case("pass")))
    launcher.close()


def test_a_submission_is_left_alone_until_it_is_received(way: str) -> None:
    """A build works where the submission lies."""
    place = Path("/opt/handed_in")
    place.mkdir(exist_ok=True)
    (place / "compile.sh").touch()
    build = {**contained.config(way, [{str(place): str(place)}]), "uid": contained.FIRST_UID + 1}
    environment = {"kind": "uid", "build": build, "run": contained.config(way)}
    with launchers.opened(json.dumps(environment).encode()) as found:
        found.ahead(1)
        assert os.listdir(place) == ["compile.sh"]


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
