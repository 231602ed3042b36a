"""The batch program: each case ends as an interpreter of its own would end it, and leaves the same behind."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.coverage import batch

SCRIPTS = {
    "prints": "import sys\nprint('out', sys.argv[1:]); print('err', file=sys.stderr)\n",
    "exits": "import sys\nsys.exit(3)\n",
    "exits_by_text": "import sys\nsys.exit('no')\n",
    "raises": "print('before')\nraise ValueError('x')\n",
    "reads": "import sys\nsys.stdout.write(sys.stdin.read().upper())\n",
    "writes": "open('made', 'w').write('1')\n",
    "says_at_exit": "import atexit\natexit.register(print, 'late')\n",
    "dies": "import os, signal\nprint('lost', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n",
}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def asked(
    root: Path, program: Path, count: int, *, how: str = "script", trace: bool = False, **changes: Any
) -> list[dict[str, Any]]:
    case = {"argv": [b64(b"a")], "env": [], "stdin": b64(b"hello"), "files": [], "cpu": 5.0, "wall": 10.0}
    case |= {"memory": 1 << 30, "output": 1 << 20, **changes}
    request = json.dumps({"trace": trace, "name": b64(b"tool"), "cases": [case] * count}).encode()
    work = root / "work"
    work.mkdir()
    command = [sys.executable, batch.__file__, how, str(root), str(program)]
    done = subprocess.run(command, input=request, capture_output=True, cwd=work, check=True)
    assert not list(work.iterdir()), "the working directory is emptied"
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_case_ends_as_an_interpreter_of_its_own_would_end_it(tmp_path, name):
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[name])
    alone = tmp_path / "alone"
    alone.mkdir()
    plain = subprocess.run([sys.executable, script, "a"], input=b"hello", capture_output=True, cwd=alone)
    told = asked(tmp_path, script, 3)
    assert len(told) == 3
    for one in told:
        ended = -one["signal"] if one["signal"] else one["exit_code"]
        assert ended == plain.returncode
        assert base64.b64decode(one["stdout"]) == plain.stdout
        assert bool(one["stderr"]) == bool(plain.stderr)
        assert [base64.b64decode(f["path"]) for f in one["files"]] == [f.name.encode() for f in alone.iterdir()]


def test_a_trace_names_the_lines_that_ran_and_no_others(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nif len(sys.argv) > 5:\n    print('never')\nprint('always')\n")
    (one,) = asked(tmp_path, script, 1, trace=True)
    ran = {line.rpartition(":")[2] for line in one["lines"]}
    assert {"1", "2", "4"} <= ran
    assert "3" not in ran


def shell(root: Path, text: str) -> Path:
    script = root / "program"
    script.write_text("#!/bin/sh\n" + text)
    script.chmod(0o755)
    return script


def test_a_program_is_started_by_its_name_with_the_case_s_environment_streams_and_files(tmp_path):
    script = shell(tmp_path, 'cat; echo "$WHO $1" >&2; cp in sub/out; ln -s x link; exit 7\n')
    files = [
        {"path": b64(b"in"), "kind": "file", "mode": 0o600, "content": b64(b"\xff")},
        {"path": b64(b"sub"), "kind": "dir", "mode": 0o750, "content": ""},
    ]
    env = [[b64(b"WHO"), b64(b"me")], [b64(b"PATH"), b64(b"/usr/bin:/bin")]]
    for one in asked(tmp_path, script, 2, how="program", files=files, env=env):
        assert (one["exit_code"], one["signal"], one["overrun"], one["lines"]) == (7, None, False, [])
        assert base64.b64decode(one["stdout"]) == b"hello"
        assert base64.b64decode(one["stderr"]) == b"me a\n"
        left = {
            base64.b64decode(f["path"]): (f["kind"], f["mode"], base64.b64decode(f["content"])) for f in one["files"]
        }
        assert left.pop(b"sub/out")[2] == b"\xff"
        assert left == {b"in": ("file", 0o600, b"\xff"), b"sub": ("dir", 0o750, b""), b"link": ("link", 0o777, b"x")}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("while :; do :; done\n", {"cpu": 0.2}),
        ("trap '' PROF; while :; do :; done\n", {"cpu": 0.2}),
        ("sleep 60\n", {"wall": 0.2}),
        ("sleep 60 >/dev/null 2>&1 </dev/null &\nsleep 60\n", {"wall": 0.2}),
        ("while :; do echo yes; done\n", {"output": 1000}),
    ],
)
def test_what_overruns_is_killed_and_the_next_case_runs(tmp_path, text, changes):
    script = shell(tmp_path, text)
    env = [[b64(b"PATH"), b64(b"/usr/bin:/bin")]]
    told = asked(tmp_path, script, 2, how="program", env=env, **changes)
    assert len(told) == 2
    for one in told:
        assert one["overrun"]
        assert one["exit_code"] is None
        assert len(base64.b64decode(one["stdout"])) <= 1000


def test_what_a_case_leaves_running_is_killed_and_holds_up_nothing(tmp_path):
    script = shell(tmp_path, "sleep 60 &\necho done\n")
    for one in asked(tmp_path, script, 2, how="program", env=[[b64(b"PATH"), b64(b"/usr/bin:/bin")]], wall=30):
        assert (one["exit_code"], one["overrun"], base64.b64decode(one["stdout"])) == (0, False, b"done\n")


def test_more_input_and_output_than_a_pipe_holds_goes_through(tmp_path):
    data = bytes(range(256)) * 4096
    (one,) = asked(tmp_path, Path("/bin/cat"), 1, how="program", argv=[], stdin=b64(data), output=1 << 21)
    assert base64.b64decode(one["stdout"]) == data
    (tmp_path / "work").rmdir()
    (one,) = asked(tmp_path, Path("/bin/true"), 1, how="program", argv=[], stdin=b64(data))
    assert one["exit_code"] == 0, "input that nobody reads is no fault"
