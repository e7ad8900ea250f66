"""The tree on ordinary files: reading in parts, compare-and-swap, limits, walking."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.workspace.tree import MAX_WRITE_BYTES, StaleWrite, Tree, sha256


def test_a_replace_checks_what_was_read(tree: Tree, root: Path) -> None:
    before = tree.digest("core/persona.md")
    assert before == sha256(b"I am kind.\n")
    (root / "core" / "persona.md").write_bytes(b"A person edited this.\n")
    with pytest.raises(StaleWrite) as caught:
        tree.replace("core/persona.md", b"mine\n", expect=before)
    assert caught.value.path == "core/persona.md"
    assert tree.read_bytes("core/persona.md") == b"A person edited this.\n"
    after = tree.replace("core/persona.md", b"mine\n", expect=tree.digest("core/persona.md"))
    assert after == tree.digest("core/persona.md") == sha256(b"mine\n")


def test_a_replace_of_what_was_deleted_is_stale(tree: Tree, root: Path) -> None:
    before = tree.digest("core/persona.md")
    (root / "core" / "persona.md").unlink()
    with pytest.raises(StaleWrite):
        tree.replace("core/persona.md", b"mine\n", expect=before)
    assert not (root / "core" / "persona.md").exists()


def test_create_never_overwrites(tree: Tree) -> None:
    with pytest.raises(PathRejected) as caught:
        tree.create("core/persona.md", b"x")
    assert caught.value.code == "COL"
    assert tree.read_bytes("core/persona.md") == b"I am kind.\n"


def test_create_by_many_threads_has_one_winner(tree: Tree) -> None:
    won: list[int] = []

    def race(number: int) -> None:
        try:
            tree.create("archival/one.md", str(number).encode())
        except PathRejected:
            return
        won.append(number)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert tree.read_bytes("archival/one.md") == str(won[0]).encode()


def test_too_much_is_refused_before_anything_is_written(tree: Tree) -> None:
    with pytest.raises(PathRejected) as caught:
        tree.create("archival/big.md", b"x" * (MAX_WRITE_BYTES + 1))
    assert caught.value.code == "LIM"
    assert not tree.exists("archival/big.md")
    with pytest.raises(PathRejected) as caught:
        tree.read_bytes("core/persona.md", limit=3)
    assert caught.value.code == "LIM"


def test_a_file_is_read_in_parts(tree: Tree) -> None:
    data = bytes(range(256)) * 20
    tree.create("archival/parts.txt", data)
    assert b"".join(tree.chunks("archival/parts.txt", size=7)) == data
    assert tree.read_from("archival/parts.txt", 5000) == data[5000:]
    assert tree.read_from("archival/parts.txt", 10, 5) == data[10:15]
    assert tree.read_from("archival/parts.txt", 9999) == b""


def test_a_file_that_grows_while_it_is_read_stays_bounded(tree: Tree, root: Path) -> None:
    tree.create("archival/grow.txt", b"x" * 100)
    pieces = tree.chunks("archival/grow.txt", size=60)
    first = next(pieces)
    with (root / "archival" / "grow.txt").open("ab") as file:
        file.write(b"y" * 1000)
    assert first + b"".join(pieces) == b"x" * 100


def test_text_is_read_in_its_encoding(tree: Tree) -> None:
    tree.create("archival/a.txt", b"\xef\xbb\xbfgr\xc3\xbc\xc3\x9fe")
    tree.create("archival/b.txt", "\ufeffgrüße".encode("utf-16-le"))
    assert tree.read_text("archival/a.txt") == tree.read_text("archival/b.txt") == "grüße"


def test_an_append_makes_folders_and_tells_the_status(tree: Tree) -> None:
    first = tree.append("recall/2027/2027-01-01.jsonl", b"one\n")
    second = tree.append("recall/2027/2027-01-01.jsonl", b"two\n")
    assert (first.size, second.size) == (4, 8)
    assert second == tree.stat("recall/2027/2027-01-01.jsonl")
    assert second == tree.peek("recall/2027/2027-01-01.jsonl")
    tree.truncate("recall/2027/2027-01-01.jsonl", 4)
    assert tree.read_bytes("recall/2027/2027-01-01.jsonl") == b"one\n"


def test_a_walk_keeps_the_order_and_the_endings(tree: Tree) -> None:
    tree.create("archival/b/x.TXT", b"")
    tree.create("archival/a.md", b"")
    assert [entry.path for entry in tree.walk("archival")] == [
        "archival/a.md",
        "archival/b/x.TXT",
        "archival/note.md",
    ]
    assert [entry.path for entry in tree.walk("archival", suffixes=(".txt",))] == [
        "archival/b/x.TXT"
    ]
    assert [entry.path for entry in tree.walk("archival/note.md")] == ["archival/note.md"]
    with pytest.raises(PathRejected) as caught:
        list(tree.walk("nowhere"))
    assert caught.value.code == "MISSING"


def test_the_tree_tells_what_it_wrote(tree: Tree) -> None:
    tree.create("core/a.md", b"")
    tree.append("recall/2026/2026-11-30.jsonl", b"{}\n")
    tree.remove("core/a.md")
    tree.replace("core/persona.md", b"x")
    assert tree.take_written() == {"core/a.md", "core/persona.md"}
    assert tree.take_written() == frozenset()


def test_a_missing_file_is_told_without_the_hosts_path(tree: Tree) -> None:
    with pytest.raises(PathRejected, match=r"'core/x\.md': does not exist") as caught:
        tree.read_bytes("core/x.md")
    assert caught.value.code == "MISSING"
    assert not tree.exists("core/x.md")
    assert not tree.is_dir("nowhere")
    assert tree.digest("core/x.md") == ""
    with pytest.raises(PathRejected):
        tree.remove("core/x.md")


def test_a_closed_tree_opens_nothing(root: Path) -> None:
    tree = Tree(root)
    tree.close()
    tree.close()
    with pytest.raises(WorkspaceError):
        tree.read_bytes("core/persona.md")
