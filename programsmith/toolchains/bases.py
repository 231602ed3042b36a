"""Base images without a registry: made from the distribution's packages, two per language.

`python -m programsmith.toolchains.bases [--verifiers] LANGUAGE…`, as root on a Debian machine with debootstrap and a
Docker engine.
In: rules/containers.yaml and rules/toolchains.yaml. Out: per language a base of verifiers and, on top of it, one of
agents (not with `--verifiers`), and of C the first in any case; `base_tag` and `agent_tag` tell their tags; one that is
there is not made again.
What an agent works with besides stays out of verifiers. Two makings from the same archive have the same content digest.
Nothing of this machine goes in: neither its name, nor its resolver, nor a log.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from programsmith.errors import Exit, InfraError, InputError, PrerequisiteError, ProgramSmithError
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.docker_images import build_image, folder_context
from programsmith.sandboxes.engine import engine, find_image, talking
from programsmith.sandboxes.scratch import scratch
from programsmith.toolchains.load import toolchains

REPOSITORY = "programsmith/base"
RECIPE = Path(__file__).parent.parent / "payload" / "base"
VERIFIERS = "--verifiers"
COMPILER = "c"  # the language in whose base launch servers are compiled: it is made with every other one
_APT = Path("/etc/apt")
_STALE = 'Acquire::Check-Valid-Until "false";\nAcquire::Check-Date "false";\n'  # an archive's snapshot stays good
_EPOCH = 315532800  # 1980-01-01
_SAYS = 2000  # characters of a log that an error shows


def base_tag(language: str, suite: str) -> str:
    """The tag of a language's base: what its verifiers are made on."""
    return f"{REPOSITORY}-{language}:{suite}"


def agent_tag(language: str, suite: str) -> str:
    """The tag of what a language's agents are made on."""
    return f"{REPOSITORY}-{language}-agent:{suite}"


def command(language: str) -> str:
    """What a person types to get the base of a language."""
    return f"{os.path.basename(sys.executable)} -m programsmith.toolchains.bases {language}"


def make(languages: Sequence[str], *, agents: bool = True) -> None:
    """Make the bases that are not there, those of agents where they are wanted.

    Raises InputError, PrerequisiteError, InfraError.
    """
    rules = Rulebook(None)
    rule, known = rules.load("containers"), toolchains(rules.load("toolchains"))
    unknown = sorted(set(languages) - set(known))
    if unknown or not languages:
        raise InputError(f"bases: wanted languages of {', '.join(sorted(known))}, got {' '.join(unknown) or 'none'}")
    suite, more = rule["suite"], rule["packages"]
    for language in sorted({*languages, COMPILER}):
        own, tag = known[language].packages, base_tag(language, suite)
        _make(tag, lambda: _bare(rule), [*own, *more["verifier"]])
        if agents and language in languages:
            _make(agent_tag(language, suite), lambda tag=tag: tag, [*own, *more["agent"]])  # type: ignore[misc]


def _make(tag: str, base: Callable[[], str], packages: Sequence[str]) -> None:
    """Make one with these packages on top of another one, where it is not there."""
    if find_image(tag) is None:
        args = {"BASE": base(), "PACKAGES": " ".join(sorted(set(packages)))}
        build_image(folder_context(RECIPE), tag, args, network="host")
    sys.stdout.write(f"{tag}\n")


def _bare(rule: Mapping[str, Any]) -> str:
    """The tag of the distribution with nothing added, made if need be."""
    tag = f"{REPOSITORY}:{rule['suite']}"
    if find_image(tag) is None:
        with scratch("base") as folder:
            tree, packed = folder / "tree", folder / "base.tar"
            _bootstrap(tree, rule)
            _pack(tree, packed, rule["machine"])
            with talking(f"importing {tag}"):
                repository, _, name = tag.partition(":")
                engine().api.import_image_from_file(
                    str(packed), repository=repository, tag=name, changes=['CMD ["bash"]']
                )
    return tag


def _bootstrap(tree: Path, rule: Mapping[str, Any]) -> None:
    if os.geteuid() != 0:
        raise PrerequisiteError("bases: debootstrap makes a root file system; run it as root")
    if shutil.which("debootstrap") is None:
        raise PrerequisiteError("bases: debootstrap is not installed; run: apt-get install -y debootstrap")
    tree.mkdir(mode=0o755)
    epoch = f"SOURCE_DATE_EPOCH={_EPOCH}"  # the day on which accounts were changed is no part of a base
    words = [
        "env",
        epoch,
        "debootstrap",
        f"--variant={rule['variant']}",
        rule["suite"],
        str(tree),
        *_mirror(rule["suite"]),
    ]
    done = subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    for place in ("proc", "sys"):
        if os.path.ismount(tree / place):  # the host's: a tar of it would hold environments of the host's processes
            subprocess.run(["umount", str(tree / place)], check=True)
    if done.returncode != 0:
        raise InfraError(f"debootstrap failed: {done.stdout.decode('utf-8', 'replace')[-_SAYS:]}")
    (tree / "etc/apt/apt.conf.d/99snapshot").write_text(_STALE, "ascii")


def _mirror(suite: str) -> list[str]:
    """Where this machine gets the same release from; debootstrap's own default where it is another system."""
    release = Path("/etc/os-release").read_text("utf-8") if os.path.exists("/etc/os-release") else ""
    if f"VERSION_CODENAME={suite}\n" not in release:
        return []
    return list(_sources(suite))[:1]


def _sources(suite: str) -> Iterator[str]:
    """Addresses of archives that this machine has `suite` itself from, in both forms that apt knows."""
    for file in sorted(_APT.glob("sources.list.d/*.sources")):
        for block in file.read_text("utf-8").split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] not in "# ")
            if suite in fields.get("Suites", "").split():
                yield fields["URIs"].split()[0]
    for file in (_APT / "sources.list", *sorted(_APT.glob("sources.list.d/*.list"))):
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            words = [w for w in line.split() if not w.startswith(("[", "signed-by", "arch"))]
            if words[:1] == ["deb"] and words[2:3] == [suite]:
                yield words[1]


def _pack(tree: Path, packed: Path, machine: Sequence[str]) -> None:
    """The tree as a tar without files that belong to this machine or this hour."""

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        name = member.name.removeprefix("./")
        return None if not member.isdir() and any(fnmatchcase(name, pattern) for pattern in machine) else member

    with tarfile.open(packed, "w", format=tarfile.GNU_FORMAT) as tar:
        tar.add(tree, arcname=".", filter=kept)


def main(words: Sequence[str]) -> int:
    """Make the bases of the languages; an exit code."""
    try:
        make([word for word in words if word != VERIFIERS], agents=VERIFIERS not in words)
    except ProgramSmithError as fault:
        sys.stderr.write(f"bases: {fault}\n")
        return fault.exit
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
