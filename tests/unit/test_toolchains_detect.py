"""What a source is: language, build system, commands, lines, and which builds ask git."""

from __future__ import annotations

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.origin import RefusedError
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect import detect
from programsmith.toolchains.makefile import Makefile

MAIN = "int\nmain(int argc, char **argv)\n{\n\n  return 0;\n}\n"
LIBRARY = "/* call it from your main (see the manual) */\nint f(void) { return 1; }\n"


@pytest.fixture
def detected(kit):
    rule = kit.rule("toolchains")

    def run(files, executable=()):
        return detect(
            SourceTree(
                FileEntry(n.encode(), "file", 0o755 if n in executable else 0o644, c.encode()) for n, c in files.items()
            ),
            rule,
        )

    return run


def tools(found):
    return [(e.tool, e.kind, e.target) for e in found.entry_points]


@pytest.mark.parametrize(
    ("makefile", "target"),
    [
        ("toy: toy.o util.o\n\t$(CC) -o $@ toy.o util.o\n", "toy"),
        ("OBJS = toy.o util.o\nBIN=bin/toy\nall: $(BIN)\n$(BIN): $(OBJS)\n\tgcc -o $@ $(OBJS)\n", "bin/toy"),
        ("SRC=toy.c util.c\ntoy: $(SRC:.c=.o)\n\t${CC} ${LDFLAGS} -o $@ $^\n", "toy"),
        ("toy: toy.o\ntoy.o: toy.c\n", "toy"),
        ("all: toy\n", "toy"),
        ("P := toy\nifdef X\nP := toy\nendif\n$(P): toy.c\n\tcc toy.c \\\n\t  -o $(P)\n", "toy"),
    ],
)
def test_a_makefile_tells_its_program(detected, makefile, target):
    files = {"Makefile": makefile, "toy.c": MAIN, "util.c": LIBRARY}
    found = detected(files)
    assert tools(found) == [("toy", "c-binary", target)]
    assert (found.language, found.build_system) == ("c", "make")


@pytest.mark.parametrize(
    "makefile",
    [
        "libtoy.a: toy.o\n\tar rcs $@ toy.o\n",
        "libtoy.so: toy.o\n\t$(CC) -shared -o $@ toy.o\n",
        "plugin: toy.o\n\t$(CC) -shared -o $@ toy.o\n",
        "all: libtoy.a\ntoy.o: toy.c\n\t$(CC) -c toy.c\n",
    ],
)
def test_a_makefile_of_a_library_has_no_program(detected, makefile):
    with pytest.raises(RefusedError, match="a c library"):
        detected({"Makefile": makefile, "toy.c": LIBRARY, "tests/t.c": MAIN})


def test_a_program_that_a_script_of_the_source_compiles_is_found(detected):
    rule = "toy out/toy: .config *.[ch] toys/*/*.c scripts/*.sh\n\t@scripts/make.sh\n"
    other = "page: toy.c\n\tscripts/page.sh\n\t@\nlist:\n\tscripts/make.sh list\n"
    files = {"Makefile": rule + other, "main.c": MAIN, "scripts/page.sh": "cat toy.c\n"}
    made = detected({**files, "scripts/make.sh": '#!/bin/bash\nBUILD="${CROSS_COMPILE}${CC} $CFLAGS"\n$BUILD *.c\n'})
    assert [e.target for e in made.entry_points] == ["out/toy"]


def test_automake_tells_its_programs(detected):
    files = {
        "configure.ac": "AC_INIT([toy], [1])\n",
        "Makefile.am": "SUBDIRS = src\nnoinst_PROGRAMS = helper\n",
        "src/Makefile.am": "bin_PROGRAMS = toy \\\n  toyctl\nif X\nbin_PROGRAMS += extra\nendif\n",
        "src/toy.c": MAIN,
    }
    found = detected(files)
    assert found.build_system == "autotools"
    assert [t for _, _, t in tools(found)] == ["src/toy", "src/toyctl", "src/extra"]


