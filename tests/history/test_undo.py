"""Undo takes back one turn's writes and nothing else; rollback is one new commit."""

from __future__ import annotations

import pytest
from history_kit import Turns, git
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsagent.memory.history.log import read_log, resolve
from fsagent.memory.history.undo import (
    LaterEdits,
    preview,
    reverse_file,
    rollback_plan,
    undo_plan,
)


def undo(turns: Turns, turn: str) -> str | None:
    history = turns.workspace.history
    commits = read_log(history.repository.git, "HEAD", turn=turn)
    plans = undo_plan(history.repository, commits)
    return history.apply(plans, lead=f"undo {turn}", undoes=turn)


def human(turns: Turns) -> list[str]:
    return turns.workspace.core.block("human").value.split("\n")


def test_a_line_between_later_ones_goes_alone(turns: Turns) -> None:
    core = turns.workspace.core
    for letter in "ABC":
        turns.play(letter, lambda letter=letter: core.append("human", f"- {letter}."))
    undo(turns, "t-0002")
    assert human(turns) == ["- A.", "- C."]
    assert git(turns.workspace.root, "log", "-1", "--format=%s|%an") == (
        'undo t-0002: human: remove "B."|Ann'
    )
    assert "Undoes: t-0002" in git(turns.workspace.root, "log", "-1", "--format=%B")


def test_a_changed_line_comes_back_as_it_was(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- Lives in Berlin."))
    turns.play("b", lambda: core.replace("human", "Berlin", "Beijing"))
    turns.play("c", lambda: core.append("human", "- Has a dog."))
    undo(turns, "t-0002")
    assert human(turns) == ["- Lives in Berlin.", "- Has a dog."]


def test_a_deleted_line_comes_back_where_it_stood(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- A.\n- B.\n- C."))
    turns.play("b", lambda: core.replace("human", "- B.", ""))
    turns.play("c", lambda: core.append("human", "- D."))
    undo(turns, "t-0002")
    assert human(turns) == ["- A.", "- B.", "- C.", "- D."]


def test_later_edits_that_depend_on_it_refuse_by_name(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- Lives in Berlin."))
    turns.play("b", lambda: core.replace("human", "Berlin", "Beijing"))
    with pytest.raises(LaterEdits, match="t-0002") as refused:
        undo(turns, "t-0001")
    assert refused.value.path == "core/human.md"
    assert refused.value.by is not None
    assert human(turns) == ["- Lives in Beijing."]


def test_a_note_goes_and_stays_where_it_was_edited(turns: Turns) -> None:
    archival = turns.workspace.archival
    turns.play("a", lambda: archival.insert("Trip", "Kyoto"))
    turns.play("b", lambda: archival.insert("Cake", "Flour"))
    (turns.workspace.root / "archival/notes/cake.md").write_text("Sugar\n")
    turns.workspace.history.look()
    undo(turns, "t-0001")
    assert not turns.workspace.tree.exists("archival/notes/trip.md")
    with pytest.raises(LaterEdits):
        undo(turns, "t-0002")


def test_undo_of_an_undo_brings_it_back(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    commit = undo(turns, "t-0001")
    history = turns.workspace.history
    assert commit is not None
    found = read_log(history.repository.git, "HEAD", limit=1)
    history.apply(undo_plan(history.repository, found), lead="undo")
    assert human(turns) == ["- A."]


def test_undo_leaves_the_conversation_alone(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    day = turns.workspace.recall.days()[0]
    before = turns.workspace.tree.read_bytes(day)
    undo(turns, "t-0001")
    assert turns.workspace.tree.read_bytes(day) == before


def test_rollback_is_one_new_commit_and_loses_nothing(turns: Turns) -> None:
    workspace = turns.workspace
    turns.play("a", lambda: workspace.core.append("human", "- A."))
    turns.play("b", lambda: workspace.core.append("human", "- B."))
    turns.play("c", lambda: workspace.archival.insert("Trip", "Kyoto"))
    day = workspace.recall.days()[0]
    log, tip = workspace.tree.read_bytes(day), git(workspace.root, "rev-parse", "HEAD")
    repository = workspace.history.repository
    plans = rollback_plan(repository, resolve(repository.git, "t-0001", now=turns.clock()))
    assert "- B." in preview(plans)
    workspace.history.apply(plans, lead="go back")
    assert human(turns) == ["- A."]
    assert not workspace.tree.exists("archival/notes/trip.md")
    assert git(workspace.root, "rev-parse", "HEAD~1") == tip
    assert workspace.tree.read_bytes(day) == log


_line = st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"])
_text = st.lists(_line, max_size=6).map(b"".join)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=_text, after=_text)
def test_the_reverse_of_the_last_change_is_what_was_before(before: bytes, after: bytes) -> None:
    assert reverse_file(before, after, after) == before
