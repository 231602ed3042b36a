"""Every mistake in a spec is one line: file, line, field, wanted, got, nearest name."""

import os

import pytest

from programsmith.errors import Exit, InputError
from programsmith.spec.load import load_spec, read_spec

OK = "name: t\nsource: {path: src}\n"
AGENTS = "one of `nop`, `oracle`, `scripted`, `command`, `claude-code`, `codex`, `gemini-cli`, `mini-swe-agent`"
SOURCE = "a mapping with one of git, path and archive, such as `{path: src}`"
LANGUAGES = "a list of languages, such as `[python]`"
REPOSITORY = "a repository's URL, or its path from the project's root"
PAID = "rollouts: [{agent: codex, model: openai/gpt-5.5}]\n"


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


FIELD_FAULTS = {
    "unknown field": (
        OK + "golden: {}\n",
        "specs/t.yaml:3: golden: wanted a known field, got an unknown one; did you mean `goldens`?",
    ),
    "unknown inner field": (
        OK + "difficulty:\n  - pass_rates: {max: 1}\n",
        "specs/t.yaml:4: difficulty[0].pass_rates: wanted a known field, got an unknown one; did you mean `pass_rate`?",
    ),
    "field of another place": (
        OK + "held_out: 9\n",
        "specs/t.yaml:3: held_out: wanted a known field, got an unknown one; did you mean `goldens.held_out`?",
    ),
    "field like no other": (
        OK + "horizon: {qqqq: 1}\n",
        "specs/t.yaml:3: horizon.qqqq: wanted a known field, got an unknown one; the fields here are: min_lines",
    ),
    "merge key": (
        OK + "budget: &b {usd: 1}\nhorizon: {<<: *b}\n",
        "specs/t.yaml:4: horizon.<<: wanted a known field, got an unknown one; the fields here are: min_lines",
    ),
    "version": (OK + "version: 2\n", "specs/t.yaml:3: version: wanted `1`, got `2`"),
    "version as text": (OK + "version: '1'\n", "specs/t.yaml:3: version: wanted `1`, got `1`; write it without quotes"),
    "no name": (
        "source: {path: src}\n",
        "specs/t.yaml:1: name: wanted a name of letters, digits, `.`, `_` and `-`, got nothing",
    ),
    "name is not the stem": (
        "name: u\nsource: {path: src}\n",
        "specs/t.yaml:1: name: wanted `t`, as the file is called, got `u`",
    ),
    "name with a slash": (
        "name: a/t\nsource: {path: src}\n",
        "specs/t.yaml:1: name: wanted a name of letters, digits, `.`, `_` and `-`, got `a/t`",
    ),
    "no source": (
        "name: t\n",
        f"specs/t.yaml:1: source: wanted {SOURCE}, got nothing",
    ),
    "source as a word": (
        "name: t\nsource: src\n",
        f"specs/t.yaml:2: source: wanted {SOURCE}, got `src`",
    ),
    **{
        f"missing repository at {url}": (
            f"name: t\nsource: {{git: '{url}', ref: v1}}\n",
            f"specs/t.yaml:2: source.git: wanted {REPOSITORY}, got `{url}`, where no such thing is",
        )
        for url in ("/nowhere/source.git", "nowhere.git", "../nowhere/t:x", "file:///nowhere/source.git")
    },
    "empty source": (
        "name: t\nsource: {}\n",
        "specs/t.yaml:2: source: wanted exactly one of git, path and archive, got none of them",
    ),
    "two sources": (
        "name: t\nsource:\n  path: src\n  git: https://example.org/t\n  ref: v1\n",
        "specs/t.yaml:2: source: wanted exactly one of git, path and archive, got git and path",
    ),
    "git without ref": (
        "name: t\nsource: {git: https://example.org/t}\n",
        "specs/t.yaml:2: source.ref: wanted the name of a tag, branch or commit beside `git`, got nothing",
    ),
    "ref without git": (
        "name: t\nsource: {path: src, ref: v1}\n",
        "specs/t.yaml:2: source.git: wanted the URL or path of a repository beside `ref`, got nothing",
    ),
    "ref read as a number": (
        "name: t\nsource: {git: https://example.org/t, ref: 1.10}\n",
        "specs/t.yaml:2: source.ref: wanted the name of a tag, branch or commit, got `1.10`; put it in quotes",
    ),
    "ref that is an option": (
        "name: t\nsource: {git: https://example.org/t, ref: --upload-pack=x}\n",
        "specs/t.yaml:2: source.ref: wanted the name of a tag, branch or commit, got `--upload-pack=x`",
    ),
    "git transport that runs a command": (
        "name: t\nsource: {git: 'ext::sh -c x', ref: v1}\n",
        "specs/t.yaml:2: source.git: wanted the URL or path of a repository, got `ext::sh -c x`",
    ),
    "archive without digest": (
        "name: t\nsource: {archive: src/a.tar}\n",
        "specs/t.yaml:2: source.sha256: wanted 64 lower-case hexadecimal digits beside `archive`, got nothing",
    ),
    "malformed digest": (
        "name: t\nsource: {archive: src/a.tar, sha256: abc}\n",
        "specs/t.yaml:2: source.sha256: wanted 64 lower-case hexadecimal digits, got `abc`",
    ),
    "missing archive": (
        f"name: t\nsource: {{archive: src/a.tar, sha256: {'a' * 64}}}\n",
        (
            "specs/t.yaml:2: source.archive: wanted an archive below the project's root, got `src/a.tar`, "
            "where no such thing is"
        ),
    ),
    "missing folder": (
        "name: t\nsource: {path: nowhere}\n",
        "specs/t.yaml:2: source.path: wanted a folder below the project's root, got `nowhere`, where no such thing is",
    ),
    "source with the cache": (
        "name: t\nsource: {path: .}\n",
        (
            "specs/t.yaml:2: source.path: wanted a folder outside of which the project's cache/ lies, got `.`, "
            "which contains it"
        ),
    ),
    "source inside the cache": (
        "name: t\nsource: {path: src, subdir: ../x}\n",
        "specs/t.yaml:2: source.subdir: wanted a path inside the source, got `../x`",
    ),
    "number out of range": (
        OK + "goldens:\n  public: 0.5\n  held_out: 0\n",
        "specs/t.yaml:5: goldens.held_out: wanted a whole number, at least 1, at most 100000, got `0`",
    ),
    "share as percentage": (
        OK + "goldens: {public: 60%}\n",
        "specs/t.yaml:3: goldens.public: wanted a number, above 0, below 1, got `60%`",
    ),
    "fraction for a whole number": (
        OK + "goldens: {held_out: 5.0}\n",
        "specs/t.yaml:3: goldens.held_out: wanted a whole number, at least 1, at most 100000, got `5.0`",
    ),
    "truth value for a number": (
        OK + "generation: true\n",
        "specs/t.yaml:3: generation: wanted a whole number, at least 1, at most 1000000, got `true`",
    ),
    "mapping expected": (
        OK + "goldens: 3\n",
        "specs/t.yaml:3: goldens: wanted a mapping of public, held_out, min_kept, miners, expand, compare, got `3`",
    ),
    "mapping without a value": (
        OK + "horizon:\n",
        "specs/t.yaml:3: horizon: wanted a mapping of min_lines, got nothing",
    ),
    "closed set": (
        OK + "sandbox: dokcer\n",
        "specs/t.yaml:3: sandbox: wanted one of `auto`, `docker`, `bubblewrap`, got `dokcer`; did you mean `docker`?",
    ),
    "variable that is a number": (
        OK + "build: {env: {CFLAGS: 2}}\n",
        "specs/t.yaml:3: build.env.CFLAGS: wanted text, got `2`; put it in quotes",
    ),
    "name of a variable": (
        OK + "build: {env: {A-B: x}}\n",
        "specs/t.yaml:3: build.env.A-B: wanted the name of a variable, got `A-B`",
    ),
    "unknown language": (
        OK + "task: {target_languages: [c, pyhton]}\n",
        (
            "specs/t.yaml:3: task.target_languages[1]: wanted a language with a toolchain, got `pyhton`; "
            "did you mean `python`?"
        ),
    ),
    "language as a word": (
        OK + "task: {target_languages: rust}\n",
        f"specs/t.yaml:3: task.target_languages: wanted {LANGUAGES}, got `rust`; a list of it is `[rust]`",
    ),
    "mask": (
        OK + "goldens: {compare: {stdout: {kind: mask, pattern: '(a+)+'}}}\n",
        (
            "specs/t.yaml:3: goldens.compare.stdout: wanted a comparator, got a fault: "
            "comparator mask: cannot read '(a+)+'; only items with +, ? or {m,n}"
        ),
    ),
    "language twice": (
        OK + "task: {target_languages: [c, c]}\n",
        "specs/t.yaml:3: task.target_languages: wanted each item once, got a repeated one",
    ),
    "comparator": (
        OK + "goldens: {compare: {stdout: byte}}\n",
        (
            "specs/t.yaml:3: goldens.compare.stdout: wanted one of `bytes`, `lines_unordered`, `tokens`, "
            "`json_canonical`, or a mapping with `kind` `float` or `mask`, got `byte`; did you mean `bytes`?"
        ),
    ),
    "unknown agent": (
        OK + "rollouts: [{agent: codx}]\n",
        f"specs/t.yaml:3: rollouts[0].agent: wanted {AGENTS}, got `codx`; did you mean `codex`?",
    ),
    "agent with a slip": (
        OK + "sweep: [{agent: comand, command: x}]\n",
        f"specs/t.yaml:3: sweep[0].agent: wanted {AGENTS}, got `comand`; did you mean `command`?",
    ),
    "a block's model of a wrong kind": (
        OK + "models: {judge: 5}\n",
        "specs/t.yaml:3: models.judge: wanted a model as `provider/name`, got `5`",
    ),
    "malformed model": (
        OK + "rollouts: [{agent: codex, model: opus}]\n",
        "specs/t.yaml:3: rollouts[0].model: wanted a model as `provider/name`, got `opus`",
    ),
    "agent without its model": (
        OK + "rollouts: [{agent: codex}]\n",
        "specs/t.yaml:3: rollouts[0].model: wanted a model as `provider/name` for `codex`, got nothing",
    ),
    "model of an agent that has none": (
        OK + "ceiling: {agent: nop, model: a/b}\n",
        "specs/t.yaml:3: ceiling.model: wanted none, for `nop` asks no model, got `a/b`",
    ),
    "no budget": (
        OK + PAID,
        (
            "specs/t.yaml:3: budget.usd: wanted a number of dollars above 0, got none, "
            "and rollouts[0].model names a paid model"
        ),
    ),
    "a price without a budget": (
        OK + "rollouts: [{agent: command, command: x, usd: 0.5}]\n",
        "specs/t.yaml:3: budget.usd: wanted a number of dollars above 0, got none, and rollouts[0].usd names a price",
    ),
    "budget without dollars": (
        OK + "models: {judge: anthropic/claude-haiku-4-5}\nbudget: {agent_wall: 1h}\n",
        "specs/t.yaml:4: budget.usd: wanted a number of dollars above 0, got none, and models.judge names a paid model",
    ),
    "malformed time": (
        OK + "budget: {agent_wall: 5 hours}\n",
        "specs/t.yaml:3: budget.agent_wall: wanted a time as digits with s, m or h, such as `90m`, got `5 hours`",
    ),
    "time without its unit": (
        OK + "budget: {agent_wall: 5}\n",
        "specs/t.yaml:3: budget.agent_wall: wanted a time as digits with s, m or h, such as `90m`, got `5`",
    ),
    "empty band": (
        OK + "difficulty: [{pass_rate: {}}]\n",
        "specs/t.yaml:3: difficulty[0].pass_rate: wanted a mapping with min, max or both, got an empty mapping",
    ),
    "band upside down": (
        OK + PAID + "budget: {usd: 1}\ndifficulty: [{pass_rate: {min: 0.9, max: 0.1}}]\n",
        "specs/t.yaml:5: difficulty[0].pass_rate: wanted min up to max, got min 0.9 above max 0.1",
    ),
    "band without trials": (
        OK + "difficulty: [{basis: sweep, pass_rate: {max: 0.4}}]\n",
        "specs/t.yaml:3: difficulty[0].basis: wanted trials that the spec asks for, got `sweep`, which is empty",
    ),
    "threshold misspelt": (
        OK + "reward: {treshold: 0.9}\n",
        "specs/t.yaml:3: reward.treshold: wanted a known field, got an unknown one; did you mean `threshold`?",
    ),
    "review of an unknown block": (
        OK + "review: [pik]\n",
        "specs/t.yaml:3: review[0]: wanted one of `pick`, `gate`, got `pik`; did you mean `pick`?",
    ),
    "runner that nothing runs": (
        OK + "runner: harbor\n",
        (
            "specs/t.yaml:3: runner: wanted `local`, got `harbor`; "
            "this version has no block that runs it; leave the field out"
        ),
    ),
    "extends nothing": (
        OK + "extends: base.yaml\n",
        "specs/t.yaml:3: extends: wanted the path of a YAML file, got `base.yaml`, where no file is",
    ),
    "extends a list": (
        OK + "extends: [a, b]\n",
        "specs/t.yaml:3: extends: wanted the path of a YAML file, got a list",
    ),
    "extends itself": (
        OK + "extends: ./t.yaml\n",
        "specs/t.yaml:3: extends: wanted a chain that ends, got a cycle: specs/t.yaml extends specs/t.yaml",
    ),
    "control character in a value": (
        OK + 'sandbox: "do\\ecker\\n"\n',
        (
            "specs/t.yaml:3: sandbox: wanted one of `auto`, `docker`, `bubblewrap`, got `do\\x1bcker\\n`; "
            "did you mean `docker`?"
        ),
    ),
}


