"""A sandbox of several places: what is writable outlives a run, what is mounted cannot be changed; how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.launcher import Mount, Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from tests.contract.backends import BACKENDS
from tests.contract.launches import ENV, limits

CAPS = {"max_files": 100, "max_bytes": 1 << 20}


@pytest.fixture(params=BACKENDS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    root = request.param.root()
    shown = tmp_path / "shown"
    (shown / "out").mkdir(parents=True)
    (shown / "given").write_text("given")
    mounts = (Mount(source=str(shown), target="/task"),)
    opened = open_sandbox(SandboxPlan(view=root, workspace="/home/x", writable=("/task/out",), mounts=mounts, env=ENV))
    yield opened
    opened.close()


def python(sandbox: Sandbox, code: str, **changes: float) -> Result:
    return sandbox.run((b"python3", b"-I", b"-c", code.encode()), cwd="/task", limits=limits(**changes))


def test_each_writable_place_outlives_a_run_and_is_read_by_its_path(sandbox: Sandbox) -> None:
    python(sandbox, "open('/home/x/h', 'w').write('1'); open('/task/out/o', 'w').write('2')")
    assert python(sandbox, "print(open('/home/x/h').read(), open('out/o').read())").stdout == b"1 2\n"
    assert [e.path for e in sandbox.take("/home/x", **CAPS)] == [b"h"]
    assert [e.path for e in sandbox.take("/task/out", **CAPS)] == [b"o"]
    sandbox.put([FileEntry(b"p", content=b"3")], "/task/out/in")
    assert python(sandbox, "print(open('out/in/p').read())").stdout == b"3\n"


def test_what_is_mounted_cannot_be_changed(sandbox: Sandbox, tmp_path: Path) -> None:
    for code in (
        "open('given', 'w')",
        "import os; os.unlink('given')",
        "open('new', 'w')",
        "import os; os.rmdir('out')",
    ):
        assert python(sandbox, code).exit_code == 1, code
    assert sorted(p.name for p in (tmp_path / "shown").iterdir()) == ["given", "out"]
    assert (tmp_path / "shown" / "given").read_text() == "given"
    assert list((tmp_path / "shown" / "out").iterdir()) == []


@pytest.mark.parametrize("at", ["/task", "/task/outer", "/home", "/task/out/../..", "/"])
def test_no_other_place_is_written_or_read(sandbox: Sandbox, at: str) -> None:
    with pytest.raises(InputError):
        sandbox.put([FileEntry(b"f")], at)
    with pytest.raises(InputError):
        sandbox.take(at, **CAPS)


def test_all_writable_places_count_together(sandbox: Sandbox) -> None:
    code = "for p in ('/home/x/f', 'out/f'): open(p, 'wb').write(b'x' * 700_000)"
    assert "work" in python(sandbox, code, work_bytes=1 << 20).limits_hit


def test_a_cut_reading_passes_its_cap_by_one(sandbox: Sandbox) -> None:
    python(sandbox, "open('out/a', 'wb').write(b'x' * 600); open('out/b', 'wb').write(b'x' * 600); open('out/c', 'w')")
    with pytest.raises(InputError, match="more than"):
        sandbox.take("/task/out", max_files=100, max_bytes=1000)
    found = sandbox.take("/task/out", max_files=100, max_bytes=1000, cut=True)
    assert [(e.path, len(e.content)) for e in found] == [(b"a", 600), (b"b", 401)]
    assert [e.path for e in sandbox.take("/task/out", max_files=1, max_bytes=1 << 20, cut=True)] == [b"a", b"b"]
    assert sandbox.take("/task/out", **CAPS, cut=True) == sandbox.take("/task/out", **CAPS)


def test_a_cut_reading_ends_at_a_depth(sandbox: Sandbox) -> None:
    python(sandbox, "import os\nos.chdir('out')\nfor n in range(400):\n os.mkdir('d'); os.chdir('d')")
    found = sandbox.take("/task/out", max_files=1000, max_bytes=1000, cut=True)
    assert max(e.path.count(b"/") for e in found) == 255


def test_nothing_runs_after_the_end_and_what_was_written_stays(sandbox: Sandbox) -> None:
    python(sandbox, "open('out/f', 'w')")
    sandbox.end()
    with pytest.raises(InfraError, match="has ended"):
        python(sandbox, "open('out/g', 'w')")
    assert [e.path for e in sandbox.take("/task/out", **CAPS)] == [b"f"]
    sandbox.end()
