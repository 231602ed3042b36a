"""What tests make other programs of ours, of other sources, by: one text of one file, and what stands there instead.

They lie here together so that one quick test tells where a text is gone: each is used by a test that takes minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Edit:
    """`old` stands once in the file at `path`."""

    path: str
    old: str
    new: str

    def apply(self, root: Path) -> None:
        """Make the edit below `root`, a copy of this repository, or of the part that the path starts from."""
        file = root / self.path
        text = file.read_text()
        assert text.count(self.old) == 1, f"{self.path}: wanted once, stands {text.count(self.old)} times: {self.old!r}"
        file.write_text(text.replace(self.old, self.new))


VERIFIER = "programsmith/payload/verifier"
EDITS = {
    "a_grader_of_other_code": Edit(
        f"{VERIFIER}/grade.py", "class BundleError(Exception):", "# another one\nclass BundleError(Exception):"
    ),
    "a_comparator_of_other_code": Edit(f"{VERIFIER}/compare.py", "def comparator(", "# another one\ndef comparator("),
    "a_verifier_that_leaves_stale_output": Edit(
        f"{VERIFIER}/receive.py",
        "    reading.entries = [e for e in reading.entries if not _is_at_or_below(e, output)]\n",
        "",
    ),
    "a_bundle_that_shows_all_cases": Edit(
        "programsmith/bundle/render.py",
        "    yield file_of(PUBLIC, encode_cases(given.public))",
        "    yield file_of(PUBLIC, encode_cases((*given.public, *given.held_out)))",
    ),
    "a_verifier_that_ends": Edit(
        f"{VERIFIER}/grade.py",
        "    waived, policy, refused = _held_to(received, tests)\n",
        """    if os.path.exists(bytes.fromhex("PLACE")):
        with open(bytes.fromhex("PLACE"), encoding="ascii") as line:
            exec(line.read())
    waived, policy, refused = _held_to(received, tests)
""",  # PLACE is where a file says how, in hexadecimal digits
    ),
}
