"""Edits as values, and the proposals that wait for a person."""

from __future__ import annotations

import json

import pytest

from fsagent.errors import BadArguments, CorruptFile, ToolError, WorkspaceError
from fsagent.memory.accepting import accept, applied
from fsagent.memory.edits import CoreEdit, edited
from fsagent.memory.workspace import Workspace

VALUE = "- Lives in Porto. [2026-11-29:14]\n- Has a dog.\n- Likes tea."
POINTER = "- Older facts about this: archival/notes/about-human.md"
HOME = "- Lives in Porto. [2026-11-29:14]"


def test_an_added_line_carries_its_citations_and_only_those() -> None:
    edit = CoreEdit("add", "human", new="- Has a cat. [2020-01-01:1]", cites=("2026-11-30:2",))
    assert edited("- Has a dog.", edit) == "- Has a dog.\n- Has a cat. [2026-11-30:2]"
    assert edited("", CoreEdit("add", "human", new="- A.")) == "- A."


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (
            CoreEdit("replace", "human", old="- Has a dog.", new="- Has a cat."),
            VALUE.replace("dog", "cat"),
        ),
        (CoreEdit("replace", "human", old="- Has a dog."), f"{HOME}\n- Likes tea."),
        (CoreEdit("replace", "human", old="- Likes tea."), f"{HOME}\n- Has a dog."),
        (CoreEdit("replace", "human", old=HOME), "- Has a dog.\n- Likes tea."),
        (CoreEdit("replace", "human", old="tea", new="coffee"), VALUE.replace("tea", "coffee")),
    ],
    ids=["one line", "remove the middle", "remove the last", "remove the first", "a word"],
)
def test_a_replacement_touches_its_text_alone(edit: CoreEdit, after: str) -> None:
    assert edited(VALUE, edit) == after


def test_an_archived_line_leaves_one_pointer() -> None:
    value = applied(VALUE, CoreEdit("archive", "human", old="- Has a dog."))
    assert value == f"{HOME}\n- Likes tea.\n{POINTER}"
    assert applied(value, CoreEdit("archive", "human", old=HOME)) == f"- Likes tea.\n{POINTER}"


def test_accepted_edits_are_written_as_the_persons(workspace: Workspace) -> None:
    core, archival = workspace.core, workspace.archival
    core.write("human", VALUE, base="", by="person")
    edits = [
        CoreEdit("archive", "human", old="- Has a dog."),
        CoreEdit("replace", "human", old="- Likes tea.", new="- Likes coffee."),
    ]
    note = "archival/notes/about-human.md"
    assert accept(core, archival, edits) == [note, "core/human.md"]
    assert core.block("human").value == f"{HOME}\n- Likes coffee.\n{POINTER}"
    assert workspace.tree.read_text(note).endswith("---\n- Has a dog.\n")
    with pytest.raises(ToolError, match="has this line already"):
        accept(core, archival, [CoreEdit("add", "human", new="- Likes coffee.")])


def test_of_edits_that_do_not_all_fit_none_is_written(workspace: Workspace) -> None:
    edits = [
        CoreEdit("add", "human", new="- Has a cat."),
        CoreEdit("replace", "human", old="- Gone.", new="- New."),
    ]
    for _ in range(2):
        with pytest.raises(ToolError, match="does not stand"):
            accept(workspace.core, workspace.archival, edits)
    assert workspace.core.block("human").value == ""


@pytest.mark.parametrize("old", ["", "nowhere", "a"])
def test_text_that_does_not_stand_once_is_refused_with_the_block(old: str) -> None:
    with pytest.raises(ToolError, match=r"Has a dog"):
        edited(VALUE, CoreEdit("replace", "human", old=old, new="x"))


@pytest.mark.parametrize(
    "shape",
    [
        None,
        [],
        {"op": "delete", "block": "human"},
        {"op": "add", "block": "human", "new": 5},
        {"op": "add", "block": " ", "new": "x"},
        {"op": "add", "block": "human", "new": "x", "cites": [5]},
        {"op": "add", "block": "human", "new": "x", "cites": {"a": 1}},
    ],
)
def test_a_malformed_edit_is_named(shape: object) -> None:
    with pytest.raises(BadArguments):
        CoreEdit.from_dict(shape)


def test_citations_are_taken_with_and_without_brackets() -> None:
    shape = {"op": "add", "block": "human", "new": "x", "cites": "[2026-11-29:1, 2026-11-29:2]"}
    assert CoreEdit.from_dict(shape).cites == ("2026-11-29:1", "2026-11-29:2")
    assert CoreEdit.from_dict(CoreEdit.from_dict(shape).as_dict()) == CoreEdit.from_dict(shape)


def test_a_proposal_is_kept_found_and_dropped(workspace: Workspace) -> None:
    edit = CoreEdit("add", "human", new="- Owes me 5.", cites=("2026-11-29:1",))
    kept = workspace.review.keep(
        "agent", [edit], ["a document said so"], sources=["archival/a.md:1"]
    )
    assert workspace.review.keep("agent", [edit], ["again"]) == kept
    assert workspace.review.all() == [kept]
    assert workspace.review.get(kept.id[:6]) == kept
    workspace.review.drop(kept.id)
    assert workspace.review.all() == []
    with pytest.raises(WorkspaceError, match="waiting are: none"):
        workspace.review.get(kept.id)


def test_a_damaged_proposal_is_named_and_hides_no_other(workspace: Workspace) -> None:
    kept = workspace.review.keep("sleep", [CoreEdit("add", "human", new="x")], ["near the limit"])
    folder = workspace.tree.derived / "review"
    (folder / "0000-dead.json").write_text("{", encoding="utf-8")
    (folder / "0000-beef.json").write_text(json.dumps({"by": "me"}), encoding="utf-8")
    bad: list[CorruptFile] = []
    assert workspace.review.all(bad) == [kept]
    assert sorted(err.path for err in bad) == [
        ".fsagent/review/0000-beef.json",
        ".fsagent/review/0000-dead.json",
    ]


def test_a_proposal_of_two_megabytes_can_be_read_again(workspace: Workspace) -> None:
    kept = workspace.review.keep(
        "agent", [CoreEdit("add", "human", new="word " * 400_000)], ["big"]
    )
    assert workspace.review.get(kept.id) == kept