def test_c_without_a_build_system_is_refused(detected):
    with pytest.raises(RefusedError, match=r"wanted one of configure\.ac"):
        detected({"toy.c": MAIN})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[project.scripts]\ntoy = "pkg.cli:main"\n'),
        ("pyproject.toml", '[tool.poetry.scripts]\ntoy = "pkg.cli:main"\n'),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    toy = pkg.cli:main [extra]\n"),
        ("setup.py", "from setuptools import setup\nsetup(entry_points={'console_scripts': ['toy=pkg.cli:main']})\n"),
    ],
)
@pytest.mark.parametrize("root", ["", "src/"])
def test_a_console_script_is_found_wherever_it_is_declared(detected, name, content, root):
    files = {name: content, f"{root}pkg/__init__.py": "", f"{root}pkg/cli.py": "def main():\n    pass\n"}
    assert tools(detected(files)) == [("toy", "python-console-script", "pkg.cli:main")]


def test_a_console_script_without_its_module_does_not_count(detected):
    with pytest.raises(RefusedError, match="a python library"):
        detected({"pyproject.toml": '[project.scripts]\ntoy = "gone:main"\n', "lib.py": "x = 1\n"})


def test_scripts_count_where_nothing_is_declared(detected):
    files = {
        "toy": "#!/usr/bin/env python3\nprint(1)\n",
        "pkg/__main__.py": "print(2)\n",
        "tests/run": "#!/usr/bin/python3\n",
        "setup.py": "#!/usr/bin/python3\nimport this\n",
    }
    assert tools(detected(files)) == [("pkg", "python-script", "pkg/__main__.py"), ("toy", "python-script", "toy")]


def test_a_setup_script_is_read_and_never_run(detected, tmp_path):
    setup = f"open({str(tmp_path / 'ran')!r}, 'w')\nimport setuptools\nsetuptools.setup(scripts=['bin/toy.py'])\n"
    found = detected({"setup.py": setup, "bin/toy.py": "print(1)\n"})
    assert tools(found) == [("toy", "python-script", "bin/toy.py")]
    assert not (tmp_path / "ran").exists()


def test_code_lines_are_non_blank_lines_outside_tests(detected):
    files = {"Makefile": "all: toy\n", "toy.c": MAIN, "tests/t.c": MAIN * 50, "docs/d.c": MAIN}
    assert detected(files).code_lines == 5


def test_the_language_is_that_of_most_lines(detected):
    files = {"Makefile": "all: toy\n", "toy.c": MAIN * 9, "gen.py": "print(1)\n"}
    assert detected(files).language == "c"


@pytest.mark.parametrize(
    ("name", "content", "noted"),
    [
        ("Makefile", "all: toy\nV=`git describe --tags`\n", True),
        ("configure.ac", "m4_esyscmd([git -C . rev-parse HEAD])\n", True),
        ("scripts/version", "#!/bin/sh\ngit describe --always\n", True),
        ("pyproject.toml", '[build-system]\nrequires = ["setuptools_scm"]\n', True),
        ("ChangeLog", "use git describe\n", False),
        ("docs/Makefile.txt", "git describe\n", False),
    ],
)
def test_a_build_that_asks_git_is_noted(detected, name, content, noted):
    files = {"Makefile": "all: toy\n", "toy.c": MAIN, name: content}
    assert (f"synthetic_git: {name}" in detected(files).notes) is noted


def test_a_makefile_that_grows_without_end_is_given_up():
    bomb = "A0=" + "x" * 50 + "\n" + "".join(f"A{n}=" + f"$(A{n - 1})" * 50 + "\n" for n in range(1, 12))
    assert len(Makefile((bomb + "B=$(B)\n").encode()).expand("$(A11) $(B)")) < 10_000_000


def test_a_makefile_that_is_no_text_has_no_rules():
    assert Makefile(bytes(range(256)) * 20).rules == []
