"""A repository of one commit for builds that ask git: same tree, same version, same commit id, on every machine."""

from __future__ import annotations

import os
from pathlib import Path

from programsmith.errors import InputError

FIXED_DATE = "2000-01-01T00:00:00+00:00"
FIXED_ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,  # a user's filters, hooks and signing keys have no say
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "source",
    "GIT_AUTHOR_EMAIL": "source@invalid",
    "GIT_AUTHOR_DATE": FIXED_DATE,
    "GIT_COMMITTER_NAME": "source",
    "GIT_COMMITTER_EMAIL": "source@invalid",
    "GIT_COMMITTER_DATE": FIXED_DATE,
}
SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.fileMode=true",
    "gc.auto=0",
    "commit.gpgSign=false",
)


def synthetic_git(root: Path, version: str) -> None:
    """Make `root` a repository of one commit that holds every file below it, with the annotated tag `version`.

    Raises InputError where git refuses the tag's name.
    """
    from git import Git
    from git.exc import GitCommandError

    git = Git(root)
    own = {
        **FIXED_ENV,
        "GIT_DIR": str(root / ".git"),
        "GIT_WORK_TREE": str(root),
        "GIT_INDEX_FILE": str(root / ".git/index"),
    }
    options = [word for setting in SETTINGS for word in ("-c", setting)]

    def run(*words: str) -> None:
        git.execute(["git", *options, *words], env=own)

    try:
        run("check-ref-format", f"refs/tags/{version}")
    except GitCommandError as fault:
        raise InputError(f"a git tag cannot be named {version!r}; give a version that can be one") from fault
    run("init", "--quiet", "--template=", "--initial-branch=main")
    run("add", "--all", "--force")
    run("commit", "--quiet", "--no-verify", "--allow-empty", "--message", version)
    run("tag", "--annotate", "--message", version, "--", version)
