"""/dev over bwrap: the same devices, and as closed, whether a folder of ours is shown or each device by itself."""

from __future__ import annotations

import contextlib
import os

import pytest

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.launcher import View
from programsmith.sandboxes.config import launcher_config
from tests.contract.launches import case, ended

LISTED = (
    "import os, stat\n"
    "for name in sorted(os.listdir('/dev')):\n"
    " path = '/dev/' + name; facts = os.lstat(path)\n"
    " print(name, stat.S_IFMT(facts.st_mode), facts.st_rdev, os.path.islink(path) and os.readlink(path))\n"
)
USED = (
    "print(os.stat('/dev/null').st_mode & 0o777, open('/dev/null', 'w').write('gone'))\n"
    "print(open('/dev/zero', 'rb').read(2), len(open('/dev/random', 'rb').read(3)))\n"
)
SPOILT = (
    "for spoil in (lambda: open('/dev/planted', 'w'), lambda: os.chmod('/dev/null', 0),\n"
    "              lambda: os.unlink('/dev/null'), lambda: os.rename('/dev/zero', '/dev/null')):\n"
    " try: spoil(); print('spoilt')\n"
    " except OSError: pass\n"
)


def said(view: View, folder: str | None) -> bytes:
    with contextlib.closing(BwrapLauncher({**launcher_config(view, "c"), "devices": folder})) as launcher:
        return ended(launcher.run(case(LISTED + USED + SPOILT)))


def test_a_folder_of_devices_is_what_the_devices_by_themselves_are(view: View) -> None:
    folder = launcher_config(view, "c")["devices"]
    alone = said(view, None)
    assert b"438 4\nb'\\x00\\x00' 3\n" in alone  # 0o666
    assert b"spoilt" not in alone
    if folder is None:
        assert os.geteuid() != 0
        pytest.skip("an ordinary user makes no devices; run this as root")
    assert said(view, folder) == alone
