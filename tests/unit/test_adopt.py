"""The verb that takes what probes kept into the project's rules: readable, once each, nothing that was altered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from programsmith.adversaries.hacks import RULE, Hack, digest_of, entry_of, hacks, named
from programsmith.compiler.verbs.adopt import adopt
from programsmith.errors import Exit, InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.rulebook.load import Rulebook

TEXT = "line one\n  line two: 'x'\n# no comment\n"


def entry(*content: bytes, commands: tuple[str, ...] = ()) -> dict[str, Any]:
    files = tuple(FileEntry(b"f%d" % n, content=one) for n, one in enumerate(content))
    digest = digest_of(files, commands)
    made = Hack(
        id=named(digest), digest=digest, language="python", tool="rot", bundle="0" * 64, backend="bubblewrap",
        agent="codex", model="openai/x", index=1, trial="1" * 64, reward=1.0, files=files, commands=commands,
    )  # fmt: skip
    return entry_of(made)


def project(root: Path, **kept: list[dict[str, Any]]) -> Path:
    """A project with a spec for each name, and what the probe of its first revision kept."""
    (root / "specs").mkdir()
    for name, entries in kept.items():
        (root / "specs" / f"{name}.yaml").write_text(f"version: 1\nname: {name}\nsource: {{path: src}}\n")
        folder = root / "cache" / name / "r0"
        folder.mkdir(parents=True)
        (folder / "hacks.json").write_text(json.dumps({RULE: entries}))
    return root


def test_what_probes_kept_is_adopted_once_as_a_person_can_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = entry(TEXT.encode(), b"\xff\0"), entry(b"\ttabbed\n\n", commands=("cat >x <<'E'\nhi\nE",))
    root = project(tmp_path, a=[one], b=[one, two])
    assert adopt(["spec=a"], root) is Exit.OK
    assert capsys.readouterr().out == f"{one['id']}  rot  codex  openai/x  2 files\n"
    assert adopt([], root) is Exit.OK
    assert capsys.readouterr().out.split()[0] == two["id"]
    page = (root / "rules" / "hacks.yaml").read_text()
    assert page.startswith("# Submissions of adversaries")
    assert "text: |\n" in page
    assert "line two: 'x'\n" in page
    found = Rulebook(root).load(RULE)[RULE]
    assert hacks(found) == hacks([one, two])
    assert adopt([], root) is Exit.OK
    told = capsys.readouterr()
    assert (told.out, "nothing to adopt" in told.err) == ("", True)
    assert (root / "rules" / "hacks.yaml").read_text() == page


@pytest.mark.parametrize("wrong", [{"commands": ["rm -r /"]}, {"digest": "2" * 64}, {"files": []}])
def test_what_was_altered_is_not_adopted(tmp_path: Path, wrong: dict[str, Any]) -> None:
    root = project(tmp_path, a=[{**entry(b"x"), **wrong}])
    with pytest.raises(InputError, match="adopt"):
        adopt(["spec=a"], root)
    assert not (root / "rules").exists()


def test_a_kept_file_that_is_none_is_an_input_fault(tmp_path: Path) -> None:
    root = project(tmp_path, a=[])
    (root / "cache" / "a" / "r0" / "hacks.json").write_text("[")
    with pytest.raises(InputError, match=r"hacks.json: wanted what a probe keeps, got a fault"):
        adopt(["spec=a"], root)