@pytest.mark.parametrize("case", FIELD_FAULTS)
def test_a_wrong_field_is_one_line(project, case):
    text, line = FIELD_FAULTS[case]
    assert refusal(project, text) == line


def test_a_name_that_other_folders_bear_is_refused(project):
    line = refusal(project, "name: store\nsource: {path: src}\n", "store.yaml")
    assert line == (
        "specs/store.yaml:1: name: wanted a name other than store, ledger, logs, drafts, easy, hard, with-base, "
        "dataset.toml, got `store`"
    )


def test_a_second_spec_of_a_name_is_refused(project):
    (project / "specs" / "t.yaml").write_text(OK)
    other = project / "t.yaml"
    other.write_text(OK)
    with pytest.raises(InputError) as error:
        load_spec(other, project)
    assert str(error.value) == "t.yaml:1: name: wanted a name of its own, got `t`, which specs/t.yaml has too"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gone.yaml", "specs/gone.yaml: wanted a file, got nothing there"),
        ("folder", "specs/folder: wanted a file, got a directory"),
        ("t.yml", "specs/t.yml: wanted a file called <name>.yaml, got `t.yml`"),
        ("x" * 300 + ".yaml", f"specs/{'x' * 300}.yaml: wanted a readable file, got `File name too long`"),
    ],
)
def test_what_is_no_file_is_refused(project, name, line):
    (project / "specs" / "folder").mkdir()
    with pytest.raises(InputError) as error:
        load_spec(project / "specs" / name, project)
    assert str(error.value) == line


