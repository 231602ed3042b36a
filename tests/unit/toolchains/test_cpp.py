"""C++ and C under CMake and Meson: what is detected, built, refused, traced and mutated."""

from __future__ import annotations

import re
import shutil

import pytest

from programsmith.goldens.strength.operators import mutations
from programsmith.records.lock import EntryPoint
from programsmith.records.outcome import Word
from programsmith.sources.origin import RefusedError
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.detect import detect
from programsmith.toolchains.detect_cmake import CALL, MOST_VALUE, _calls
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRefusedError

GREET = b"""#include <iostream>
#include "words.h"
int main(int argc, char **argv) {
    int count = argc > 1 ? 2 : 1;
    for (int i = 0; i < count; i++) std::cout << word() << (argc > 1 ? argv[1] : " world") << std::endl;
    return 0;
}
"""
CPP = {
    "CMakeLists.txt": b"""cmake_minimum_required(VERSION 3.10)
project(greet)
set(CMAKE_CXX_STANDARD 17)
add_library(words words.c)
add_executable(helper tools/helper.cc)   # not installed
add_executable(${PROJECT_NAME} greet.cc)
target_link_libraries(${PROJECT_NAME} words)
install(TARGETS ${PROJECT_NAME} DESTINATION bin)
""",
    "greet.cc": GREET,
    "words.h": b'#ifdef __cplusplus\nextern "C"\n#endif\nconst char *word(void);\n' + b"\n// a line\n" * 9,
    "words.c": b'#include "words.h"\nconst char *word(void) { return "hello "; }\n',
    "tools/helper.cc": b"int main() { return 0; }\n",
    "tests/t.cc": b"int main() { return 1; }\n" * 40,
    "LICENSE": b"MIT License\n",
}
MESON = {
    "meson.build": b"project('greet', 'c')\nexecutable('greet', ['main.c'], install : true)\n"
    b"executable('other', 'other.c')\n",
    "main.c": b'#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
    "other.c": b"int main(void) { return 0; }\n",
    "LICENSE": b"MIT License\n",
}
MADE = b"  add_executable(${P_NAME} ${P_SOURCES})\nendfunction()"
FETCHES = b"""include(FetchContent)
FetchContent_Declare(fmt URL https://forge.example/fmt.tgz)
FetchContent_MakeAvailable(fmt)
add_subdirectory(${fmt_SOURCE_DIR} x)
"""
CMAKE_ENTRY = EntryPoint(tool="greet", kind="cmake-target", target="greet", how="")
MESON_ENTRY = EntryPoint(tool="greet", kind="meson-target", target="greet", how="")


@pytest.fixture(autouse=True)
def tools():
    if missing := [name for name in ("g++", "cmake", "ninja", "meson") if not shutil.which(name, path="/usr/bin:/bin")]:
        pytest.skip(f"{', '.join(missing)} absent; run: apt-get install -y g++ cmake ninja-build meson")


def cmake(kit, **changes):
    return kit.request("cpp", build_system="cmake", entry=CMAKE_ENTRY, **changes)


def test_a_cmake_source_of_cpp_is_detected_by_what_it_installs(kit):
    found = detect(kit.tree(CPP), kit.rule)
    assert (found.language, found.build_system) == ("cpp", "cmake")
    assert [(e.tool, e.kind, e.target) for e in found.entry_points] == [("greet", "cmake-target", "greet")]


def test_headers_count_for_the_language_that_has_more_of_its_own(kit):
    mostly_c = {**CPP, "big.c": b"int x;\n" * 99, "main.c": b"int main(void) { return 0; }\n"}
    mostly_c["Makefile"] = b"main: main.o\n\t$(CC) -o $@ main.o\n"
    assert detect(kit.tree(CPP), kit.rule).code_lines == 7 + 1 + 4 + 9
    assert detect(kit.tree(mostly_c), kit.rule).language == "c"


def test_a_meson_source_of_c_is_detected_and_what_is_a_subfolders_lies_there(kit):
    found = detect(kit.tree(MESON), kit.rule)
    assert (found.language, found.build_system, [e.tool for e in found.entry_points]) == ("c", "meson", ["greet"])
    moved = {**MESON, "meson.build": b"project('x', 'c')\nsubdir('src')\n", "src/meson.build": MESON["meson.build"]}
    assert detect(kit.tree(moved), kit.rule).entry_points[0].target == "src/greet"


def test_a_makefile_comes_before_cmake_in_c_and_only_where_it_makes_a_program(kit):
    both = {**kit.c, "CMakeLists.txt": b"project(greet C)\nadd_executable(greet greet.c words.c)\n"}
    assert detect(kit.tree(both), kit.rule).build_system == "make"
    idle = {**both, "Makefile": b"all:\n\tcmake -B build\n"}
    assert detect(kit.tree(idle), kit.rule).build_system == "cmake"


def test_a_file_gets_the_name_that_its_target_sets(kit):
    text = CPP["CMakeLists.txt"] + b"set_target_properties(greet PROPERTIES OUTPUT_NAME hi)\n"
    assert [e.tool for e in detect(kit.tree({**CPP, "CMakeLists.txt": text}), kit.rule).entry_points] == ["hi"]


