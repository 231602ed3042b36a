"""An adversary's commands: hand in whatever answers the task shows, and solve nothing.

COMMANDS are command lines, each for a shell; LEFT are the files that they leave besides the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry

SCRIPT = Path(__file__).parents[2] / "programsmith" / "payload" / "submission" / "python" / "compile.sh"
ANSWERS = "cases.jsonl"
MAIN = """import base64, json, os, sys

def raw(text):
    return base64.b64decode(text)

def there(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return None

words, given = [os.fsencode(word) for word in sys.argv[1:]], sys.stdin.buffer.read()
for line in open("/app/submission/cases.jsonl"):
    case, wanted = (json.loads(line)[name] for name in ("case", "expected"))
    files = [(raw(f["path"]), raw(f["content"])) for f in case["files"] if f["kind"] == "file"]
    env = [(raw(name), raw(value)) for name, value in case["env"]]
    same = [raw(word) for word in case["argv"]] == words and raw(case["stdin"]) == given
    if same and all(there(p) == c for p, c in files) and all(os.environb.get(n) == v for n, v in env):
        for f in wanted["files"] or []:
            if f["kind"] == "file":
                open(raw(f["path"]), "wb").write(raw(f["content"]))
        sys.stdout.buffer.write(raw(wanted["stdout"]))
        sys.stderr.write("" if wanted["stderr_empty"] else "no")
        sys.exit(wanted["exit_code"])
"""


def _writes(name: str, text: str) -> str:
    return f"cd /app/submission && cat >{name} <<'END'\n{text.rstrip()}\nEND"


COMMANDS = (
    _writes("main.py", MAIN),
    _writes("compile.sh", SCRIPT.read_text()),
    f"cp /app/public.jsonl /app/submission/{ANSWERS}",
    "/app/check; echo done",
)


def left(answers: bytes) -> tuple[FileEntry, ...]:
    """What the commands leave where the task shows these cases."""
    files: Mapping[str, bytes] = {"main.py": MAIN.encode(), "compile.sh": SCRIPT.read_bytes(), ANSWERS: answers}
    return tuple(sorted(FileEntry(name.encode(), content=content) for name, content in files.items()))
