"""Licences: the most restrictive statement governs, whatever says it and wherever it lies."""

from __future__ import annotations

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.licences import judge
from programsmith.sources.origin import RefusedError
from programsmith.sources.spdx import choose, expression_of
from programsmith.sources.tree import SourceTree

COMMONS_CLAUSE = """"Commons Clause" License Condition v1.0

The Software is provided to you by the Licensor under the License, as defined below, subject to the following condition.
Without limiting other conditions in the License, the grant of rights under the License will not include, and the
License does not grant to you, the right to Sell the Software.

"""
BUSL = """Business Source License 1.1

Licensor: Toy Inc. Licensed Work: toy. Additional Use Grant: none. Change Date: 2030-01-01. Change License: MIT.

The Licensor hereby grants you the right to copy, modify, create derivative works, redistribute, and make non-production
use of the Licensed Work. The Licensor may make an Additional Use Grant, above, permitting limited production use.
"""
SPDX_HEADER = "/* SPDX-License-Identifier: %s */\nint x;\n"
BISON = (
    "/* Bison implementation. This program is free software under the terms of the GNU General Public License.\n"
    "   As a special exception, you may create a larger work that contains part or all of the Bison parser\n"
    "   skeleton and distribute that work under terms of your choice. */\n"
)


@pytest.fixture
def ruled(kit):
    rule = kit.rule("licenses")

    def ruling(files, links=()):
        entries = [FileEntry(n.encode(), "file", 0o644, c.encode()) for n, c in files.items()]
        entries += [FileEntry(n.encode(), "link", 0o777, t.encode()) for n, t in links]
        return judge(SourceTree(entries), rule)

    return ruling


def refused(ruled, files, links=()):
    with pytest.raises(RefusedError) as no:
        ruled(files, links)
    return no.value


def test_a_plain_licence_is_taken(ruled, kit):
    assert ruled({"LICENSE": kit.mit}).expression == "MIT"


@pytest.mark.parametrize(
    "name", ["COPYING", "COPYRIGHT", "LICENCE.md", "License.txt", "LICENSE-MIT", "UNLICENSE", "LICENSES/MIT.txt"]
)
def test_a_licence_file_has_many_names(ruled, kit, name):
    assert ruled({name: kit.mit}).expression == "MIT"


def test_a_copyright_file_may_name_owners_and_counts_by_what_it_states(ruled, kit):
    owners = "Written by Some Body and many others, who keep what they wrote. " * 9
    assert ruled({"LICENSE": kit.mit, "COPYRIGHT": owners}).expression == "MIT"
    assert refused(ruled, {"LICENSE": kit.mit, "COPYRIGHT": owners + kit.gpl}).evidence["licence_class"] == "copyleft"


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("This project is dual-licensed under the Unlicense and MIT licenses.\n", True),
        ("License\n=======\n\n.. literalinclude:: ../LICENSE-MIT\n", True),
        ("Licensed under the MIT license, parts under the GPL.\n", False),
        ("MIT, but not for commercial use: MPL-2.0 applies to src/.\n", False),
        ("See the web site of the project.\n", False),
    ],
)
def test_a_short_file_that_points_at_the_others_adds_nothing(ruled, kit, text, taken):
    files = {"LICENSE-MIT": kit.mit, "COPYING": text}
    if taken:
        assert ruled(files).expression == "MIT"
    else:
        assert refused(ruled, files).evidence["path"] == "COPYING"


def test_gpl_is_refused_whatever_else_the_text_says(ruled, kit):
    no = refused(ruled, {"LICENSE": kit.gpl})
    assert no.evidence["licence_class"] == "copyleft"
    assert "LICENSE is GPL-3.0" in no.reason


def test_commons_clause_over_mit_is_refused(ruled, kit):
    no = refused(ruled, {"LICENSE": COMMONS_CLAUSE + kit.mit})
    assert no.evidence["licence_class"] == "source_available"


