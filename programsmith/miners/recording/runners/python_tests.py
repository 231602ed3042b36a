"""pytest and unittest suites that start the tool as a process: by name, as a module, as a script, or by an interpreter.

pytest starts every file of tests. The stand-in is first in PATH under the tool's name and as python3, and what Python
says of itself (`sys.executable`) is that stand-in: calls of the tool by an interpreter are told from all others by
their first words. The same lie where a suite that is started in a virtual environment seeks them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from programsmith.errors import InfraError
from programsmith.miners.base import Bench, Skip, name_of
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.runners.scripts import stand_everywhere
from programsmith.miners.recording.session import PLACE, SEARCHED, SOURCE, Needs, Session, Start
from programsmith.miners.recording.stand_in import StandIn, sources
from programsmith.miners.recording.tests import in_test_folder, own_files
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.fetch import fetch
from programsmith.toolchains.python_requirements import requirements_of_tests
from programsmith.toolchains.python_tree import import_root
from programsmith.toolchains.recipe import BuildRefusedError

_TEST = re.compile(rb"^(test_.*|.*_tests?|tests?)\.py$")
_STARTS = re.compile(
    rb"\bsubprocess\b|\bPopen\b|\bos\.(system|popen|spawn|exec)|create_subprocess|script_runner|\bpexpect\b"
)
_EVERYWHERE = (b"conftest.py", b"__init__.py")
_PLAIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9,._ -]*\])?\s*([<>=!~][^;@/]*)?$")  # no URL, no path
_PYTHON = "/usr/bin/python3"
_NAMES = ("python3", "python")
_ENVIRONMENT = f"{PLACE}/venv"  # the virtual environment that a suite may ask for by its variable
_OPTIONS = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
    "--continue-on-collection-errors",
    "--import-mode=importlib",
)


class PythonTests:
    """The runner."""

    name = "python_tests"
    in_process = re.compile(rb"\.invoke\(|\b_?main\(|\bcli\(|run_cli\(|call_command\(")

    def tests(self, source: SourceTree, bench: Bench) -> list[FileEntry]:
        """Files that pytest collects tests from."""
        if bench.request.toolchain.language != "python":
            return []
        files = [e for e in own_files(source) if e.path.endswith(b".py")]
        return [e for e in files if _TEST.match(name_of(e.path))]

    def needs(self, source: SourceTree, bench: Bench) -> Needs:
        """Wheels of pytest and of what the source declares for its tests; else of pytest alone."""
        if not _starting(source, self.tests(source, bench)):
            raise Skip("starts_nothing")
        entry = bench.request.entry
        entries = list(source)
        root = import_root(entries, entry)
        path = [
            f"{PLACE}/site",
            f"{SOURCE}/{root}".rstrip("/"),
            SOURCE,
            f"{PLACE}/vendor",
            f"{ORACLE}/vendor",
            f"{ORACLE}/lib",
        ]
        site = FileEntry(b"site/sitecustomize.py", "file", 0o644, (sources() / "site.py").read_bytes())
        env = {"PYTHONPATH": ":".join(dict.fromkeys(path)), "PYTHONDONTWRITEBYTECODE": "1"}
        env["VIRTUAL_ENV"] = _ENVIRONMENT
        vendor = (site, *_wheels(source, bench))
        return Needs(programs=("env",), env=env, vendor=vendor, drops=("PYTHONPATH", "VIRTUAL_ENV"))

    def starts(self, session: Session, tests: Sequence[FileEntry]) -> Iterator[Start]:
        """One start per file that could start a process."""
        stand_everywhere(session)
        forms = _forms(session.bench.request.entry, session.source)
        inside = f"{_ENVIRONMENT}/bin"
        session.stand([StandIn(path=f"{inside}/{session.bench.facts.tool}")])
        places = [f"{folder}/{name}" for folder in (SEARCHED, inside) for name in _NAMES]
        session.stand([StandIn(path=path, other=_PYTHON, words=form) for path in places for form in forms])
        for test in _starting(session.source, tests):
            yield Start(words=(_PYTHON, "-m", "pytest", *_OPTIONS, os.fsdecode(test.path)), test=test.path)

    def place(self, call: Call, start: Start, tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """As pytest says which test runs: `path::Class::name[parameters] (call)`."""
        said = call.env.get(b"PYTEST_CURRENT_TEST", b"").rpartition(b" (")[0]
        path, _, name = said.partition(b"::")
        return (path if path in tests else start.test), name.rpartition(b"::")[2].decode("utf-8", "replace")


def _starting(source: SourceTree, tests: Sequence[FileEntry]) -> list[FileEntry]:
    """Of the tests, those that could start a process: by themselves, or by a module beside them that does."""
    beside = [e for e in own_files(source) if e.path.endswith(b".py") and in_test_folder(e)]
    starting = {e.path for e in (*beside, *tests) if _STARTS.search(e.content)}
    named = [name_of(p) for p in starting]
    if any(name in _EVERYWHERE for name in named):
        return list(tests)
    modules = b"|".join(sorted(re.escape(name.removesuffix(b".py")) for name in named)) or b"(?!)"
    imports = re.compile(rb"(?m)^\s*(?:from|import)\b.*\b(?:" + modules + rb")\b")
    return [t for t in tests if t.path in starting or imports.search(t.content)]


def _forms(entry: EntryPoint, source: SourceTree) -> list[tuple[str, ...]]:
    """First words of an interpreter's calls that are calls of the tool."""
    if entry.kind == "python-script":
        script: list[tuple[str, ...]] = [(f"{SOURCE}/{entry.target}",)]
        package = entry.target.removesuffix("/__main__.py")
        if package == entry.target:
            return script
        root = import_root(list(source), entry)
        return [*script, ("-m", package.removeprefix(f"{root}/" if root else "").replace("/", "."))]
    module = entry.target.partition(":")[0]
    top = module.split(".")[0]
    mains = {os.fsdecode(e.path).rpartition("/")[0].split("/")[-1] for e in source.files(b"/__main__.py")}
    inner = "/".join(filter(None, (SOURCE, import_root(list(source), entry), module.replace(".", "/"))))
    whole = [("-m", top)] if top in mains and top != module else []
    return [("-m", module), *whole, (f"{inner}.py",), (f"{inner}/__main__.py",)]


def _wheels(source: SourceTree, bench: Bench) -> tuple[FileEntry, ...]:
    """Wheels of pytest and of what the source's tests declare, unpacked. Raises Skip `no_pytest`."""
    stated = [w.replace(" ", "") for w in requirements_of_tests(source) if _PLAIN.match(w)]
    for wanted in (["pytest", *stated], ["pytest"]):
        build = {"fetch": [f"pip download {' '.join(wanted)}"]}
        try:
            return fetch(source, replace(bench.request, spec_build=build))
        except BuildRefusedError:
            continue
        except InfraError as fault:
            bench.say(f"recorder: {fault}")
    raise Skip("no_pytest")
