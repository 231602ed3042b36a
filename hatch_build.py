"""The wheel's build: where this machine has a C compiler, the wheel carries our C programs compiled.

They are static, so they need nothing but a Linux kernel of the machine's kind: its tag says so by the oldest C library
that installers know. Without a compiler, or where this Python takes no such tag (it has 32 bits), the wheel is
one for every machine. An editable install carries none.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags


class Compiled(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Adds programsmith/_compiled to a wheel."""

    PLUGIN_NAME = "custom"
    _folder = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of its own, which the wheel is made with."""
        if self.target_name != "wheel" or version == "editable":
            return
        package = Path(self.root) / "programsmith"
        spec = importlib.util.spec_from_file_location("prebuilt", package / "sandboxes" / "prebuilt.py")
        assert spec is not None
        assert spec.loader is not None
        prebuilt = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(prebuilt)
        self._folder = tempfile.mkdtemp()
        out = Path(self._folder) / "compiled"
        tag = prebuilt.tag(one.platform for one in sys_tags())
        if tag and prebuilt.build(package, out):
            inside = prebuilt.place(Path("programsmith"))
            build_data["force_include"][str(out)] = str(inside)
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
