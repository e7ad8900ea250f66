"""No name leads out of the workspace: every hostile row against every operation of the tree."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import BENIGN, ROWS

from fsagent.errors import FsagentError, PathRejected
from fsagent.workspace.paths import canonical, canonical_dir, legal_name
from fsagent.workspace.tree import Tree

OPERATIONS: dict[str, Callable[[Tree, str], object]] = {
    "read": lambda tree, name: tree.read_bytes(name),
    "read_text": lambda tree, name: tree.read_text(name),
    "read_from": lambda tree, name: tree.read_from(name, 0),
    "chunks": lambda tree, name: list(tree.chunks(name)),
    "stat": lambda tree, name: tree.stat(name),
    "digest": lambda tree, name: tree.digest(name),
    "replace": lambda tree, name: tree.replace(name, b"evil\n"),
    "create": lambda tree, name: tree.create(name, b"evil\n"),
    "append": lambda tree, name: tree.append(name, b"evil\n"),
    "truncate": lambda tree, name: tree.truncate(name, 0),
    "remove": lambda tree, name: tree.remove(name),
}
WRITING = {OPERATIONS[name] for name in ("replace", "create", "append")}
FOLDER_OPERATIONS: dict[str, Callable[[Tree, str], object]] = {
    "list": lambda tree, name: tree.list(name),
    "names": lambda tree, name: tree.names(name),
    "walk": lambda tree, name: list(tree.walk(name)),
}


def picture(folder: Path) -> dict[str, bytes | None]:
    """Every name under a folder with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if ".fsagent" not in path.parts
    }


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("row", ROWS, ids=[f"row {row[0]}" for row in ROWS])
def test_a_hostile_name_is_refused_by_its_rule(
    tree: Tree, root: Path, row: tuple[str, str, frozenset[str]], operation: str
) -> None:
    _, name, codes = row
    before = picture(root.parent)
    with pytest.raises(PathRejected) as caught:
        OPERATIONS[operation](tree, name)
    assert caught.value.code in codes
    assert str(root.parent) not in str(caught.value)
    assert str(caught.value).isprintable()
    assert picture(root.parent) == before


@pytest.mark.parametrize("operation", FOLDER_OPERATIONS)
@pytest.mark.parametrize(
    "name",
    [row[1] for row in ROWS if row[0] not in ("21", "22", "27 absolute")],
    ids=[f"row {row[0]}" for row in ROWS if row[0] not in ("21", "22", "27 absolute")],
)
def test_a_hostile_folder_is_not_listed(tree: Tree, name: str, operation: str) -> None:
    with pytest.raises(PathRejected):
        FOLDER_OPERATIONS[operation](tree, name)


def test_the_whole_workspace_is_listed_as_a_dot(tree: Tree) -> None:
    assert [entry.path for entry in tree.list(".")] == [
        "archival",
        "core",
        "fsagent.yaml",
        "prompts",
        "recall",
    ]


@pytest.mark.parametrize("name", ["./core/persona.md", "core//persona.md", "core/./persona.md"])
def test_a_sloppy_name_is_read_as_what_it_means(tree: Tree, name: str) -> None:
    assert canonical(name) == "core/persona.md"
    assert tree.read_bytes(name) == b"I am kind.\n"


def test_a_name_that_stays_inside_is_told_its_plain_form() -> None:
    with pytest.raises(PathRejected, match=r"write core/persona\.md"):
        canonical("core/../core/persona.md")


def test_a_backslash_is_told_the_slash() -> None:
    with pytest.raises(PathRejected, match="separated by '/'"):
        canonical("core\\persona.md")


@pytest.mark.parametrize("name", BENIGN)
def test_a_benign_name_is_written_listed_and_read(tree: Tree, name: str) -> None:
    tree.replace(name, b"text\n")
    assert tree.read_bytes(name) == b"text\n"
    assert name in [entry.path for entry in tree.walk(".")]


def test_no_benign_name_is_refused(suite_line: list[str]) -> None:
    stems = [name.rpartition(".")[0].rpartition("/")[2] for name in BENIGN]
    names = [f"archival/{a}{glue}{b}.md" for a in stems for b in stems for glue in ("-", " ")][:600]
    refused = [name for name in names if _code(name)]
    assert not refused
    suite_line.append(f"benign names: {len(names)} names: {len(refused)} false refusals")


def test_no_generated_name_escapes(
    tree: Tree, root: Path, nightly: bool, suite_line: list[str]
) -> None:
    chance = random.Random(7)
    count = 200_000 if nightly else 2_500
    outside = picture(root.parent / "outside") | picture(root.parent / "mem-evil")
    crashes, leaks = 0, 0
    for _ in range(count):
        name = _generated(chance)
        for operation in (*OPERATIONS.values(), *FOLDER_OPERATIONS.values()):
            if operation in WRITING and _code(name) is None:
                continue  # a legal name would be written inside, which is no escape
            try:
                operation(tree, name)
            except FsagentError as err:
                leaks += str(root.parent) in str(err)
            except Exception:
                crashes += 1
    escapes = outside != picture(root.parent / "outside") | picture(root.parent / "mem-evil")
    tools = len(OPERATIONS) + len(FOLDER_OPERATIONS)
    suite_line.append(
        f"hostile paths: {count + len(ROWS)} hostile paths x {tools} operations: "
        f"{int(escapes)} escapes, {crashes} crashes, {leaks} host paths"
    )
    assert (escapes, crashes, leaks) == (False, 0, 0)


def test_the_generated_names_bite_a_naive_tree(root: Path) -> None:
    """The control: joining the name to the root reaches the canary."""
    chance = random.Random(7)
    reached = 0
    for _ in range(2_500):
        name = _generated(chance)
        with contextlib.suppress(OSError, ValueError):
            reached += b"canary" in Path(os.path.normpath(root / name)).read_bytes()
    assert reached > 0


def test_a_folders_names_are_legal_exactly_where_paths_are() -> None:
    names = [name for _, name, _ in ROWS if "/" not in name and name not in ("", ".")]
    for name in names + [name.rpartition("/")[2] for name in BENIGN]:
        assert (legal_name(name, top=True) is not None) == (_code(name) is None), name


def test_a_folder_may_end_in_a_slash() -> None:
    assert canonical_dir("core/") == "core"


def _code(name: str) -> str | None:
    try:
        canonical(name)
    except PathRejected as err:
        return err.code
    return None


_PIECES = (
    *("..", ".", "", "...", "~", "core", "archival", "recall", "outside", "mem-evil", "etc"),
    *("passwd", "secret.md", "x.md", "persona.md", ".git", ".fsagent", "con", "C:", "%2e%2e"),
    *("\uff0e\uff0e", "\u2025", "a\0b", "a\nb", "\ud800", "é", "e\u0301", "\u202e", " ", "x."),
)


def _generated(chance: random.Random) -> str:
    separators = chance.choice(["/", "/", "/", "\\", "\uff0f", "//"])
    start = chance.choice(["", "", "/", "../", "./", "core/../../"])
    if chance.random() < 0.05:
        return start + "../outside/secret.md"
    return start + separators.join(chance.choices(_PIECES, k=chance.randint(1, 6)))
