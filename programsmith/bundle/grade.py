"""Grading from the host: a bundle, a submission and an environment file go in, the verifier's grade comes out.

A grading run is a process of its own with a clean environment and its own process group, killed as a group when it
overruns the longest time that its own limits allow. Where the bundle's verifier is this installation's, byte for byte,
and gets no secret, it is a fork of one that has started already. All but one well-formed reward is an abnormal end: one
artifact is then held to the table control (abnormal.py), and gets 0 where it alone ends its verifier.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from programsmith.bundle import ready
from programsmith.bundle.abnormal import AbnormalError, ended_by, no_grade, overran, settled
from programsmith.bundle.container import LEFT, contained
from programsmith.bundle.controls import has_table, table
from programsmith.bundle.sides import read_sides
from programsmith.errors import InfraError, boundary
from programsmith.payload.verifier import report
from programsmith.payload.verifier.cgroup import memory_kills
from programsmith.payload.verifier.faults import HOSTILE, End, Fault, fault_of
from programsmith.payload.verifier.plan import decode_plan
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.sandboxes.base import DOCKER
from programsmith.sandboxes.owners import prefix
from programsmith.sandboxes.scratch import scratch

_REWARD_BYTES = 4096
_DETAILS_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A grade: the reward in 0..1, the word that sums it up, the reason, and all of details.json.

    `ends` are the abnormal ends before it; of a submission that is to blame for two of them it is `hostile`.
    """

    reward: float
    word: str
    reason: str
    details: Mapping[str, Any]
    ends: tuple[str, ...] = ()

    @property
    def hostile(self) -> bool:
        """Whether the submission ended its verifier each time."""
        return bool(self.details.get("class") == HOSTILE)


def grade(
    bundle: Path, submission: Path, environment: Path, out: Path, secret: bytes | None = None, *, fresh: bool = False
) -> Grade:
    """Grade the submission at `submission`; `out` receives the verifier's files. Raises InfraError.

    `fresh` starts a verifier for it alone: for whoever has something to do with the start. An abnormal end is blamed on
    the submission, or on this host, by the table control.
    """

    def attempt(handed_in: Path, place: Path) -> Grade:
        return _verify(bundle, [("--submission", str(handed_in))], environment, (place,), secret, fresh=fresh)[0]

    got, ends = settled(lambda: attempt(submission, out), lambda: _control(bundle, secret, attempt))
    got = got or _hostile(bundle, out, secret, ends)
    return replace(got, ends=tuple(map(str, ends)))


def _control(bundle: Path, secret: bytes | None, attempt: Callable[[Path, Path], Grade]) -> float:
    """The reward that the table of all cases gets here and now. Raises InfraError, InputError."""
    sides = read_sides(bundle, secret)
    language = next(filter(has_table, sides.policy.languages), sides.policy.languages[0])
    with boundary(InfraError, "the table control cannot be laid down", OSError), scratch("control") as folder:
        write_tree(str(folder / "submission"), table(language, sides.all))
        return attempt(folder / "submission", folder / "out").reward


def _hostile(bundle: Path, out: Path, secret: bytes | None, ends: Sequence[AbnormalError]) -> Grade:
    """The grade of a submission that leaves none: no case counts as run. Writes what a verifier writes."""
    sides = read_sides(bundle, secret)
    classes = ", then ".join(end.fault for end in ends)
    why = f"hostile: the verifier ended abnormally each time ({classes}), and the table control scores 1 here"
    nothing = report.judged(sides.all, {}, sides.plan)
    report.write(str(out), replace(nothing, reason=why, reward=0.0, fault_class=HOSTILE))
    return read_grade(out)


def grade_all(
    bundle: Path, submissions: Mapping[Path, Path], environment: Path, secret: bytes | None = None
) -> list[Grade]:
    """Grade several submissions, each by the folder for its grade, in one verifier. Raises InfraError, for any."""
    subjects = [("--submission", str(submission)) for submission in submissions.values()]
    return _verify(bundle, subjects, environment, tuple(submissions), secret) if subjects else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """The oracle for a golden replay: its unpacked tree on the host, and its program's absolute path inside."""

    tree: Path
    program: str


def replay(bundle: Path, oracle: Oracle, environment: Path, out: Path, secret: bytes | None = None) -> Grade:
    """Run every case of the bundle on the oracle at the run stage. Raises InfraError."""
    return _verify(bundle, [("--replay", str(oracle.tree), oracle.program)], environment, (out,), secret)[0]


