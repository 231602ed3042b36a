"""The shape of the code: sizes, names, words, and one map of the pipeline in plan, folder, tests and README."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.compiler.pages import ROW, rows
from programsmith.compiler.plan import STEPS

ROOT = Path(__file__).parents[1]
CODE = sorted([*ROOT.glob("programsmith/**/*.py"), ROOT / "dodo.py"])
SOURCES = sorted([*CODE, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")])
LINES_PER_FILE = 400
LINES_PER_FUNCTION = 40
LINES_PER_STRING = 15
BANNED = frozenset({"util", "utils", "helper", "helpers", "manager", "handler", "data", "info", "ctx"})
HISTORY = re.compile(r"\b(legacy|deprecated|no longer|previously|TODO|FIXME|XXX|refactored|workaround for now)\b")
TEMPORARY = frozenset({"mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile"})
IN_SCRATCH = ("payload/verifier/grade.py", "payload/verifier/plain.py")  # their process has a folder for such things
MACHINE = re.compile(r"/opt/ps\b|/work/(main|shared)\b|/root/|/tmp/a2\b")


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _words(name: str) -> set[str]:
    return set(re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_"))


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_files_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_PER_FILE
    for node in _definitions(_tree(path)):
        if not isinstance(node, ast.ClassDef):
            assert (node.end_lineno or 0) - node.lineno < LINES_PER_FUNCTION, node.name


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_names_say_what_a_thing_is(path: Path) -> None:
    assert not _words(path.stem) & BANNED
    for node in _definitions(_tree(path)):
        assert not _words(node.name) & BANNED, node.name
        assert not node.name.startswith("process_"), node.name


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_private_names_stay_in_their_file(path: Path) -> None:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("programsmith"):
            private = [a.name for a in node.names if a.name.startswith("_") and not a.name.startswith("__")]
            assert private == []


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_text_is_present_tense_and_of_no_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert HISTORY.findall(text) == []
    assert MACHINE.findall(text) == []


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_programs_are_files_not_strings(path: Path) -> None:
    tree = _tree(path)
    documented = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docs = {id(n.body[0].value) for n in documented if n.body and isinstance(n.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in docs:
            newline = "\n" if isinstance(node.value, str) else b"\n"
            assert node.value.count(newline) <= LINES_PER_STRING, f"line {node.lineno}"  # type: ignore[arg-type]


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(_tree(path))


@pytest.mark.parametrize("path", CODE, ids=_name)
def test_temporary_things_tell_whose_they_are(path: Path) -> None:
    """Where temporary files go, a name without a prefix bears the mark of a run, or the prefix is the mark."""
    for node in ast.walk(_tree(path)):
        made = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEMPORARY
        if not made or "payload/adversaries" in str(path):
            continue
        given = {word.arg: word.value for word in node.keywords}
        mark = given.get("prefix")
        owned = mark is None or (isinstance(mark, ast.Call) and ast.unparse(mark.func) == "prefix")
        in_scratch = "dir" in given or str(path).endswith(IN_SCRATCH)
        kept = ast.unparse(given.get("delete", ast.Constant(True))) == "False"  # noqa: FBT003
        assert owned or in_scratch or kept, f"line {node.lineno}"


def test_readme_shows_the_plan() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [line for line in readme.splitlines() if line.startswith(ROW)] == rows(STEPS)


def test_every_block_is_a_file_and_every_file_a_block() -> None:
    files = {path.stem for path in ROOT.glob("programsmith/blocks/*.py")} - {"__init__"}
    assert files == {step.block for step in STEPS}


@pytest.mark.parametrize("block", [step.block for step in STEPS])
def test_every_block_has_a_test(block: str) -> None:
    assert any((ROOT / "tests" / "unit").glob(f"**/test_*{block}*.py"))


def test_every_artifact_is_written_once_and_before_it_is_read() -> None:
    written: list[str] = []
    for step in STEPS:
        assert set(step.reads) <= set(written), step.block
        written += step.writes
    assert len(written) == len(set(written))


def test_every_rule_file_has_a_schema_with_descriptions() -> None:
    rules = {path.stem for path in (ROOT / "rules").glob("*.yaml")}
    schemas = {path.stem for path in (ROOT / "rules" / "schema").glob("*.json")}
    assert rules <= schemas


def test_every_dependency_is_explained() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    names = {re.split(r"[\[<>=~ ]", text)[0] for text in wanted} - {"programsmith"}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert names == set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))


def test_readme_begins_with_two_blocks_of_one_line() -> None:
    blocks = re.findall(
        r"^```(?:sh|shell|bash)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert [block.count("\n") for block in blocks[:2]] == [1, 1]
    assert "doit build spec=specs/" in blocks[0]
    assert "pytest" in blocks[1]
