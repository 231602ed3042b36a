"""Where foreign code runs: the embedded backend over views of this host, the Docker backend over an engine's images."""

from __future__ import annotations

from programsmith.payload.verifier.launcher import Launcher, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.sandboxes.base import Image, Sandbox, SandboxPlan
from programsmith.sandboxes.config import launcher_config, require_namespaces
from programsmith.sandboxes.embedded import EmbeddedSandbox

__all__ = ["launcher_config", "open_embedded", "open_launcher", "open_sandbox"]


def open_launcher(run_view: View) -> Launcher:
    """A launcher whose cases see `run_view`. Close it. Raises PrerequisiteError where this host cannot isolate."""
    require_namespaces()
    return bubblewrap(launcher_config(run_view))


def open_sandbox(plan: SandboxPlan) -> Sandbox:
    """A sandbox with a workspace of its own, of the backend that the plan's root belongs to. Close it.

    Raises PrerequisiteError where this host cannot isolate, or where there is no engine.
    """
    if isinstance(plan.view, Image):
        from programsmith.sandboxes.docker_sandbox import DockerSandbox

        return DockerSandbox(plan, plan.view)
    return open_embedded(plan)


def open_embedded(plan: SandboxPlan) -> EmbeddedSandbox:
    """An embedded sandbox, whose workspace lies on this host. Close it. Raises PrerequisiteError."""
    require_namespaces()
    return EmbeddedSandbox(plan)
