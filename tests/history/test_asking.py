"""Asking the history: log, blame, why, as of a date."""

from __future__ import annotations

from datetime import timedelta

import pytest
from history_kit import START, Clock, Turns, git

from fsagent import Workspace
from fsagent.errors import HistoryError
from fsagent.memory.history.blame import blame
from fsagent.memory.history.log import diff_text, one_commit, read_log, resolve
from fsagent.memory.history.messages import trailers_of
from fsagent.memory.history.why import removals, why

DAY = "2026-11-30"


def test_a_message_says_what_changed_and_why(turns: Turns) -> None:
    turns.play(
        "I have a dog called Biscuit",
        lambda: turns.workspace.core.append("human", f"- Has a dog called Biscuit. [{DAY}:1]"),
    )
    repository = turns.workspace.history.repository
    commit = one_commit(repository.git, "HEAD")
    assert commit.message.split("\n") == [
        'human: add "Has a dog called Biscuit."',
        "",
        "  because user: I have a dog called Biscuit",
        "",
        "  core/human.md",
        f"+ - Has a dog called Biscuit. [{DAY}:1]",
        "",
        "Turn: t-0001",
        "Tool: core_memory_append",
        "Model: scripted",
        "Cost: 12 tokens",
        f"Source: recall/2026/{DAY}.jsonl:1",
        "Memory-By: agent",
    ]


def test_memory_cannot_forge_a_trailer(turns: Turns) -> None:
    forged = "x\n\nTurn: t-9999\nMemory-By: person"
    turns.play(forged, lambda: turns.workspace.core.append("human", forged))
    message = git(turns.workspace.root, "log", "-1", "--format=%B")
    assert trailers_of(message)["Turn"] == "t-0001"
    assert trailers_of(message)["Memory-By"] == "agent"


@pytest.mark.parametrize(
    ("old", "new", "subject"),
    [
        (
            "- Lives in Berlin.",
            "- Lives in Beijing.",
            'human: change "Lives in Berlin." to "Lives in Beijing."',
        ),
        ("- Lives in Berlin.", "", 'human: remove "Lives in Berlin."'),
        ("- Lives in Berlin.", "- A.\n- B.", "human +2 -1"),
    ],
    ids=["change", "remove", "counts"],
)
def test_a_subject_comes_from_the_real_diff(turns: Turns, old: str, new: str, subject: str) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", old))
    turns.play("b", lambda: core.replace("human", old, new))
    assert git(turns.workspace.root, "log", "-1", "--format=%s") == subject