def test_busl_is_refused_although_it_names_mit(ruled):
    assert refused(ruled, {"LICENSE": BUSL}).evidence["licence_class"] == "source_available"


def test_words_around_a_licence_that_nobody_read_are_refused(ruled, kit):
    words = "You owe the author a postcard from each town in which this runs, for as long as it runs there. " * 4
    no = refused(ruled, {"LICENSE": kit.mit + words})
    assert no.evidence["licence_class"] == "unknown"
    assert "LicenseRef-unknown-" in no.reason


def test_a_restriction_is_found_however_short(ruled, kit):
    assert refused(ruled, {"LICENSE": kit.mit + "\nNot for military use.\n"}).evidence["licence_class"] == "unknown"


def test_a_restriction_in_a_copyright_line_is_found(ruled, kit):
    words = "\nCopyright 2020 Toy. Non-commercial use only.\n"
    assert refused(ruled, {"LICENSE": kit.mit + words}).evidence["licence_class"] == "unknown"


def test_copyright_lines_and_short_words_do_not_matter(ruled, kit):
    head = "Toy, a program.\n" + "".join(f"Copyright (c) {y} Somebody With A Rather Long Name\n" for y in range(20))
    assert ruled({"LICENSE": head + kit.mit}).expression == "MIT"


def test_reviewed_words_are_accepted(kit):
    words = "Everything below docs/ is under the text that stands in docs/. " * 6
    tree = SourceTree([FileEntry(b"LICENSE", "file", 0o644, (kit.mit + words).encode())])
    rule = kit.rule("licenses")
    with pytest.raises(RefusedError) as no:
        judge(tree, rule)
    digest = no.value.evidence["expression"].rpartition("-")[2]
    assert judge(tree, {**rule, "reviewed": [{"residue": digest, "why": "read"}]}).expression == "MIT"


def test_a_vendored_gpl_part_governs(ruled, kit):
    no = refused(ruled, {"LICENSE": kit.mit, "vendor/zip/COPYING": kit.gpl})
    assert no.evidence["path"] == "vendor/zip/COPYING"


def test_a_vendored_gpl_file_governs_by_its_header(ruled, kit):
    words = "/*\n * This is free software under the terms of the GNU General\n * Public License, version 2.\n */\n"
    assert refused(ruled, {"LICENSE": kit.mit, "src/old.c": words}).evidence["path"] == "src/old.c"


def test_an_spdx_header_governs(ruled, kit):
    no = refused(ruled, {"LICENSE": kit.mit, "a.c": SPDX_HEADER % "AGPL-3.0-only"})
    assert no.evidence["licence_class"] == "network_copyleft"
    assert ruled({"LICENSE": kit.mit, "a.c": SPDX_HEADER % "MIT OR GPL-2.0-only"}).expression == "MIT"


def test_a_generated_parser_does_not_govern(ruled, kit):
    ruling = ruled({"LICENSE": kit.mit, "parser.c": BISON})
    assert ruling.expression == "MIT"
    assert "GPL-2.0-or-later WITH Bison-exception-2.2" in {f.expression for f in ruling.facts}


def test_two_texts_are_both_required(ruled, kit):
    apache = (kit.project / "LICENSE").read_text()
    assert ruled({"LICENSE-MIT": kit.mit, "LICENSE-APACHE": apache}).expression == "Apache-2.0 AND MIT"


