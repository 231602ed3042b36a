"""The two sandboxes of a trial whose agent asks a model: the agent's, which has a way to it, and the task's, which not.

The unmodified agent runs in the agent sandbox, where every command name is a shim: the command itself runs in the task
sandbox. A relay, the agent's parent, leads to the model gateway and lets in connections of that one process. Neither
sandbox has a network. docs/security.md says what is proven.
"""

from __future__ import annotations

from programsmith.agents.bridge.pair import Ended, Pair, Running, open_pair
from programsmith.agents.bridge.room import PORT, PRIVATE, TREE

__all__ = ["PORT", "PRIVATE", "TREE", "Ended", "Pair", "Running", "open_pair"]
