"""Every fault of a YAML file is one line: file, line, wanted, got."""

import pytest

from programsmith.errors import Exit, InputError
from programsmith.rulebook.document import dotted
from programsmith.spec.load import load_spec

OK = "name: t\nsource: {path: src}\n"


@pytest.fixture
def project(tmp_path):
    for folder in ("specs", "src", "cache", "cache/inner"):
        (tmp_path / folder).mkdir()
    return tmp_path


def refusal(project, text, name="t.yaml"):
    path = project / "specs" / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        load_spec(path, project)
    assert error.value.exit is Exit.USAGE
    assert "\n" not in str(error.value)
    assert str(error.value).isprintable()
    return str(error.value)


YAML_FAULTS = {
    "empty": ("", "specs/t.yaml: wanted a mapping of fields, got an empty file"),
    "only a comment": ("# nothing\n", "specs/t.yaml: wanted a mapping of fields, got an empty file"),
    "null": ("~\n", "specs/t.yaml: wanted a mapping of fields, got an empty file"),
    "list": ("- name: t\n", "specs/t.yaml:1: wanted a mapping of fields, got a list"),
    "scalar": ("tally\n", "specs/t.yaml:1: wanted a mapping of fields, got `tally`"),
    "two documents": (OK + "---\nname: u\n", "specs/t.yaml:3: wanted one document, got a second one"),
    "tab": ("name: t\nsource:\n\tpath: src\n", "specs/t.yaml:3: wanted spaces as indentation, got a tab"),
    "repeated key": (OK + "name: u\n", "specs/t.yaml:3: name: wanted each key once, got a repeated key"),
    "repeated inner key": (
        "name: t\nsource: {path: src, path: x}\n",
        "specs/t.yaml:2: path: wanted each key once, got a repeated key",
    ),
    "anchor loop": (OK + "build: &x {env: *x}\n", "specs/t.yaml:3: wanted an alias that ends, got `*x` inside `&x`"),
    "unknown alias": (OK + "build: *x\n", "specs/t.yaml:3: wanted an alias of an anchor above, got `*x`"),
    "tag": (
        OK + "build: !!python/object/apply:os.system [ls]\n",
        "specs/t.yaml:3: wanted plain YAML without tags, got the tag `tag:yaml.org,2002:python/object/apply:os.system`",
    ),
    "own tag": (OK + "build: !env x\n", "specs/t.yaml:3: wanted plain YAML without tags, got the tag `!env`"),
    "nan": (OK + "budget: {usd: .nan}\n", "specs/t.yaml:3: wanted a finite number, got `.nan`"),
    "infinity": (OK + "budget: {usd: -.Inf}\n", "specs/t.yaml:3: wanted a finite number, got `-.Inf`"),
    "overflow": (OK + "budget: {usd: 1e999}\n", "specs/t.yaml:3: wanted a finite number, got `1e999`"),
    "huge integer": (
        OK + f"generation: {'9' * 5000}\n",
        f"specs/t.yaml:3: wanted a number of at most 18 digits, got `{'9' * 60}…`",
    ),
    "not UTF-8": (b"name: t\nsource: {path: src}\n# \xff\n", "specs/t.yaml:3: wanted UTF-8 text, got the byte 0xff"),
    "UTF-16": (OK.encode("utf-16"), "specs/t.yaml:1: wanted UTF-8 text, got the byte 0xff"),
    "control character": ("name: t\n# \x1b[2J\n", "specs/t.yaml:2: wanted printable text, got the character U+001B"),
    "NUL": ("name: t\0\n", "specs/t.yaml:1: wanted printable text, got the character U+0000"),
    "number as key": (OK + "1: x\n", "specs/t.yaml:3: wanted keys that are text, got `1`"),
    "list as key": (OK + "[a]: x\n", "specs/t.yaml:3: wanted keys that are text, got a list"),
    "deep": (OK + "build: " + "[" * 50 + "\n", "specs/t.yaml:3: wanted at most 40 levels, got a deeper nesting"),
    "deeper": (
        OK + "build: " + "[" * 50_000 + "\n",
        "specs/t.yaml:3: wanted YAML, got a fault: exceeded maximum nesting depth",
    ),
    "syntax": (
        "name: t\nsource: {path: src\n",
        "specs/t.yaml:3: wanted YAML, got a fault: did not find expected ',' or '}'",
    ),
    "huge": ("#" * ((1 << 20) + 1), "specs/t.yaml: wanted at most 1048576 bytes, got 1048577"),
}


@pytest.mark.parametrize("case", YAML_FAULTS)
def test_a_fault_of_yaml_is_one_line(project, case):
    text, line = YAML_FAULTS[case]
    assert refusal(project, text) == line


def test_an_alias_bomb_is_refused_before_it_unfolds(project):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    line = refusal(project, "\n".join(rows) + "\n")
    assert line.endswith("wanted at most 20000 values with aliases expanded, got more")


def test_keys_are_written_as_a_path():
    assert dotted(("rollouts", 0, "agent")) == "rollouts[0].agent"
    assert dotted(()) == ""
