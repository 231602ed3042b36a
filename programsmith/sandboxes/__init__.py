"""Where foreign code runs: the embedded backend, root views built from lists, the launcher's host side."""

from __future__ import annotations

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.launcher import Launcher, View
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from programsmith.sandboxes.config import launcher_config, require_namespaces
from programsmith.sandboxes.embedded import EmbeddedSandbox

__all__ = ["launcher_config", "open_launcher", "open_sandbox"]


def open_launcher(run_view: View) -> Launcher:
    """A launcher whose cases see `run_view`. Close it. Raises PrerequisiteError where this host cannot isolate."""
    require_namespaces()
    return BwrapLauncher(launcher_config(run_view))


def open_sandbox(plan: SandboxPlan) -> Sandbox:
    """A sandbox with a workspace of its own. Close it. Raises PrerequisiteError where this host cannot isolate."""
    require_namespaces()
    return EmbeddedSandbox(plan)
