"""The mill in a folder, for tests of the verbs: it is built by a process of its own and looked at by this one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from programsmith.compiler.loader import asked_specs
from tests.samples import toyread

SAMPLES = Path(__file__).parent
ANSWERED = re.compile(r"^mill  (\S+)  +(?:pass|done|more|harden|in_band|ship|revised|exported) ", re.MULTILINE)
SPEC = {
    "version": 1,
    "name": "mill",
    "source": {"path": "mine"},
    "rollouts": [{"agent": "command", "command": "x", "trials": 6}],
    "difficulty": [{"pass_rate": {"max": 0.5}, "trials_max": 9}],
    "revisions": {"max": 2},
    "budget": {"agent_wall": "10m"},
}


class Mill:
    """The mill in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache" / "mill"

    def make(self) -> Mill:
        shutil.copytree(SAMPLES / "millforge", self.root / "millforge", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("mine", "specs", "rules"):
            (self.root / name).mkdir()
        (self.root / "rules" / "batches.yaml").write_text("{first: 6, further: 3}\n")
        self.spec()
        return self

    def spec(self, **changed: Any) -> None:
        (self.root / "specs" / "mill.yaml").write_text(yaml.safe_dump(SPEC | changed))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, str(SAMPLES / "toyread.py"), "mill", str(self.root), *words]

    def start(self, *words: str, **how: Any) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | how
        return subprocess.Popen(self.command(*words), cwd=self.root, **pipes)

    def run(self, *words: str) -> tuple[int, str, str]:
        running = self.start(*words)
        out, err = running.communicate(timeout=120)
        assert "Traceback" not in err
        return running.returncode, out, err

    def look(self, *words: str) -> tuple[dict[str, Any], str]:
        """What a verb answers: JSON, and text. Raises what it refuses."""
        sys.path[:0] = [str(self.root)]
        try:
            module = import_module(f"programsmith.compiler.verbs.{words[0]}")
            names = [word for word in words[1:] if "=" not in word]
            asked = asked_specs([word for word in words[1:] if "=" in word], self.root, module.WORDS)
            found = module.answer(asked, names, toyread.compiler("mill", self.root))
        finally:
            sys.path.remove(str(self.root))
        return json.loads(json.dumps(found.value)), found.text

    def json(self, *words: str) -> dict[str, Any]:
        """What a verb says of the mill."""
        value, _ = self.look(*words)
        (spec,) = value["specs"]
        return spec | {"total": value.get("total")}

    def text(self, *words: str) -> str:
        """The same for a person."""
        return self.look(*words)[1]

    def build(self) -> list[str]:
        """The tasks that ran."""
        code, _, err = self.run("build", "spec=mill", "--yes")
        assert code == 0, err
        return [f"mill:{name}" for name in ANSWERED.findall(err)]

    def worked(self) -> int:
        """How many actions blocks began."""
        path = self.root / "journal"
        return sum(line.startswith("begin") for line in path.read_text().splitlines()) if path.exists() else 0

    def traces(self) -> dict[str, tuple[int, int, bytes]]:
        """Everything below cache/ and dist/: time, inode, content."""
        files = [path for name in ("cache", "dist") for path in (self.root / name).rglob("*") if not path.is_dir()]
        return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_ino, p.read_bytes()) for p in files}