def test_a_manifest_that_offers_a_choice_takes_the_allowed_side(ruled, kit):
    files = {
        "Cargo.toml": '[package]\nlicense = "MIT OR GPL-3.0-or-later"\n',
        "LICENSE-MIT": kit.mit,
        "LICENSE-GPL": kit.gpl,
    }
    assert ruled(files).expression == "MIT"
    assert refused(ruled, {**files, "vendor/COPYING": kit.gpl}).evidence["path"] == "vendor/COPYING"
    both = {**files, "Cargo.toml": '[package]\nlicense = "MIT AND GPL-3.0-or-later"\n'}
    assert refused(ruled, both).rule == "licence"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("package.json", '{"license": "UNLICENSED"}'),
        ("pyproject.toml", '[project]\nlicense = "Proprietary"\n'),
        ("pyproject.toml", '[project]\nclassifiers = ["License :: Other/Proprietary License"]\n'),
        ("setup.cfg", "[metadata]\nlicense = GPLv3\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='x', license='LGPL-2.1')\n"),
        ("package.json", '{"license": {"type": "Toy License 7"}}'),
    ],
)
def test_a_manifest_can_take_back_what_the_licence_file_gives(ruled, kit, name, content):
    assert refused(ruled, {"LICENSE": kit.mit, name: content}).evidence["path"] == name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Cargo.toml", '[package]\nlicense = "MIT/Apache-2.0"\n'),
        ("pyproject.toml", '[project]\nlicense = {text = "MIT License"}\n'),
        ("setup.py", "import setuptools\nsetuptools.setup(classifiers=['License :: OSI Approved :: MIT License'])\n"),
    ],
)
def test_a_manifest_alone_is_a_statement(ruled, name, content):
    assert ruled({name: content}).expression == "MIT"


def test_a_manifest_that_points_to_a_file_claims_nothing(ruled, kit):
    assert ruled({"LICENSE": kit.mit, "package.json": '{"license": "SEE LICENSE IN LICENSE"}'}).expression == "MIT"


def test_a_broken_manifest_says_nothing(ruled, kit):
    files = {"LICENSE": kit.mit, "pyproject.toml": "[", "setup.py": "(", "package.json": "[", "setup.cfg": "x"}
    assert ruled(files).expression == "MIT"


def test_a_licence_that_is_a_symlink_is_read(ruled, kit):
    assert ruled({"docs/legal.txt": kit.mit}, [("LICENSE", "docs/legal.txt")]).expression == "MIT"
    assert refused(ruled, {"docs/legal.txt": kit.gpl}, [("LICENSE", "docs/legal.txt")]).rule == "licence"
    assert refused(ruled, {"a.py": "x = 1\n"}, [("LICENSE", "nowhere")]).rule == "no_licence"


def test_a_licence_only_below_the_root_is_no_licence(ruled, kit):
    assert refused(ruled, {"vendor/LICENSE": kit.mit, "a.py": "x = 1\n"}).rule == "no_licence"


def test_an_unreadable_licence_is_unknown(ruled):
    assert refused(ruled, {"LICENSE": "Do as you please, or not.\n"}).evidence["licence_class"] == "unknown"


def test_a_notice_is_attribution_unless_it_restricts(ruled, kit):
    words = "This product includes software that was developed by a long list of kind people. " * 6
    assert ruled({"LICENSE": kit.mit, "NOTICE": words}).expression == "MIT"
    assert refused(ruled, {"LICENSE": kit.mit, "NOTICE": "It may not be used by banks."}).rule == "licence"


def test_many_blank_lines_take_no_time(ruled, kit):
    assert ruled({"LICENSE": kit.mit + "\n" * 200_000}).expression == "MIT"


@pytest.mark.parametrize(
    ("expression", "taken", "no"),
    [
        ("MIT OR GPL-2.0-only", "MIT", None),
        ("GPL-2.0-only OR (MIT AND ISC)", "MIT AND ISC", None),
        ("MIT AND (ISC OR GPL-2.0-only)", "MIT AND ISC", None),
        ("MIT AND GPL-2.0-only", None, "GPL-2.0-only"),
        ("GPL-2.0-only OR LGPL-2.1-only", None, "GPL-2.0-only"),
        ("MIT OR", None, "LicenseRef-unknown"),
    ],
)
def test_an_expression_is_resolved(expression, taken, no):
    choice = choose(expression, frozenset({"MIT", "ISC"}))
    assert (choice.taken, choice.refused) == (taken, no)


def test_a_claim_that_is_no_licence_is_unknown():
    assert expression_of("Beerware Deluxe", {}) == "LicenseRef-unknown"
