"""A grading that ends without a grade: this host is to blame, or the submission; the table control tells."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from programsmith.adversaries import weaken
from programsmith.blocks import grade as block
from programsmith.bundle import container, ready
from programsmith.bundle.abnormal import AbnormalError, ended_by, settled
from programsmith.bundle.controls import table
from programsmith.bundle.grade import Grade, grade
from programsmith.bundle.sides import read_sides
from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier import grade as grading
from programsmith.payload.verifier.faults import HOSTILE, Fault
from programsmith.payload.verifier.launchers import opened
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.pump import Flow
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records import trial as recorded
from programsmith.sandboxes.docker_container import Ended

GONE = AbnormalError(Fault.ENGINE_KILLED, "the first")
FULL = AbnormalError(Fault.DISK_FULL, "the second")


def told(*answers: object) -> Callable[[], Any]:
    """A function that gives one answer after the other, and raises those that are errors."""
    rest = iter(answers)

    def ask() -> Any:
        answer = next(rest)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask


@pytest.mark.parametrize(
    ("attempts", "control", "wanted"),
    [
        (["grade"], [], ("grade", ())),
        ([GONE, "grade"], [1.0], ("grade", (GONE,))),
        ([GONE, FULL], [1.0], (None, (GONE, FULL))),
    ],
)
def test_a_submission_that_alone_ends_its_verifier_twice_has_no_grade(attempts, control, wanted) -> None:
    assert settled(told(*attempts), told(*control)) == wanted


@pytest.mark.parametrize("control", [FULL, InfraError("no"), InputError("no table"), 0.0, 0.99])
def test_where_the_control_does_not_pass_the_first_end_is_infra(control: object) -> None:
    with pytest.raises(AbnormalError, match=r"^engine_killed: the first; .*control") as raised:
        settled(told(GONE, "never"), told(control))
    assert raised.value.fault is Fault.ENGINE_KILLED


def test_another_error_is_no_end_of_a_grading() -> None:
    for error in (InputError("x"), InfraError("x"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            settled(told(error) if isinstance(error, Exception) else interrupted, told())


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("code", "lacked", "said", "wanted"),
    [
        (-9, False, None, Fault.ENGINE_KILLED),
        (-9, True, None, Fault.OOM_OURS),
        (-11, True, None, Fault.ENGINE_KILLED),
        (1, True, None, Fault.CRASHED),
        (3, False, None, Fault.REFUSED),
        (4, False, None, Fault.DISK_FULL),
        (5, False, None, Fault.OOM_OURS),
        (2, False, {"class": "launcher_fault"}, Fault.LAUNCHER_FAULT),
        (2, False, {"class": "no_isolation"}, Fault.NO_ISOLATION),
        (2, False, {"class": HOSTILE}, Fault.HOST_FAULT),
        (2, False, [], Fault.HOST_FAULT),
        (2, False, None, Fault.HOST_FAULT),
    ],
)
def test_the_class_of_an_end(code: int, lacked: bool, said: object, wanted: Fault, tmp_path: Path) -> None:
    if said is not None:
        (tmp_path / "details.json").write_text(json.dumps(said))
    assert ended_by(code, tmp_path, lacked_memory=lacked) is wanted


@pytest.mark.parametrize(
    ("status", "over", "lacked", "left", "wanted"),
    [
        (137, None, False, None, Fault.ENGINE_KILLED),
        (137, None, True, None, Fault.OOM_OURS),
        (137, "wall", False, None, Fault.TIMEOUT_OURS),
        (2, None, False, b'{"class": "launcher_fault"}', Fault.LAUNCHER_FAULT),
        (4, None, False, None, Fault.DISK_FULL),
    ],
)
def test_the_class_of_a_containers_end(*, toy, tmp_path, monkeypatch, status, over, lacked, left, wanted) -> None:
    """The engine's answer is made up: it is what containers that end so are known to say."""
    ended = Ended(flow=Flow(over=over), status=status, out_of_memory=lacked)
    files = () if left is None else (FileEntry(b"details.json", content=left),)
    monkeypatch.setattr(container, "verify", lambda *_: (ended, files))
    monkeypatch.setattr(container, "verifier_of", lambda *_: None)
    with pytest.raises(AbnormalError) as raised:
        container.contained(toy.bundle, {"tests": ""}, ("--submission", str(tmp_path)), tmp_path, None, 5)
    assert raised.value.fault is wanted


def test_every_class_is_documented() -> None:
    rows = (Path(__file__).parents[3] / "docs" / "grading.md").read_text(encoding="utf-8").splitlines()
    assert [row.split("`")[1] for row in rows if row.startswith("| `")] == list(Fault)


