"""What is paid for carries a number instead of its code: whoever changes what is bought raises it, or looks at it."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.bundle.zipapp import check_files
from programsmith.compiler.cached import PAID
from programsmith.compiler.plan import STEP
from programsmith.compiler.slices import Blocks

PINNED = Path(__file__).parents[1] / "samples" / "paid.json"
OF_AN_ATTEMPT = ("programsmith.agents.", "programsmith.sandboxes.", "programsmith.payload.", "programsmith.blocks.")
"""Code that decides what an agent meets and what is collected of it; the rest of the engine hands it on."""
WHOLE = ("init", "launch", "bridge", "harness")  # payload that is started as it lies, not imported


def code(path: Path) -> bytes:
    """A source without comments, docstrings and blank lines; the same under every version of Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text.encode()
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip()).encode()


def files(block: str, blocks: Blocks) -> Iterator[tuple[str, Path]]:
    for name, path in blocks.modules(block).items():
        if f"{name}.".startswith(OF_AN_ATTEMPT):
            yield name, path
    yield from ((f"check/{path.name}", path) for path in check_files())
    for folder in set(WHOLE) & set(STEP[block].payload):
        for path in sorted(blocks.payload(folder).glob("*.[pch]*")):
            yield f"payload/{folder}/{path.name}", path


def digest(block: str, blocks: Blocks) -> str:
    total = hashlib.sha256()
    for name, path in sorted(files(block, blocks)):
        total.update(name.encode() + b"\0" + hashlib.sha256(code(path)).digest())
    return total.hexdigest()


@pytest.mark.parametrize("block", sorted(PAID))
def test_code_that_changes_an_attempt_raises_its_number(block: str) -> None:
    blocks = Blocks()
    number, now = blocks.part(block, "NUMBER"), digest(block, blocks)
    pinned = json.loads(PINNED.read_text())[block]
    assert pinned == {"number": number, "code": now}, (
        f"what decides an attempt changed. Does an agent see, get or leave anything else by it? Then raise NUMBER in "
        f"blocks/{block}.py, and every {block} is bought anew. Else it stays. Either way write into {PINNED.name}: "
        f'"{block}": {json.dumps({"number": number, "code": now})}'
    )


def test_a_comment_is_no_change_and_a_word_is(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text('"""Doc."""\n\n\ndef f():\n    """Doc."""\n    return 1\n')
    before = code(path)
    path.write_text('"""Other."""\n\n# more\ndef f():\n    return 1\n')
    assert code(path) == before
    path.write_text("def f():\n    return 2\n")
    assert code(path) != before


def test_the_sandbox_and_its_first_process_decide_an_attempt() -> None:
    names = {name for name, _ in files("trial", Blocks())}
    assert {"programsmith.blocks.trial", "programsmith.agents.place", "programsmith.sandboxes.embedded"} <= names
    assert {"payload/init/init.py", "payload/init/init.c", "programsmith.payload.verifier.bwrap"} <= names
    assert {"payload/bridge/relay.c", "payload/bridge/shim.py", "payload/harness/mini.py"} <= names
    assert "programsmith.payload.verifier.report" not in names
