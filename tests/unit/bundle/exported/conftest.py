from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from programsmith import cli
from programsmith.blocks import create
from tests.samples.exporting import SECRET, exported


@pytest.fixture(scope="session")
def shelf(toys, tmp_path_factory):
    """The same task exported once for each way to seal it, by mode."""
    top = tmp_path_factory.mktemp("shelf")
    toy = toys("python", "python").copy(top / "toy")
    made = {"inline": exported(toy, top / "inline" / "rot")}
    toy.spec["seal"], toy.owner_secret = "owner", SECRET
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    return {**made, "owner": exported(toy, top / "owner" / "rot")}


@pytest.fixture(params=["inline", "owner"])
def task(request, shelf, tmp_path):
    return Path(shutil.copytree(shelf[request.param], tmp_path / "rot"))


@pytest.fixture
def inline(shelf, tmp_path):
    return Path(shutil.copytree(shelf["inline"], tmp_path / "rot"))


@pytest.fixture
def verified(capsys):
    """Runs the verb; its exit code, and its lines by name."""

    def look(path, *flags):
        code = cli.run(["verify", str(path), "--json", *flags])
        out = capsys.readouterr().out
        return code, {line["name"]: line for line in json.loads(out)["lines"]}

    return look
