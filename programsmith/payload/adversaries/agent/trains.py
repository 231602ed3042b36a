"""Takes a published copy of the task into a corpus as an honest collector does: without folders that carry a canary."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

COPY, SUBMISSION = Path("/copy"), Path("/app/submission")
CANARY = re.compile(rb"programsmith-canary [0-9a-f]{32}")


def marked(folder: Path) -> bool:
    """Whether a file of the folder itself asks to be left out."""
    return any(CANARY.search(p.read_bytes()) for p in folder.iterdir() if p.is_file())


if __name__ == "__main__":
    tops = [COPY / "environment" / "app", COPY / "tests", COPY / "solution"]
    for top in tops:
        if not marked(top):
            shutil.copytree(top, SUBMISSION / "corpus" / top.name)
