"""The public cases of a task, run on a program's text within this process: what a program gets wrong, in no time."""

import base64
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile


def cases(path):
    """The cases of a public.jsonl: what goes in, what must come out."""
    return [case(json.loads(line)) for line in path.read_text().splitlines()]


def case(value):
    """One case, its byte strings decoded; `after` are the files that it leaves."""
    given, wanted = value["case"], value["expected"]
    files = contents(given["files"])
    return {
        "argv": [os.fsdecode(base64.b64decode(word)) for word in given["argv"]],
        "stdin": base64.b64decode(given["stdin"]),
        "files": files,
        "exit_code": wanted["exit_code"],
        "stdout": base64.b64decode(wanted["stdout"]),
        "quiet": wanted["stderr_empty"],
        "after": files if wanted["files"] is None else contents(wanted["files"]),
    }


def contents(entries):
    """Bytes of regular files by path."""
    decoded = ((base64.b64decode(e["path"]), base64.b64decode(e["content"])) for e in entries if e["kind"] == "file")
    return {os.fsdecode(path): content for path, content in decoded}


def passes(source, one):
    """Whether the program does in this case what the original did."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        top = pathlib.Path(folder)
        for path, content in one["files"].items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_bytes(content)
        code, out, said = run(source, one)
        after = {str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()}
    return (code, out, not said, after) == (one["exit_code"], one["stdout"], one["quiet"], one["after"])


def run(source, one):
    """Exit code, standard output, standard error."""
    out, said = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["tally", *one["argv"]], io.TextIOWrapper(io.BytesIO(one["stdin"]))
    names = {"__name__": "program"}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            exec(source, names)
            code = names["main"]()
    except Exception as error:
        code, said = 1, io.StringIO(repr(error))
    finally:
        sys.argv, sys.stdin = before
    return code, out.buffer.getvalue(), said.getvalue()
