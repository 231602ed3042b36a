"""A Python of its own for a harness that is written in it: interpreter, standard library, C library, packages.

In: a folder of installed packages. Out: a tree that runs wherever it lies, beside whatever programs and libraries: it
is started by its own loader, which finds its own libraries.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from programsmith.errors import PrerequisiteError
from programsmith.sandboxes.view import PYTHON_HOME, fill_tree, list_root

SITE = "/opt/site"
"""Where packages lie below the tree; the harness's starter finds it from its own place."""
KEPT = (PYTHON_HOME + "/", SITE, "/usr/lib", "/lib")
LOCALES = "/usr/lib/locale"
UNREADABLE = 0o711
"""Mode of a program that becomes an agent: the kernel then lets no other process of its user look into it."""


def lay_python(site: Path, tree: Path) -> None:
    """Lay this interpreter and the packages of `site` down below `tree`. Raises PrerequisiteError, InfraError."""
    root = list_root(["python3"], ())
    root.add_folder(str(site), SITE, frozenset({"__pycache__"}))
    root.entries = {p: e for p, e in root.entries.items() if p.startswith(KEPT) and not p.startswith(LOCALES)}
    for inside, entry in root.entries.items():
        if os.path.basename(inside).startswith("ld-") and entry.source:
            root.entries[inside] = dataclasses.replace(entry, mode=UNREADABLE)
    fill_tree(root, tree)


def interpreter(tree: Path, at: str) -> tuple[str, ...]:
    """Words that start the interpreter of a tree which is shown at `at`. Raises PrerequisiteError."""
    loaders = [p for p in sorted(tree.glob("**/ld-linux-*.so.*")) if not p.is_symlink()]
    pythons = [p for p in sorted(tree.glob(f"{PYTHON_HOME[1:]}/bin/python3.*")) if not p.is_symlink()]
    if not loaders or not pythons:
        raise PrerequisiteError(f"{tree}: no loader or no interpreter is left of an installed agent; install it again")
    folders = sorted({p.parent for p in tree.glob("usr/lib/**/*.so*") if "site" not in p.parts})
    inside = [f"{at}/{p.relative_to(tree)}" for p in folders]
    loader, python = (f"{at}/{found[0].relative_to(tree)}" for found in (loaders, pythons))
    return loader, "--library-path", ":".join(inside), python, "-I"
