"""Other forms of the oracle: honest variants, and a build that watches for undefined behaviour.

Honest are a wrapper script that starts the oracle, where the language has one built with other optimisation, and a
build at another path under another prefix, optimised otherwise again. A case that one of them fails demands something
that no specification could: its own path, its build folder, what a compiler makes of undefined behaviour.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from programsmith import payload
from programsmith.goldens.capture import Form
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import Launcher, Mount
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import OracleFacts
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Built, build_source
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

PLACE = "/opt/variant"
SHELL = "/bin/sh"
WRAPPER, OTHER_PATH, SANITIZED = "wrapper", str(Flavour.OTHER_PATH), str(Flavour.SANITIZED)
SHADOWED = 1 << 45  # bytes of addresses that a watched program reserves; what it takes of them is little


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """The forms that could be made, and why a build could not."""

    forms: dict[str, Form] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def variants(
    facts: OracleFacts,
    oracle_dir: Path,
    scratch: Path,
    launcher_of: Callable[[Sequence[str]], Launcher],
    other: tuple[SourceTree, BuildRequest],
) -> Variants:
    """All variants that the language has. `launcher_of` opens a launcher whose cases may also execute given programs.

    `other` is the source and the request of the other builds; its flavour does not matter. Raises InfraError.
    """
    made = Variants()
    builds = _Builds(made, scratch, launcher_of, *other)
    builds.add(Flavour.OTHER_PATH)
    wrapped = builds.tree(Flavour.OTHER_OPTIMISATION)
    made.forms[WRAPPER] = wrapper(facts, wrapped or oracle_dir, scratch / "wrapper", launcher_of([SHELL]))
    builds.add(Flavour.SANITIZED, memory_bytes=SHADOWED)
    return made


@dataclass(frozen=True, slots=True)
class _Builds:
    """Further builds of the source; one that cannot be made leaves its reason in `made.absent`."""

    made: Variants
    scratch: Path
    launcher_of: Callable[[Sequence[str]], Launcher]
    source: SourceTree
    request: BuildRequest

    def add(self, flavour: Flavour, memory_bytes: int = 0) -> None:
        """The program of a flavour as a form of the same name."""
        built = self._built(flavour)
        if built is None:
            return
        self.made.forms[flavour] = Form(
            launcher=self.launcher_of([]),
            program=built.program,
            mounts=(Mount(source=os.fspath(self._write(flavour, built)), target=ORACLE),),
            env=tuple((k.encode(), v.encode()) for k, v in self.request.toolchain.settings[flavour].items()),
            memory_bytes=memory_bytes,
        )

    def tree(self, flavour: Flavour) -> Path | None:
        """The tree of a flavour on the host, None where there is none."""
        built = self._built(flavour)
        return self._write(flavour, built) if built else None

    def _built(self, flavour: Flavour) -> Built | None:
        if flavour not in self.request.toolchain.flavours:
            return None
        try:
            return build_source(self.source, replace(self.request, flavour=flavour))
        except BuildRefusedError as refused:
            self.made.absent[flavour] = refused.reason
            return None

    def _write(self, flavour: Flavour, built: Built) -> Path:
        tree = self.scratch / flavour
        write_tree(os.fspath(tree), built.install)
        return tree


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
