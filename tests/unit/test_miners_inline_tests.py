from __future__ import annotations

from tests.samples.mine import mine


def read(text, tool="tool", **files):
    return mine("inline_tests", {b"t/a.txt": text, **{k.encode(): v for k, v in files.items()}}, tool=tool)


def test_a_tool_with_arguments_error_and_streams():
    head = b";;; TOOL: tool\n;;; ARGS: -v 'a b'\n;;; ERROR: 1\n(x)\n"
    text = head + b"(;; STDERR ;;;\nbad\n;;; STDERR ;;)\n(;; STDOUT ;;;\nout\n\n;;; STDOUT ;;)\n"
    ((one,), skipped) = read(text)
    assert one.case.argv == (b"a.txt", b"-v", b"a b")
    assert [(f.path, f.content) for f in one.case.files] == [(b"a.txt", text)]
    assert (one.recorded.stdout, one.recorded.stderr, one.recorded.exit_code) == (b"out\n\n", b"bad\n", 1)
    assert skipped == {}


def test_a_run_line_names_the_file_itself_and_the_tool_by_token():
    ((one,), _) = read(b";;; RUN: %(tool)s --x %(in_file)s\n;;; ARGS1: -q\n(;; STDOUT ;;;\no\n;;; STDOUT ;;)\n")
    assert one.case.argv == (b"--x", b"a.txt", b"-q")
    assert (one.recorded.stdout, one.recorded.exit_code) == (b"o\n", 0)


def test_a_checker_that_looks_for_parts_leaves_the_input_alone():
    ((one,), _) = read(b"// RUN: not tool -O2 < %s | FileCheck %s\n// CHECK: x\n")
    assert (one.case.argv, one.recorded.stdout, one.recorded.exit_code) == ((b"-O2",), None, None)
    assert one.case.stdin.startswith(b"// RUN")


def test_what_is_no_single_call_of_the_tool_is_counted():
    assert read(b"# RUN: tool a\n# RUN: tool b\n")[1] == {"several_calls": 1}
    assert read(b";;; TOOL: run-tool\n")[1] == {"other_program": 1}
    assert read(b"; RUN: tool %t.o\n")[1] == {"not_simple": 1}
    assert read(b"; RUN: opt %s | tool\n")[1] == {"not_simple": 1}
    assert read(b"talk of RUN: and TOOL: only\n") == ([], {})
    assert read(b"; RUN: tool %s\n" + b"x" * (1 << 20))[1] == {"fixture_too_large": 1}
    assert len(read(b"; RUN: tool %s\n" + b"(;; STDOUT ;;;\n" * 500)[0]) == 1
