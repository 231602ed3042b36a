from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.compiler.imports import Package


@pytest.fixture
def package(tmp_path: Path) -> Package:
    top = tmp_path / "shop"
    (top / "sub").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "sub/__init__": "",
        "top": "import os\nfrom shop.sub import deep\n",
        "sub/deep": "def f():\n    from shop import lazy\n    return lazy\n",
        "lazy": "import shop.leaf\n",
        "leaf": "X = 1\n",
        "other": "import shop.top\n",
    }.items():
        (top / f"{name}.py").write_text(text)
    return Package(top)


def test_the_closure_follows_lazy_and_nested_imports(package: Package) -> None:
    assert sorted(package.closure("shop.top")) == [
        "shop",
        "shop.lazy",
        "shop.leaf",
        "shop.sub",
        "shop.sub.deep",
        "shop.top",
    ]


def test_an_edit_in_the_closure_changes_the_digest(package: Package) -> None:
    before = package.digest("shop.top")
    (package.folder / "leaf.py").write_text("X = 2\n")
    assert package.digest("shop.top") != before


def test_an_edit_outside_the_closure_does_not(package: Package) -> None:
    before = package.digest("shop.top")
    (package.folder / "other.py").write_text("import shop.leaf\n")
    assert package.digest("shop.top") == before


def test_imports_in_a_ring_end(package: Package) -> None:
    (package.folder / "leaf.py").write_text("import shop.top\n")
    assert "shop.leaf" in package.closure("shop.top")


def test_a_module_that_is_not_there_is_refused(package: Package) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"shop\.none"):
        package.digest("shop.none")


def test_a_folder_goes_before_a_file_of_its_name_as_it_does_for_python(package: Package) -> None:
    (package.folder / "sub.py").write_text("import shop.other\n")
    found = package.closure("shop.top")
    assert found["shop.sub"] == package.folder / "sub" / "__init__.py"
    assert "shop.other" not in found


def test_a_module_that_was_added_since_is_found(package: Package) -> None:
    (package.folder / "leaf.py").write_text("from shop import late\n")
    assert "shop.late" not in package.closure("shop.top")
    (package.folder / "late.py").write_text("")
    assert "shop.late" in package.closure("shop.top")
