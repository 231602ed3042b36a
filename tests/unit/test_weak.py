"""What takes a defence out of the verifier takes something out: each name that it replaces is there.

One that starts with such a verifier and finds a name gone would end as a fault of ours, and prove nothing.
"""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from programsmith.adversaries.weaken import weak_program
from programsmith.bundle.zipapp import verify_pyz
from programsmith.payload.adversaries import weak

MODULES = sorted(p.stem for p in Path(next(iter(weak.__path__))).glob("*.py") if p.stem not in {"__init__", "swap"})
REMOVE = f"""
import importlib
module = importlib.import_module("{weak.__name__}.%s")
getattr(module, "remove", lambda: None)()
"""


@pytest.mark.parametrize("kind", ["uid", "compiled"])
@pytest.mark.parametrize("name", MODULES)
def test_every_name_that_is_replaced_is_there(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "launcher.json").write_text(json.dumps({"kind": kind}))
    words = ["--launcher", f"{tmp_path}/launcher.json", "--tests", str(tmp_path), "--submission", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", REMOVE % name, *words], capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_weakened_verifier_starts_from_modules_that_are_its_sources_compiled(tmp_path: Path) -> None:
    program = tmp_path / "verify.pyz"
    program.write_bytes(weak_program(verify_pyz(), "bytes_stay_bytes"))
    said = subprocess.run([sys.executable, "-I", "-vv", program, "--help"], capture_output=True, text=True).stderr
    assert "programsmith/payload/verifier/grade.pyc" in said.replace("\\", "/")
    with zipfile.ZipFile(program) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    sources = {name for name in held if name.endswith(".py")}
    assert {f"{name}c" for name in sources} == {name for name in held if name.endswith(".pyc")}
    for name in sources:
        assert marshal.loads(held[f"{name}c"][16:]) == compile(held[name], name, "exec", dont_inherit=True)
