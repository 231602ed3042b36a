"""Harbor's Docker environment on an engine without a registry: no network at all, for tasks that ask for none.

Harbor itself keeps a container from the network by a sidecar, whose image it pulls. Here offline.yaml is laid over each
container of a trial, the agent's and the verifier's alike, and asking.yaml over the one that answers queries, where a
task has one. A task that asks for an allowlist is refused by Harbor.
"""

from pathlib import Path
from typing import override

from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.environments.docker.docker import DockerEnvironment

OVERLAY = Path(__file__).with_suffix(".yaml")
ASKING = OVERLAY.with_name("asking.yaml")


class Offline(DockerEnvironment):
    @classmethod
    @override
    def _egress_control_kernel_support(cls) -> bool:
        return False

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        return super().capabilities.model_copy(update={"disable_internet": True})

    @property
    @override
    def _docker_compose_paths(self) -> list[Path]:
        asking = [ASKING] if self._environment_docker_compose_path.exists() else []
        return [*super()._docker_compose_paths, OVERLAY, *asking]
