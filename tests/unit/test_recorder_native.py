"""Rust and Go suites that start the program, recorded with the real toolchains."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from programsmith.toolchains.load import toolchains
from tests.samples.suites import RULES, record
from tests.samples.suites_native import SHOUT, TALK

PROVIDED = {"rust": "rustup, with cargo", "go": "the Go distribution"}


@contextlib.contextmanager
def recorded(files: dict[str, bytes], language: str, scratch: Path):
    if language not in toolchains(RULES["toolchains"]):
        pytest.skip(f"rules/toolchains.yaml knows no {language}")
    if not shutil.which({"rust": "cargo", "go": "go"}[language]) or not shutil.which("gcc"):
        pytest.skip(f"no {language} here; install gcc and {PROVIDED[language]}")
    found = record(files, language, scratch)
    try:
        yield found
    finally:
        found.capture.forms["release"].launcher.close()


def test_tests_of_a_crate_run_one_by_one(tmp_path):
    with recorded(SHOUT, "rust", tmp_path) as found:
        assert {k: len(v) for k, v in found.replayed().items()} == {"agree": len(found.cases)}
        by_group = {m.group: m for m in found.cases}
        assert {"tests/cli.rs:words", "tests/cli.rs:piped", "tests/cli.rs:parallel"} <= set(by_group)
        assert by_group["tests/more.rs:beside"].case.argv == (b"beside",)
        assert by_group["tests/cli.rs:piped"].case.stdin == b"typed"
        assert {m.case.files[0].content for m in found.by_argv(b"state")} == {b"one", b"two"}
        assert found.skipped["in_process"] == 1


@pytest.mark.soak
def test_what_go_tests_build_of_the_tool_is_recorded(tmp_path):
    with recorded(TALK, "go", tmp_path) as found:
        assert {k: len(v) for k, v in found.replayed().items()} == {"agree": len(found.cases)}
        assert {m.case.files[0].content for m in found.by_argv(b"in.txt")} == {b"one", b"two"}
        assert {m.case.argv for m in found.cases} >= {(b"a",), (b"b",), (b"c",), (b"missing",), ()}
        assert {m.provenance.path for m in found.cases} == {b"main_test.go"}
        assert found.skipped["in_process"] == 1
