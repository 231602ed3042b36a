"""Honest variants of the oracle: started by a wrapper script, and built at another path under another prefix.

A case that one of them fails demands something that no specification could: its own path, its build folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from programsmith import payload
from programsmith.goldens.capture import Form
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import Launcher, Mount
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import OracleFacts
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import build_source
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

PLACE = "/opt/variant"
SHELL = "/bin/sh"
WRAPPER, OTHER_PATH = "wrapper", "other_path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """The forms that could be made, and why one could not."""

    forms: dict[str, Form] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def variants(
    facts: OracleFacts,
    oracle_dir: Path,
    scratch: Path,
    launcher_of: Callable[[Sequence[str]], Launcher],
    other: tuple[SourceTree, BuildRequest],
) -> Variants:
    """Both variants. `launcher_of` opens a launcher whose cases may also execute the given programs.

    `other` is the source and the request of the build at another path. Raises InfraError.
    """
    made = Variants()
    made.forms[WRAPPER] = wrapper(facts, oracle_dir, scratch / "wrapper", launcher_of([SHELL]))
    source, request = other
    try:
        built = build_source(source, request)
    except BuildRefusedError as refused:
        made.absent[OTHER_PATH] = refused.reason
        return made
    tree = scratch / "other_path"
    write_tree(os.fspath(tree), built.install)
    made.forms[OTHER_PATH] = Form(
        launcher=launcher_of([]),
        program=built.program,
        mounts=(Mount(source=os.fspath(tree), target=ORACLE),),
    )
    return made


def wrapper(facts: OracleFacts, oracle_dir: Path, folder: Path, launcher: Launcher) -> Form:
    """The oracle behind a script; `folder` is made to hold it."""
    folder.mkdir()
    script = folder / facts.tool
    shutil.copyfile(Path(payload.__path__[0]) / "variants" / "wrapper.sh", script)
    program = folder / "program"
    program.write_text(facts.program + "\n", encoding="utf-8")
    for path, mode in ((folder, 0o755), (script, 0o755), (program, 0o644)):
        path.chmod(mode)  # whatever the umask is: cases read as an ordinary user
    return Form(
        launcher=launcher,
        program=f"{PLACE}/{facts.tool}",
        mounts=(
            Mount(source=os.fspath(oracle_dir), target=ORACLE),
            Mount(source=os.fspath(folder), target=PLACE),
        ),
    )