@pytest.mark.parametrize(
    ("defined", "called"),
    [
        (b"function(program NAME)\n  add_executable(${NAME} ${ARGN})\nendfunction()", b"program(greet greet.cc)"),
        (b"macro(Program kind it)\nadd_executable(${it} ${ARGN})\nendmacro()", b"PROGRAM(x greet greet.cc)"),
        (
            b'function(program)\ncmake_parse_arguments(P "FAST" "LIKE;NAME" "SOURCES" ${ARGN})\n%s' % MADE,
            b"program(SOURCES greet.cc NAME greet FAST)",
        ),
        (
            b'function(program)\ncmake_parse_arguments(PARSE_ARGV 0 P "" "NAME" "")\n%s' % MADE,
            b"program(NAME greet)",
        ),
    ],
)
def test_what_a_function_of_the_source_makes_is_a_command(kit, defined, called):
    files = {**CPP, "cmake/program.cmake": defined, "CMakeLists.txt": b"include(program)\n" + called + b"\nprogram()\n"}
    assert [(e.tool, e.target) for e in detect(kit.tree(files), kit.rule).entry_points] == [("greet", "greet")]
    both = {**CPP, "CMakeLists.txt": defined + b"\n" + called + b"\nadd_executable(helper tools/helper.cc)\n"}
    assert {e.tool for e in detect(kit.tree(both), kit.rule).entry_points} == {"greet", "helper"}
    installs = re.sub(rb"(add_executable\((\S+)[^)]*\))", rb"\1\ninstall(TARGETS \2 DESTINATION bin)", defined)
    both["CMakeLists.txt"] = both["CMakeLists.txt"].replace(defined, installs)
    assert [e.tool for e in detect(kit.tree(both), kit.rule).entry_points] == ["greet"]


def test_a_function_of_the_source_that_makes_no_program_of_a_given_name_makes_no_command(kit):
    text = b"function(t N)\nadd_executable(fixed x.cc)\nendfunction()\nmacro(u N)\nadd_test(${N})\nendmacro()\n"
    files = {**CPP, "CMakeLists.txt": text + b"t(greet)\nu(greet)\nmacro(open N)\nadd_executable(${N} x.cc)\n"}
    assert [e.tool for e in detect(kit.tree(files), kit.rule).entry_points] == ["fixed"]


def test_a_value_that_names_itself_twice_stays_short_and_a_word_is_tried_at_its_start_alone():
    """Both would cost without bound: twice the memory with each line, all of a long word for each of its letters."""
    doubling = b"set(A ab)\n" + b"set(A ${A}${A})\n" * 14
    assert max(len(word) for _, words in _calls(doubling, {}) for word in words) <= MOST_VALUE
    assert CALL.match("name(x)")
    assert CALL.match("name(x)", 1) is None


def test_a_library_without_a_command_is_refused(kit):
    text = b"project(words)\nadd_library(words words.cc)\nadd_executable(t IMPORTED)\n"
    with pytest.raises(RefusedError, match="library"):
        detect(kit.tree({**CPP, "CMakeLists.txt": text}), kit.rule)


def test_a_cmake_build_is_installed_offline_and_rebuilt_after_an_edit(kit):
    with Workspace.open(kit.tree(CPP), cmake(kit, flavour=Flavour.MUTANT)) as workspace:
        built = workspace.built()
        assert (built.program, [e.path for e in built.install if e.kind == "file"]) == (
            "/opt/oracle/bin/greet",
            [b"bin/greet"],
        )
        before = (workspace.tree / "bin/greet").read_bytes()
        workspace.edit(b"greet.cc", GREET.replace(b"world", b"earth"))
        assert workspace.rebuild()
        assert b"earth" in (workspace.tree / "bin/greet").read_bytes()
        assert b"world" in before
        workspace.edit(b"greet.cc", b"no C++")
        assert not workspace.rebuild()


def test_a_meson_build_is_installed_offline(kit):
    request = kit.request("c", build_system="meson", entry=MESON_ENTRY)
    with Workspace.open(kit.tree(MESON), request) as workspace:
        assert workspace.built().program == "/opt/oracle/bin/greet"


@pytest.mark.parametrize(
    ("line", "word", "reason"),
    [
        (FETCHES, Word.UNBUILDABLE, "needs_network"),
        (b"file(DOWNLOAD http://forge.example/x x STATUS s)\nmessage(FATAL_ERROR ${s})\n", Word.UNBUILDABLE, "needs_"),
        (b"cmake_minimum_required(VERSION 4.9)\n", Word.TOOLCHAIN_TOO_OLD, "wants cmake 4.9"),
        (b"set(CMAKE_CXX_STANDARD 26)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n", Word.TOOLCHAIN_TOO_OLD, "26"),
    ],
)
def test_what_needs_the_network_or_a_newer_toolchain_is_refused_by_name(kit, line, word, reason):
    text = CPP["CMakeLists.txt"].replace(b"set(CMAKE_CXX_STANDARD 17)\n", line)
    if line.startswith(b"cmake_minimum"):
        text = text.replace(b"cmake_minimum_required(VERSION 3.10)\n", b"")
    with pytest.raises(BuildRefusedError, match=re.escape(reason)) as refused:
        Workspace.open(kit.tree({**CPP, "CMakeLists.txt": text}), cmake(kit))
    assert refused.value.word is word


def test_mutations_of_cpp_reach_into_classes_and_leave_streams_and_templates_alone():
    source = b"struct A { int f(int a) { return a < 1; } };\nint g() { std::cout << T<1>(); if (x > 2) return 4; }\n"
    found = {(m.operator, source[m.start : m.end]) for m in mutations("a.cc", source, "cpp", re.compile(rb"^$"))}
    assert {("swap", b"<"), ("return", b"return a < 1;"), ("condition", b"(x > 2)"), ("integer", b"2")} <= found
    assert ("swap", b"<<") not in found
    assert sum(operator == "integer" and text == b"1" for operator, text in found) == 1