def _verify(
    bundle: Path,
    subjects: Sequence[tuple[str, ...]],
    environment: Path,
    outs: Sequence[Path],
    secret: bytes | None,
    *,
    fresh: bool = False,
) -> list[Grade]:
    tests = bundle / "tests"
    with boundary(InfraError, f"{tests}: not a bundle's tests folder", OSError, ValueError, KeyError, TypeError):
        seconds = decode_plan((tests / "plan.json").read_bytes()).timeout_seconds
        for out in outs:
            out.mkdir(parents=True, exist_ok=True)
            for name in LEFT:
                (out / name).unlink(missing_ok=True)
    with boundary(InfraError, f"{environment}: no environment file", OSError, ValueError, KeyError, TypeError):
        place: Mapping[str, Any] = json.loads(environment.read_bytes())
        is_contained = place["kind"] == DOCKER
    if is_contained:
        return [
            _left(out, _contained(bundle, place, subject, out, secret, seconds))
            for subject, out in zip(subjects, outs, strict=True)
        ]
    places = [word for out in outs for word in ("--out", str(out))]
    words = ["--tests", str(tests), "--launcher", str(environment), *(w for s in subjects for w in s), *places]
    told = _run(tests / "verify.pyz", words, outs, secret, seconds * len(outs), fresh=fresh)
    return [_left(out, told) for out in outs]


def _contained(
    bundle: Path, place: Mapping[str, Any], subject: Sequence[str], out: Path, secret: bytes | None, seconds: float
) -> str:
    """What a verifier in a container says at its end. Raises AbnormalError."""
    try:
        return contained(bundle, place, subject, out, secret, seconds)
    except AbnormalError:
        raise
    except InfraError as fault:
        raise AbnormalError(fault_of(fault) or Fault.ENGINE_KILLED, str(fault)) from fault


def _left(out: Path, said: str) -> Grade:
    """The grade that lies in `out`. Raises AbnormalError where none does."""
    try:
        return read_grade(out, said)
    except InfraError as fault:
        raise AbnormalError(Fault.NO_REPORT, str(fault)) from fault


def _run(
    program: Path, words: Sequence[str], outs: Sequence[Path], secret: bytes | None, seconds: float, *, fresh: bool
) -> str:
    """Run the verifier to its end; the end of what it says. Raises AbnormalError where it does not grade."""
    kills = memory_kills()
    try:
        with scratch("verifier") as folder, tempfile.NamedTemporaryFile(prefix=prefix("said")) as said:
            if fresh or secret is not None or program.read_bytes() != ready.program():
                code = _start([sys.executable, "-I", str(program), *words], str(folder), said, secret, seconds)
            else:
                code = ready.run(words, str(folder), said.name, seconds)
            said.seek(0)
            tail = said.read()[-2000:].decode("utf-8", "backslashreplace").strip()
    except (OSError, ValueError) as fault:
        kind = fault_of(fault) or (Fault.ENGINE_KILLED if isinstance(fault, ConnectionError) else Fault.HOST_FAULT)
        raise AbnormalError(kind, f"{program}: cannot be run; grade again: {fault}") from fault
    if code is None:
        raise AbnormalError(Fault.TIMEOUT_OURS, overran(seconds))
    if code != End.GRADED:
        kind = ended_by(code, _without_grade(outs), lacked_memory=memory_kills() > kills)
        raise AbnormalError(kind, no_grade(code, tail))
    return tail


def _without_grade(outs: Sequence[Path]) -> Path:
    """The first folder without a reward, else the first."""
    return next((out for out in outs if not (out / report.REWARD).exists()), outs[0])


def _start(command: Sequence[str], folder: str, said: IO[bytes], secret: bytes | None, seconds: float) -> int | None:
    """The exit code of a verifier of its own start; None where its time was over."""
    env = {**ready.ENVIRONMENT, "TMPDIR": folder}
    if secret is not None:
        env[SECRET_NAME] = secret.hex()
    process = subprocess.Popen(
        command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, process_group=0
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the verifier and all that it started; a group that is gone is fine."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def read_grade(out: Path, said: str = "") -> Grade:
    """The grade that a verifier left in `out`, read strictly. Raises InfraError on anything but one finite reward."""
    with boundary(InfraError, f"{out}: no well-formed grade ({said})", OSError, ValueError, KeyError, TypeError):
        raw = _regular(out / "reward.json", _REWARD_BYTES)
        value = json.loads(raw, parse_constant=_refuse)
        if not isinstance(value, dict) or set(value) != {"reward"}:
            raise ValueError(f"reward.json: wanted exactly one key, reward, got {value!r}")
        reward = value["reward"]
        if isinstance(reward, bool) or not isinstance(reward, (int, float)) or not 0 <= reward <= 1:
            raise ValueError(f"reward.json: wanted a number in 0..1, got {reward!r}")
        details = json.loads(_regular(out / "details.json", _DETAILS_BYTES), parse_constant=_refuse)
        if details["reward"] != reward:
            raise ValueError(f"details.json says {details['reward']!r}, reward.json {reward!r}")
        return Grade(reward=float(reward), word=details["word"], reason=details["reason"], details=details)


def _regular(path: Path, most: int) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise ValueError(f"{path.name}: wanted a regular file")
        raw = source.read(most + 1)
    if len(raw) > most:
        raise ValueError(f"{path.name}: wanted at most {most} bytes")
    return raw


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
