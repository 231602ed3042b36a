"""A start that the stamps answer says and returns what a look at everything says and returns, and imports little."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith import cli
from programsmith.compiler import early
from programsmith.compiler.loader import asked_specs
from programsmith.errors import ProgramSmithError

ROOT = Path(__file__).parents[2]
OUTCOMES = ("ship", "draft", "shelve_easy", "shelve_hard", "drop", "parked", "reject")
HEAVY = ("doit", "yaml", "jsonschema", "rich", "dataclasses", "pathlib", "typing", "programsmith.compiler.compile")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a spec of every outcome, each called as its outcome, all up to date."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from fleet import Size, lay

    root = tmp_path_factory.mktemp("fleet")
    lay(root, {outcome: outcome for outcome in OUTCOMES}, Size(source=2, cases=2, others=1, trials=2))
    (root / "deep" / "down").mkdir(parents=True)
    yield root
    sys.path.remove(str(ROOT / "benchmarks"))


def unstamp(root: Path) -> None:
    for path in root.glob("cache/*/stamp"):
        path.unlink()


def never(looked: early.Look | None) -> int:
    raise AssertionError(looked.known if looked else None)


@pytest.mark.parametrize(
    ("where", "args", "code"),
    [
        (".", [], 1),
        (".", ["--yes"], 1),
        ("deep/down", ["-n", "3"], 1),
        (".", ["spec=ship"], 0),
        (".", ["spec=draft.yaml"], 0),
        (".", ["spec=ship,draft"], 0),
        (".", ["spec=draft, ship", "-y"], 0),
        (".", ["spec=specs/shelve_easy.yaml"], 1),
        ("deep", ["-n", "2", "spec=shelve_hard", "-y"], 1),
        ("specs", ["spec=drop.yaml"], 1),
        (".", ["spec=parked"], 1),
        (".", ["spec=ship,reject"], 1),
        ("/", ["spec={root}/specs/ship.yaml"], 0),
    ],
)
def test_both_say_the_same(
    fleet: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
    args: list[str],
    code: int,
) -> None:
    monkeypatch.chdir(fleet / where)
    words = ["build", *(arg.format(root=fleet) for arg in args)]
    unstamp(fleet)
    assert cli.run(words) == code
    slow = capsys.readouterr()
    assert early.answered(words, never) == code
    fast = capsys.readouterr()
    assert (fast.out, fast.err) == (slow.out, slow.err)
    assert slow.err.count("nothing to do: ") == slow.out.count("\n") > 0


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["list"],
        ["build", "spec=ship", "spec=draft"],
        ["build", "spec=ship", "approve=pick"],
        ["build", "ship"],
        ["build", "-n", "0"],
        ["build", "-n"],
        ["build", "--help"],
        ["build", "spec="],
        ["build", "spec=s*"],
        ["build", "spec=nope"],
        ["build", "spec=ship,ship"],
        ["build", "spec=../specs/ship.yaml"],
        ["build", "spec=specs"],
        ["build", "spec=a\0b"],
    ],
)
def test_what_is_not_plain_is_left_to_the_build(fleet: Path, monkeypatch: pytest.MonkeyPatch, args: list[str]) -> None:
    monkeypatch.chdir(fleet)
    cli.run(["build"])
    assert early.answered(args, lambda looked: -1 if looked is None else -2) == -1


@pytest.mark.parametrize("start", [".", "specs", "deep/down", "cache/ship"])
@pytest.mark.parametrize(
    "word", [None, "ship", "ship.yaml", "specs/ship.yaml", "ship,draft", "down", "deep", "x", "ship.yaml.yaml", "a,,b"]
)
def test_the_first_look_means_the_same_specs(
    fleet: Path, monkeypatch: pytest.MonkeyPatch, start: str, word: str | None
) -> None:
    monkeypatch.chdir(fleet / start)
    args = [f"spec={word}"] if word else []
    cli.run(["build"])
    looked = early.look(["build", *args])
    try:
        wanted = [str(path) for path in asked_specs(args, fleet / start).files]
    except ProgramSmithError:
        wanted = None
    assert (looked.files if looked else None) == wanted


def test_a_part_that_is_known_is_not_looked_at_again(
    fleet: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(fleet)
    cli.run(["build"])
    whole = capsys.readouterr()
    (fleet / "cache" / "drop" / "stamp").unlink()
    known: list[set[str]] = []

    def go_on(looked: early.Look | None) -> int:
        assert looked is not None
        known.append({Path(path).stem for path in looked.known})
        return cli.run(["build"], looked)

    assert early.answered(["build"], go_on) == 1
    assert known == [{*OUTCOMES} - {"drop"}]
    part = capsys.readouterr()
    assert part.out == whole.out
    assert sorted(part.err.splitlines()) == sorted(whole.err.splitlines())
    assert (fleet / "cache" / "drop" / "stamp").exists()


def test_a_base_among_the_specs_is_none(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fleet)
    base = fleet / "specs" / "base.yaml"
    base.write_text("description: ''\n")
    try:
        assert cli.run(["build"]) == 3  # a file without a name that nobody extends
        looked = early.look(["build"])
        assert looked is not None
        assert not looked.whole
    finally:
        base.unlink()


def imported(command: list[str], where: Path) -> tuple[int, str, list[str], list[str]]:
    """Exit code, stdout, other lines of stderr, modules that were imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command], cwd=where, capture_output=True, text=True, timeout=120
    )
    lines = done.stderr.splitlines()
    timed = [line for line in lines if line.startswith("import time:")]
    names = [line.rpartition("|")[2].strip() for line in timed]
    return done.returncode, done.stdout, [line for line in lines if line not in timed], names


def test_a_start_that_is_answered_imports_little(fleet: Path) -> None:
    _, slow_out, slow_err, _ = imported(["-m", "programsmith", "build"], fleet)
    code, out, err, names = imported(["-m", "programsmith", "build"], fleet)
    assert (code, out, err) == (1, slow_out, slow_err)
    assert "programsmith.compiler.early" in names
    assert [name for name in names if name in HEAVY] == []
    code, out, err, names = imported(["-m", "doit", "build"], fleet)
    assert (code, out, err) == (1, slow_out, slow_err)
    assert [name for name in names if name in ("yaml", "jsonschema", "rich", "programsmith.compiler.compile")] == []


def test_a_full_disk_under_stdout_is_told_alike(fleet: Path) -> None:
    def run() -> tuple[int, list[str]]:
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "programsmith", "build"]
            done = subprocess.run(command, cwd=fleet, stdout=full, stderr=-1, text=True, timeout=120)
        return done.returncode, [line for line in done.stderr.splitlines() if "nothing to do" not in line]

    unstamp(fleet)
    slow = run()
    cli.run(["build", f"spec={fleet}/specs/*.yaml"])
    assert run() == slow
    assert any("disk full" in line for line in slow[1])
