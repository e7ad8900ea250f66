"""What the model may write: the policy rows of the hostile table."""

from __future__ import annotations

import pytest
from hostile import ROWS

from fsagent.errors import PathRejected
from fsagent.workspace.policy import check_model_write
from fsagent.workspace.tree import Tree

POLICY = [
    ("41", "\u0441\u043ere/persona.md"),
    ("43", "CORE/persona.md"),
    ("50", "archival/evil/HEAD"),
    ("50", "archival/evil/config"),
    ("50", "archival/evil/objects/x"),
    ("59", "archival/x.sh"),
    ("59", "archival/x.py"),
    ("59", "archival/x.desktop"),
    ("59", "archival/x"),
    ("59", "archival/x.md.exe"),
    ("59", "core/x.json"),
    ("60", "recall/2026/2026-11-30.jsonl"),
    ("60", "recall/x.md"),
    ("83", "."),
    ("83", "core"),
    ("83", "core/"),
    ("83", "archival"),
    ("83", "recall"),
    ("settings", "fsagent.yaml"),
    ("prompts", "prompts/filesystem.md"),
    ("elsewhere", "notes.md"),
    ("elsewhere", "other/notes.md"),
]


@pytest.mark.parametrize(("row", "name"), POLICY, ids=[f"{row} {name}" for row, name in POLICY])
def test_the_model_may_not_write_there(row: str, name: str) -> None:
    with pytest.raises(PathRejected) as caught:
        check_model_write(name)
    assert caught.value.code == "POL"


@pytest.mark.parametrize("name", [row[1] for row in ROWS], ids=[f"row {row[0]}" for row in ROWS])
def test_a_hostile_name_is_no_place_to_write(name: str) -> None:
    with pytest.raises(PathRejected):
        check_model_write(name)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("core/human.md", "core/human.md"),
        ("./core//human.md", "core/human.md"),
        ("archival/notes/x.md", "archival/notes/x.md"),
        ("archival/TABLE.CSV", "archival/TABLE.CSV"),
        ("archival/cafe\u0301.md", "archival/café.md"),
        ("archival/日記/東京 2026.md", "archival/日記/東京 2026.md"),
    ],
)
def test_the_model_may_write_text_of_its_own(name: str, written: str) -> None:
    assert check_model_write(name) == written


@pytest.mark.parametrize("name", ["fsagent.yaml", "prompts/filesystem.md", "core/persona.md"])
def test_what_may_not_be_written_may_be_read(tree: Tree, name: str) -> None:
    assert tree.read_text(name)
