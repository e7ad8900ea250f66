"""grep, search, open and ls on the command line: one numbering, JSON, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import Run

from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace


@pytest.fixture
def filled(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    with Workspace.open(tmp_path / "memory") as workspace:
        workspace.recall.append(Draft("user", "Ann", "I adopted a kitten.", turn="t", session="s"))
        workspace.archival.import_document("trip.md", b"# Trip\n\nWe sail to Corsica.\n")


@pytest.mark.parametrize("command", ["grep", "search"])
def test_a_hit_has_the_designs_shape(fsagent: Run, filled: None, command: str) -> None:
    page = json.loads(fsagent(command, "kitten", "-w", "memory", "--json").stdout)
    assert set(page) >= {"hits", "total", "clipped_hits", "timed_out", "next"}
    hit = page["hits"][0]
    assert set(hit) >= {"path", "line", "text", "ts", "speaker", "score"}
    assert (hit["line"], hit["speaker"]) == (1, "Ann")


@pytest.mark.parametrize("command", ["grep", "search"])
def test_what_it_prints_open_opens(fsagent: Run, filled: None, command: str) -> None:
    line = fsagent(command, "Corsica", "-w", "memory").stdout.splitlines()[0]
    path, number, text = line.split(":", 2)
    shown = fsagent("open", f"{path}:{number}", "-w", "memory").stdout
    assert f"{number}:{text}" in shown


@pytest.mark.parametrize("command", ["grep", "search"])
def test_nothing_found_is_status_1(fsagent: Run, filled: None, command: str) -> None:
    done = fsagent(command, "zeppelin", "-w", "memory")
    assert (done.returncode, done.stdout) == (1, "")


def test_options_end_at_two_hyphens(fsagent: Run, filled: None) -> None:
    assert fsagent("grep", "-w", "memory", "--", "-kitten").returncode == 1


def test_a_pattern_with_look_around_is_refused_with_advice(fsagent: Run, filled: None) -> None:
    done = fsagent("grep", "(?<=a)b", "-w", "memory")
    assert done.returncode == 2
    assert "look" in done.stderr.lower()


def test_a_search_can_name_a_date_in_words(fsagent: Run, filled: None) -> None:
    assert fsagent("search", "kitten", "--since", "yesterday", "-w", "memory").returncode == 0
    assert fsagent("search", "kitten", "--until", "2020-01-01", "-w", "memory").returncode == 1
    bad = fsagent("search", "kitten", "--since", "blursday", "-w", "memory")
    assert bad.returncode == 2
    assert "2026-11-29" in bad.stderr


def test_ls_shows_the_tree(fsagent: Run, filled: None) -> None:
    done = fsagent("ls", "-w", "memory")
    assert "human.md" in done.stdout and "What the agent knows about the person" in done.stdout
    assert ".fsagent" not in done.stdout


def test_an_empty_query_is_refused(fsagent: Run, filled: None) -> None:
    done = fsagent("search", " ", "-w", "memory")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the query is empty" in done.stderr


@pytest.mark.parametrize("command", ["grep", "search"])
@pytest.mark.parametrize(
    ("option", "value"), [("--limit", "0"), ("--limit", "-3"), ("--offset", "-1"), ("-C", "-1")]
)
def test_a_count_that_could_only_find_nothing_is_refused(
    fsagent: Run, filled: None, command: str, option: str, value: str
) -> None:
    done = fsagent(command, "kitten", option, value, "-w", "memory")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"is {value}; write" in done.stderr


@pytest.mark.parametrize(
    "place", [["archival/trip.md:999"], ["archival/trip.md:0"], ["archival/trip.md", "999"]]
)
def test_a_line_that_is_not_there_is_named_as_it_was_asked_for(
    fsagent: Run, filled: None, place: list[str]
) -> None:
    done = fsagent("open", *place, "-w", "memory")
    asked = place[-1].rpartition(":")[2]
    assert done.returncode == 2
    assert f"there is no line {asked}\n" in done.stderr


def test_ls_shows_a_person_every_name(fsagent: Run, filled: None, tmp_path: Path) -> None:
    for number in range(45):
        (tmp_path / f"memory/archival/paper-{number:02}.md").write_text("text\n")
    shown = fsagent("ls", "-w", "memory").stdout
    assert all(f"paper-{number:02}.md" in shown for number in range(45))


def test_ls_as_json_has_size_day_and_description(fsagent: Run, filled: None) -> None:
    rows = {row["path"]: row for row in json.loads(fsagent("ls", "-w", "memory", "--json").stdout)}
    human = rows["core/human.md"]
    assert human["description"].startswith("What the agent knows about the person")
    assert human["size"] > 0 and len(human["day"]) == 10
    assert rows["core"]["is_dir"] is True