def test_a_pipe_is_refused_and_never_opened(project):
    os.mkfifo(project / "specs" / "t.yaml")
    with pytest.raises(InputError, match="wanted a regular file, got a device, pipe or socket"):
        load_spec(project / "specs" / "t.yaml", project)


def test_defaults_are_filled_at_every_depth(project):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + PAID + "budget: {usd: 4}\ndifficulty: [{pass_rate: {max: 0.9}}]\n")
    values = read_spec(path, project).values
    (entry,) = values["rollouts"]
    assert {name: value for name, value in entry.items() if value is not None} == {
        "agent": "codex",
        "model": "openai/gpt-5.5",
        "trials": 6,
    }
    assert values["difficulty"] == [
        {"basis": "rollouts", "pass_rate": {"min": 0, "max": 0.9}, "confidence": 0.8, "trials_max": 12}
    ]
    assert values["horizon"] == {"min_lines": 1500}
    assert values["budget"] == {"usd": 4, "agent_wall": "5h"}
    assert values["source"]["ref"] is None
    assert values["goldens"] == {
        "public": 0.5,
        "held_out": 140,
        "min_kept": 66,
        "miners": "auto",
        "expand": "none",
        "compare": {"stdout": "bytes", "exit_code": "exact", "files": "tree", "stderr": "emptiness"},
    }


def test_words_that_yaml_once_took_for_truth_or_time_are_text(project):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "task: {tool: no}\ndescription: 1:30\nbuild: {env: {DAY: 2024-01-01, NORWAY: on}}\n")
    values = load_spec(path, project).values
    assert values["task"]["tool"] == "no"
    assert values["description"] == "1:30"
    assert values["build"]["env"] == {"DAY": "2024-01-01", "NORWAY": "on"}


def test_formatting_changes_no_value(project):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "goldens: {held_out: 9, public: 0.5}\n")
    one = load_spec(path, project)
    path.write_text("# c\nsource:\n    path: 'src'\ngoldens:\n  public: 0.50\n  held_out: 9\n\nname: \"t\"\n")
    assert load_spec(path, project).values == one.values
