"""What a command consists of in its source."""

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.scope import scope_of

CONSOLE = EntryPoint(tool="t", kind="python-console-script", target="pkg.cli:main", how="")
SCRIPT = EntryPoint(tool="t", kind="python-script", target="bin/t", how="")
BINARY = EntryPoint(tool="t", kind="c-binary", target="t", how="")


def python(files, entry=CONSOLE):
    return scope_of(
        SourceTree(FileEntry(p.encode(), "file", 0o644, t.encode()) for p, t in files.items()),
        entry,
        "python",
        (".py",),
    )


def test_a_python_command_is_what_its_entry_point_imports():
    found = python(
        {
            "src/pkg/__init__.py": "",
            "src/pkg/cli.py": "from . import work\nfrom pkg.deep.more import thing\nimport os\n",
            "src/pkg/work.py": "\n\nx = 1\n",
            "src/pkg/deep/__init__.py": "",
            "src/pkg/deep/more.py": "from ..work import x\nthing = x\n",
            "src/pkg/unused.py": "y = 2\n",
            "tests/test_x.py": "import pkg.unused\n",
        }
    )
    assert found.files == (
        b"src/pkg/__init__.py",
        b"src/pkg/cli.py",
        b"src/pkg/deep/__init__.py",
        b"src/pkg/deep/more.py",
        b"src/pkg/work.py",
    )
    assert found.code_lines == 6


def test_a_script_imports_what_lies_beside_it():
    found = python({"bin/t": "import near\n", "bin/near.py": "a = 1\n", "far.py": "b = 1\n"}, SCRIPT)
    assert found.files == (b"bin/near.py", b"bin/t")


def test_cycles_and_broken_files_end():
    found = python(
        {"pkg/cli.py": "import pkg.a\n", "pkg/a.py": "import pkg.cli\nimport pkg.b\n", "pkg/b.py": "def (\n"}
    )
    assert found.files == (b"pkg/a.py", b"pkg/b.py", b"pkg/cli.py")


def test_a_relative_import_above_the_root_is_nothing():
    assert python({"pkg/cli.py": "from ..... import x\nfrom .....y import z\n"}).files == (b"pkg/cli.py",)


def test_a_missing_entry_has_no_lines():
    assert python({"other.py": "x = 1\n"}).code_lines == 0


def test_options_and_subcommands_of_argparse_are_seen():
    found = python(
        {"pkg/cli.py": "p.add_argument('-n', '--count')\ns.add_parser('list')\ns.add_parser(\"rm-all\")\nx = '-'\n"}
    )
    assert found.options == {b"n", b"count"}
    assert found.subcommands == {b"list", b"rm-all"}


def test_options_of_getopt_are_seen_in_c():
    source = (
        'static struct option o[] = {{"all", no_argument, 0, 1}, {"width", required_argument, 0, 2}};\n'
        'while ((c = getopt_long(argc, argv, "+ab:c", o, 0)) != -1)\n'
        'if (!strcmp(argv[1], "--version"))\n'
    )
    files = {b"t.c": source, b"inc/t.h": "int x;\n\n", b"tests/x.c": "int y;\n", b"README": "z\n"}
    whole = SourceTree(FileEntry(p, "file", 0o644, t.encode()) for p, t in files.items())
    found = scope_of(whole, BINARY, "c", (".c", ".h"))
    assert found.files == (b"inc/t.h", b"t.c")
    assert found.code_lines == 4
    assert found.options == {b"all", b"width", b"a", b"b", b"c", b"version"}
