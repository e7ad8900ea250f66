"""Archival: every title gets a legal name, nothing is overwritten, broken files are passed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsagent.errors import ToolError, WorkspaceError
from fsagent.memory.archival import slug
from fsagent.memory.workspace import Workspace
from fsagent.workspace.paths import canonical


@given(st.text(max_size=200))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_title_makes_a_legal_name(title: str) -> None:
    name = f"archival/notes/{slug(title)}"
    assert canonical(name + ".md") == name + ".md"
    assert canonical(name + "-12.md") == name + "-12.md"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Trip to Kyoto!", "trip-to-kyoto"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "note-con"),
        ("aux.2", "note-aux.2"),
        ("\u2488 First", "1.-first"),
        ("…", "note"),
        ("日本 旅行", "日本-旅行"),
        ("x" * 500, "x" * 80),
        ("a\x00b\nc", "a-b-c"),
        (".git", "git"),
        ("git~1", "git-1"),
    ],
)
def test_a_title_becomes_a_file_name(title: str, name: str) -> None:
    assert slug(title) == name


def test_notes_of_one_title_stand_side_by_side(memory: Workspace) -> None:
    paths = [memory.archival.insert("A note", f"text {n}", ["x", "y"]) for n in range(3)]
    assert paths == [f"archival/notes/a-note{n}.md" for n in ("", "-2", "-3")]
    assert [memory.tree.read_text(path).splitlines()[-1] for path in paths] == [
        "text 0",
        "text 1",
        "text 2",
    ]
    entries = list(memory.archival.entries())
    assert [(entry.title, entry.tags) for entry in entries] == [("A note", ("x", "y"))] * 3


def test_a_document_imported_twice_is_there_once(memory: Workspace) -> None:
    first = memory.archival.import_document("My Book.TXT", b"text\r\n\xff")
    assert first == memory.archival.import_document("My Book.TXT", b"text\r\n\xff")
    other = memory.archival.import_document("My Book.TXT", b"other")
    assert (first, other) == ("archival/my-book.txt", "archival/my-book-2.txt")
    assert memory.tree.read_bytes(first) == b"text\r\n\xff"


@pytest.mark.parametrize(
    ("name", "data"), [("x.exe", b"a"), ("x", b"a"), ("x.md", b"a\0b"), (".md", b"\0")]
)
def test_what_is_no_text_is_not_imported(memory: Workspace, name: str, data: bytes) -> None:
    with pytest.raises(WorkspaceError):
        memory.archival.import_document(name, data)


@pytest.mark.parametrize(("title", "content"), [("", "x"), (" ", "x"), ("x", ""), ("x", "\n")])
def test_a_note_needs_a_title_and_a_text(memory: Workspace, title: str, content: str) -> None:
    with pytest.raises(ToolError):
        memory.archival.insert(title, content)


def test_broken_and_odd_files_are_listed_all_the_same(memory: Workspace) -> None:
    folder = memory.root / "archival"
    (folder / "a.md").write_bytes(b"---\ntitle: [\n---\n")
    (folder / "b.md").write_bytes(b"---\ntitle: no end\n")
    (folder / "c.md").write_bytes(b"\xff\xfe\x00")
    (folder / "d.md").write_bytes("\ufeff---\ntitle: Über\ntags: one\n---\n".encode("utf-16-le"))
    (folder / "e.md").write_bytes(b"---\ntitle: Long\n---\n" + b"x" * 100_000)
    (folder / "f.pdf").write_bytes(b"%PDF\0")
    (folder / "g.md").symlink_to("/etc/passwd")
    found = {entry.path.rpartition("/")[2]: entry for entry in memory.archival.entries()}
    assert sorted(found) == ["a.md", "b.md", "c.md", "d.md", "e.md", "f.pdf"]
    assert (found["d.md"].title, found["d.md"].tags) == ("Über", ("one",))
    assert found["e.md"].title == "Long"
    assert found["a.md"].title == "a"
