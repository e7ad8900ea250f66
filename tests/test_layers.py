"""Imports go one way: errors -> workspace -> (memory | search) -> tools -> agent -> bench -> cli."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "fsagent"
GROUND = {"errors", "types", "tokens", "config", "attributes", "dates", "fuzzy", "wordlists", ""}
ALLOWED = {
    "workspace": GROUND,
    "memory": GROUND | {"workspace"},
    "search": GROUND | {"workspace"},
    "models": GROUND,
    "tools": GROUND | {"workspace", "memory", "search"},
    "agent": GROUND | {"workspace", "memory", "search", "tools", "models"},
    "bench": GROUND | {"workspace", "memory", "search", "tools", "models", "agent", "demo"},
}
LAZY_OR_ONE = {
    "openai": {"models/openai_chat.py"},
    "watchdog": {"workspace/watch.py"},
    "rapidfuzz": {"fuzzy.py"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            yield node.module or ""


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_a_layer_imports_only_what_lies_below_it(layer: str) -> None:
    wrong = []
    for path in (PACKAGE / layer).rglob("*.py"):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            root, *rest = name.split(".")
            target = rest[0] if rest else ""
            if root == "fsagent" and target != layer and target not in ALLOWED[layer]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("package", sorted(LAZY_OR_ONE))
def test_a_package_is_imported_in_one_module(package: str) -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if package in {n.split(".")[0] for n in imported(ast.parse(path.read_text("utf-8")))}
    }
    assert users <= LAZY_OR_ONE[package]


def test_click_is_imported_by_the_command_line_only() -> None:
    users = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules()
        if "click" in {n.split(".")[0] for n in imported(ast.parse(path.read_text("utf-8")))}
    }
    assert users <= {"cli"}


HEAVY = {"openai", "tantivy", "rich", "numpy", "rapidfuzz", "re2", "nltk", "watchdog", "Stemmer"}


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    eager = []
    for path in modules():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                roots = {name.split(".")[0] for name in imported(node)}
                eager += [f"{path.relative_to(PACKAGE)}: {root}" for root in roots & HEAVY]
    assert eager == []