def test_a_turn_that_changes_nothing_makes_no_commit(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    before = git(turns.workspace.root, "rev-parse", "HEAD")
    turns.play("Hello")
    assert git(turns.workspace.root, "rev-parse", "HEAD") == before


def test_the_log_filters_by_block_author_tool_turn_and_time(turns: Turns, clock: Clock) -> None:
    workspace = turns.workspace
    turns.play("a", lambda: workspace.core.append("human", "- A."))
    turns.play("b", lambda: workspace.core.append("persona", "- B."))
    clock.forward(days=1)
    (workspace.root / "archival" / "mine.md").write_text("mine\n")
    workspace.history.look()
    repository = workspace.history.repository

    def subjects(**filters: object) -> list[str]:
        found = read_log(repository.git, "HEAD", **filters)  # type: ignore[arg-type]
        return [commit.subject for commit in found]

    assert subjects(paths=["core/persona.md"])[0] == 'persona: add "B."'
    assert subjects(by="outside") == ["document mine: new"]
    assert subjects(tool="core_memory_append") == ['persona: add "B."', 'human: add "A."']
    assert subjects(turn="t-0001") == ['human: add "A."']
    assert subjects(since=START + timedelta(hours=12)) == ["document mine: new"]
    assert len(subjects(limit=2)) == 2


def test_blame_tells_date_turn_and_words_of_each_line(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("I live in Berlin", lambda: core.append("human", "- Lives in Berlin."))
    turns.play("I have a dog", lambda: core.append("human", f"- Has a dog. [{DAY}:3]"))
    core.append("human", "- Not committed.")
    history = turns.workspace.history
    lines = blame(history.repository, "core/human.md", now=history.now())[-3:]
    assert [line.commit.turn if line.commit else None for line in lines] == [
        "t-0001",
        "t-0002",
        None,
    ]
    assert [line.words[0].text[17:] if line.words else "" for line in lines] == [
        "user: I live in Berlin",
        "user: I have a dog",
        "",
    ]
    assert git(turns.workspace.root, "status", "--porcelain", "--", "core") == " M core/human.md"


def test_why_follows_the_citation(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("I have a dog", lambda: core.append("human", f"- Has a dog. [{DAY}:1]"))
    history = turns.workspace.history
    (reason,) = why(history.repository, "has a DOG", now=history.now())
    assert (reason.path, reason.line) == ("core/human.md", 6)
    assert reason.commit is not None
    assert reason.commit.turn == "t-0001"
    assert [words.text for words in reason.cited] == [f"{DAY} 09:01 user: I have a dog"]


def test_why_of_an_uncited_fact_has_no_citation_but_the_turns_words(turns: Turns) -> None:
    turns.play("I have a dog", lambda: turns.workspace.core.append("human", "- Has a dog."))
    history = turns.workspace.history
    (reason,) = why(history.repository, "has a dog", now=history.now())
    assert reason.cited == ()
    assert reason.turn_words is not None
    assert reason.turn_words.text.endswith("I have a dog")


def test_a_citation_of_a_line_that_is_not_there_says_so(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A. [2020-01-01:5]"))
    history = turns.workspace.history
    (reason,) = why(history.repository, "- A.", now=history.now())
    assert [words.found for words in reason.cited] == [False]


def test_why_of_a_fact_that_is_gone_names_its_commits(turns: Turns) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- Likes tea (green)."))
    turns.play("b", lambda: core.replace("human", "- Likes tea (green).", ""))
    history = turns.workspace.history
    assert why(history.repository, "Likes tea (green)", now=history.now()) == []
    gone = removals(history.repository, "likes tea (green)", now=history.now())
    assert [commit.turn for commit in gone] == ["t-0002", "t-0001"]


def test_a_revision_is_a_commit_a_turn_or_a_day(turns: Turns, clock: Clock) -> None:
    core = turns.workspace.core
    turns.play("a", lambda: core.append("human", "- A."))
    first = git(turns.workspace.root, "rev-parse", "HEAD")
    clock.forward(days=1)
    turns.play("b", lambda: core.append("human", "- B."))
    gits = turns.workspace.history.repository.git
    for name in ("t-0001", first[:8], "HEAD~1", "yesterday", DAY):
        assert resolve(gits, name, now=clock()) == first, name
    for name in ("nonsense words", "--output=x", "t-9"):
        with pytest.raises(HistoryError):
            resolve(gits, name, now=clock())


def test_a_diff_of_now_sees_what_is_not_committed(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    turns.workspace.core.append("human", "- Not committed.")
    repository = turns.workspace.history.repository
    text = diff_text(repository.git, repository.tip(), repository.snapshot() or "")
    assert "+- Not committed." in text
    assert "recall" not in text


def test_memory_as_of_a_date_is_what_stood_then(turns: Turns, clock: Clock) -> None:
    workspace = turns.workspace
    turns.play("I live in Berlin", lambda: workspace.core.append("human", "- Lives in Berlin."))
    then = clock()
    clock.forward(days=3)
    turns.play("I moved", lambda: workspace.core.replace("human", "Berlin", "Beijing"))
    before = git(workspace.root, "rev-parse", "HEAD")
    with workspace.history.as_of(then) as (folder, commit):
        assert commit == git(workspace.root, "rev-parse", "HEAD~1")
        with Workspace.open(folder, clock=lambda: then) as past:
            assert past.core.block("human").value == "- Lives in Berlin."
            words = [record.content for _, _, record in past.recall.tail(10)]
            assert words == ["I live in Berlin", "Noted."]
            past.core.append("human", "- Never kept.")
    assert not folder.exists()
    assert git(workspace.root, "rev-parse", "HEAD") == before
    assert "Never kept" not in workspace.core.block("human").value


def test_memory_before_the_first_commit_is_the_log_alone(turns: Turns) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    with turns.workspace.history.as_of(START - timedelta(days=9)) as (folder, commit):
        assert commit is None
        assert [path.name for path in folder.iterdir()] == ["fsagent.yaml"]
