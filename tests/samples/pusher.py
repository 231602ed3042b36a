"""Pushes an image in a process of its own, whose environment says who it is: `pusher.py IMAGE HOST/NAME TAG`."""

from __future__ import annotations

import sys

from programsmith.compiler.faults import Caught
from programsmith.errors import Exit
from programsmith.sandboxes.docker_registry import probe, push, repository

with Caught() as caught:
    place = repository(sys.argv[2])
    probe(place)
    print(push(sys.argv[1], place, sys.argv[3]))
sys.exit(caught.code or Exit.OK)