class Place:
    """A bundle, a right submission, and what grading it comes to."""

    def __init__(self, toy: Any, folder: Path) -> None:
        self.bundle, self.environment, self.folder = toy.bundle, toy.path("r/environments.json"), folder
        self.right = table("python", read_sides(toy.bundle).all)

    def grade(self, *more: FileEntry, out: Path | None = None) -> Grade:
        """The grade of the right submission, with other files over it."""
        submission = self.folder / "submission"
        shutil.rmtree(submission, ignore_errors=True)
        write_tree(str(submission), {e.path: e for e in (*self.right, *more)}.values())
        return grade(self.bundle, submission, self.environment, out or self.folder / "out")

    def weakened(self, body: str) -> AbstractContextManager[None]:
        """Grade by a weakened verifier."""
        return weakened(self.bundle, self.folder / "payload", body)


@contextmanager
def weakened(bundle: Path, payload: Path, body: str) -> Iterator[None]:
    """Give the bundle a verifier with one weakness more: lines that run where it has received a submission."""
    weak = payload / "adversaries" / "weak"
    shutil.copytree(weaken.PAYLOAD / "adversaries" / "weak", weak)
    (weak / "spoilt.py").write_text(WEAK + textwrap.indent(body, "    "), encoding="utf-8")
    verifier = bundle / "tests" / "verify.pyz"
    whole = verifier.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weaken, "PAYLOAD", payload)
        verifier.write_bytes(weaken.weak_program(whole, "spoilt"))
    yield
    verifier.write_bytes(whole)


WEAK = """
import os
import subprocess
import tempfile

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.pump import Flow
from programsmith.payload.verifier.tree import write_tree


def remove():
    swap(grade, "build", build)


def build(former, files, policy, launcher):
    spoil(tuple(files))
    return former(files, policy, launcher)


def spoil(files):
"""
BARE = """with tempfile.TemporaryDirectory() as place:
    write_tree(place + "/s", files)
    subprocess.run(["/bin/sh", "compile.sh"], cwd=place + "/s", check=False)"""
KILLER = FileEntry(b"compile.sh", "file", 0o755, b"kill -9 $PPID\nexit 1\n")


@pytest.fixture
def place(toy: Any, tmp_path: Path) -> Place:
    return Place(toy, tmp_path)


def test_a_verifier_killed_in_mid_grade_is_asked_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    number = ready._number

    def kill_first(pipe: Any) -> int:
        """The number of the first run, which is killed once it has started a launch."""
        found = number(pipe)
        if not killed:
            killed.append(found)
            until = time.monotonic() + 60
            while not Path(f"/proc/{found}/task/{found}/children").read_text() and time.monotonic() < until:
                time.sleep(0.001)
            os.kill(found, signal.SIGKILL)
        return found

    monkeypatch.setattr(ready, "_number", kill_first)
    got = place.grade()
    assert (got.reward, got.word, got.hostile) == (1.0, "AC", False)
    [end] = got.ends
    assert end.startswith("engine_killed: the verifier gave no grade (ended by signal 9)")


def test_a_submission_that_ends_its_verifier_each_time_gets_nothing(place: Place) -> None:
    with place.weakened(BARE):
        assert (place.grade().reward, place.grade().ends) == (1.0, ())
        got = place.grade(KILLER)
        assert (got.reward, got.word, got.hostile, len(got.ends)) == (0.0, "NOT_RUN", True, 2)
        assert all(end.startswith("engine_killed: ") for end in got.ends)
        assert set(got.details["cases"]["held_out"].values()) == {"NOT_RUN"}
        assert got.details["class"] == HOSTILE
        assert "the table control scores 1 here" in got.reason
    assert (place.grade(KILLER).word, place.grade().reward) == ("BUILD_FAIL", 1.0)


@contextmanager
def full_disk(at: Path, kilobytes: int) -> Iterator[None]:
    """A file system without room for a byte; removing `ballast` makes some."""
    at.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(at)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount: run as root")
    try:
        subprocess.run(["dd", "if=/dev/zero", f"of={at}/ballast", "bs=4k"], check=False, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", str(at)], check=True)


def test_a_full_disk_is_infra_and_with_room_the_grade_comes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    at = place.folder / "small"
    out = at / "out"
    with full_disk(at, 1024):
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(at))
            with pytest.raises(AbnormalError) as raised:
                place.grade(out=out)
            assert raised.value.fault is Fault.DISK_FULL
            assert "the table control cannot be laid down" in str(raised.value)
            assert not (out / "reward.json").exists()
            (at / "ballast").unlink()
            got = place.grade(out=out)
        assert (got.reward, got.ends) == (1.0, ())
        assert json.loads((out / "reward.json").read_bytes()) == {"reward": 1.0}


