"""Damaged lines of recall are told of at every start, and read again only where something changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import Run

from fsagent.memory.damage import STATE, damaged_lines
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace


@pytest.fixture
def day(workspace: Workspace) -> Path:
    """Return the day file of three lines."""
    for text in ("one", "two", "three"):
        workspace.recall.append(Draft("user", "user", text))
    return workspace.root / workspace.recall.days()[0]


def spoil(day: Path, number: int) -> None:
    lines = day.read_bytes().split(b"\n")
    lines[number - 1] = lines[number - 1].replace(b'"user"', b'"uses"')
    day.write_bytes(b"\n".join(lines))


def places(workspace: Workspace) -> list[int]:
    return [one.line for one in damaged_lines(workspace.tree)]


def test_a_damaged_line_is_found_and_stays_known(workspace: Workspace, day: Path) -> None:
    assert places(workspace) == []
    spoil(day, 2)
    assert places(workspace) == [2]
    assert places(workspace) == [2]
    workspace.recall.append(Draft("user", "user", "four"))
    assert places(workspace) == [2]


def test_damage_and_growth_at_once_are_both_seen(workspace: Workspace, day: Path) -> None:
    assert places(workspace) == []
    spoil(day, 1)
    workspace.recall.append(Draft("user", "user", "four"))
    spoil(day, 4)
    assert places(workspace) == [1, 4]


def test_a_line_that_was_mended_is_forgotten(workspace: Workspace, day: Path) -> None:
    good = day.read_bytes()
    spoil(day, 2)
    assert places(workspace) == [2]
    day.write_bytes(good)
    assert places(workspace) == []


def test_a_torn_last_line_is_no_damage(workspace: Workspace, day: Path) -> None:
    with day.open("ab") as file:
        file.write(b'{"crc":"')
    assert places(workspace) == []


def test_a_day_whose_size_and_time_stand_is_not_read_again(workspace: Workspace, day: Path) -> None:
    assert places(workspace) == []
    before = day.stat()
    spoil(day, 2)
    os.utime(day, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert places(workspace) == [], "it was read, so each start reads all of recall"
    (workspace.tree.derived / STATE).unlink()
    assert places(workspace) == [2]


@pytest.mark.parametrize("state", [b"", b"[]", b"{", b'{"version":1,"files":{"x":{}}}', b"\xff"])
def test_a_state_that_cannot_be_read_costs_a_look(
    workspace: Workspace, day: Path, state: bytes
) -> None:
    spoil(day, 2)
    assert places(workspace) == [2]
    (workspace.tree.derived / STATE).write_bytes(state)
    assert places(workspace) == [2]


def test_search_ask_and_chat_say_it(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    for text in ("My cat is Tom.", "My dog is Rex."):
        fsagent("ask", "-w", "memory", text)
    (day,) = (tmp_path / "memory").glob("recall/*/*.jsonl")
    spoil(day, 2)
    words = f"recall/{day.parent.name}/{day.name}:2 is damaged"
    for arguments in (["search", "dog"], ["ask", "Who is Rex?"], ["chat"]):
        done = fsagent(arguments[0], "-w", "memory", *arguments[1:], stdin="")
        assert words in done.stderr, arguments
        assert words not in done.stdout
    assert "Tom" not in fsagent("search", "-w", "memory", "Tom").stdout
