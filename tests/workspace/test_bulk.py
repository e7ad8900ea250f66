"""Reading many files of one folder: what is found, refused, and read into one buffer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fsagent.errors import PathRejected
from fsagent.workspace.bulk import opened
from fsagent.workspace.tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "a" / "inner.md").mkdir(parents=True)
    (tmp_path / "a" / "one.md").write_bytes(b"first file, the longer one")
    (tmp_path / "a" / "two.md").write_bytes(b"second")
    (tmp_path / "outside").write_bytes(b"secret")
    (tmp_path / "a" / "link.md").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "a" / "pipe")
    return Tree(tmp_path)


def test_names_come_with_their_kind_and_without_links_and_pipes(tree: Tree) -> None:
    with opened(tree, "a") as folder:
        assert folder.kinds() == {"a/inner.md": True, "a/one.md": False, "a/two.md": False}


def test_one_buffer_serves_files_of_every_size(tree: Tree) -> None:
    buffer = bytearray(3)
    with opened(tree, "a") as folder:
        for path in ("a/one.md", "a/two.md", "a/one.md"):
            size = folder.read_into(path, buffer, limit=1_000)
            assert bytes(buffer[:size]) == tree.read_bytes(path)


@pytest.mark.parametrize(
    ("name", "code"),
    [("link.md", "LNK"), ("pipe", "KIND"), ("inner.md", "KIND"), ("gone.md", "MISSING")],
)
def test_what_is_no_regular_file_is_refused(tree: Tree, name: str, code: str) -> None:
    with opened(tree, "a") as folder, pytest.raises(PathRejected) as refused:
        folder.read_into(f"a/{name}", bytearray(), limit=1_000)
    assert refused.value.code == code


def test_a_file_over_the_limit_is_refused(tree: Tree) -> None:
    with opened(tree, "a") as folder, pytest.raises(PathRejected) as refused:
        folder.read_into("a/one.md", bytearray(), limit=10)
    assert refused.value.code == "LIM"


def test_a_name_stored_in_another_spelling_is_read(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "a" / "cafe\u0301.md").write_bytes(b"decomposed")
    buffer = bytearray()
    with opened(tree, "a") as folder:
        assert "a/caf\u00e9.md" in folder.kinds()
        size = folder.read_into("a/caf\u00e9.md", buffer, limit=100)
    assert bytes(buffer[:size]) == b"decomposed"