FAILS = FileEntry(b"compile.sh", "file", 0o755, b"exit 1\n")


@pytest.mark.parametrize("full", ["before", "afterwards", "never"])
def test_a_build_that_fails_is_not_blamed_for_a_full_disk(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    """Also where somebody has made room by the time that it failed. The disk is the one where a container builds."""
    at, build = tmp_path / "small", grading.build

    def changes_the_disk(*words: Any) -> Any:
        done = build(*words)
        if full == "before":
            (at / "ballast").unlink()
        elif full == "afterwards":
            (at / "ballast").write_bytes(bytes(120 << 20))
        return done

    with full_disk(at, 128 << 10), monkeypatch.context() as patch:
        if full != "before":
            (at / "ballast").unlink()
        patch.setattr(tempfile, "tempdir", str(at))
        patch.setattr(grading, "build", changes_the_disk)
        write_tree(str(tmp_path / "s"), [FAILS])
        tests = grading.read_tests(str(place.bundle / "tests"), None)
        with opened(place.environment.read_bytes()) as launchers:
            if full == "never":
                assert grading.grade(tests, str(tmp_path / "s"), launchers).word == "BUILD_FAIL"
                return
            with pytest.raises(OSError, match="No space left"):
                grading.grade(tests, str(tmp_path / "s"), launchers)


def test_a_memory_error_of_ours_is_infra(place: Place) -> None:
    with place.weakened("bytearray(1 << 60)"), pytest.raises(AbnormalError, match=r"^oom_ours: "):
        place.grade()
    assert json.loads((place.folder / "out" / "details.json").read_bytes())["class"] == Fault.OOM_OURS
    assert place.grade().reward == 1.0


@pytest.fixture
def narrow() -> Iterator[Path]:
    """A memory group of 128 MiB, below our own."""
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    parent = Path(f"/sys/fs/cgroup/memory{own['memory']}" if "memory" in own else f"/sys/fs/cgroup{own.get('', '/')}")
    group = parent / f"narrow-{os.getpid()}"
    try:
        group.mkdir()
        limit = next(name for name in ("memory.limit_in_bytes", "memory.max") if (group / name).exists())
        (group / limit).write_text(str(128 << 20))
    except (OSError, StopIteration):
        if group.exists():
            group.rmdir()
        pytest.skip("needs a memory group: run as root with a writable /sys/fs/cgroup")
    yield group
    for _ in range(200):
        if not any(made.read_text() for made in group.rglob("cgroup.procs")):
            break
        time.sleep(0.02)
    for made in (*group.glob("programsmith-*"), group):  # a killed verifier's go with the next one that runs there
        made.rmdir()


IN_GROUP = """
import sys
from pathlib import Path
from programsmith.bundle.abnormal import AbnormalError
from programsmith.bundle.grade import grade

group, *paths = sys.argv[1:]
Path(group).write_text("0")
try:
    print(grade(*map(Path, paths)).reward)
except AbnormalError as fault:
    print(fault)
"""


def test_a_verifier_that_the_kernel_ends_for_memory_is_infra(place: Place, narrow: Path) -> None:
    """Grading and verifier live in a group where there is not enough for a verifier that takes much."""
    write_tree(str(place.folder / "s"), place.right)
    words = [str(narrow / "cgroup.procs"), place.bundle, place.folder / "s", place.environment, place.folder / "out"]
    said = []
    for takes in ("", "held = bytearray(b'x' * (512 << 20))"):
        with place.weakened(takes or "pass"):
            done = subprocess.run([sys.executable, "-c", IN_GROUP, *words], capture_output=True, check=True, text=True)
        shutil.rmtree(place.folder / "payload")
        said.append(done.stdout.strip())
    assert said[0] == "1.0"
    assert said[1].startswith("oom_ours: the verifier gave no grade (ended by signal 9)")
    assert "nor could the table control be graded: oom_ours" in said[1]
    assert place.grade().reward == 1.0


def test_a_hostile_trial_is_recorded_as_such(own_bench: Any) -> None:
    left = own_bench.sh("printf 'kill -9 $PPID\\n' >submission/compile.sh")
    with weakened(own_bench.toy.bundle, own_bench.folder / "payload", BARE):
        shutil.rmtree(left.job.scratch)
        left.job.scratch.mkdir()
        outcome = block.run(left.job)
    got = codec.decode(recorded.Grade, outcome.evidence)
    assert (got.reward, got.word, got.hostile, len(got.ends)) == (0.0, "NOT_RUN", True, 2)
    assert outcome.reason.startswith("reward 0: hostile: the verifier ended abnormally each time (engine_killed, then")
    assert json.loads(left.job.outputs["t/details.json"].read_bytes())["class"] == HOSTILE
