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


def asked(root: Path, script: Path, count: int, *, trace: bool = False) -> list[dict[str, Any]]:
    case = {"argv": [b64(b"a")], "env": [], "stdin": b64(b"hello"), "files": [], "cpu": 5.0, "wall": 10.0}
    request = json.dumps({"trace": trace, "cases": [case] * count}).encode()
    work = root / "work"
    work.mkdir()
    command = [sys.executable, batch.__file__, str(root), str(script)]
    done = subprocess.run(command, input=request, capture_output=True, cwd=work, check=True)
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
