"""The whole loop without a key: a chat with the offline model, a sleep, facts in core with citations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support import NOW

from fsagent.agent.loop import Agent
from fsagent.agent.sleep.report import SleepReport
from fsagent.agent.sleep.sleep import sleep
from fsagent.config import Settings
from fsagent.memory.facts import facts_of
from fsagent.memory.workspace import Workspace


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Workspace]:
    """Return a workspace whose clock goes on by a minute each time it is looked at."""
    now = [NOW]

    def clock() -> datetime:
        now[0] += timedelta(minutes=1)
        return now[0]

    settings = Settings(timezone="UTC")
    with Workspace.init(tmp_path / "memory", settings=settings, clock=clock) as made:
        yield made


def chat(workspace: Workspace, *messages: str) -> None:
    with Agent(workspace, "offline") as agent:
        for message in messages:
            agent.run(message)


def human(workspace: Workspace) -> list[str]:
    return [fact.words for fact in facts_of(workspace.core.block("human").value)]


def slept(workspace: Workspace) -> SleepReport:
    return sleep(workspace, "offline")


def test_what_a_person_says_of_themselves_is_in_core_with_its_line(living: Workspace) -> None:
    chat(living, "My name is Anna.", "I moved to Porto yesterday.", "Where is the moon?")
    report = slept(living)
    assert (report.stop, report.landed, report.kept) == ("landed", 2, 0)
    facts = facts_of(living.core.block("human").value)
    assert [fact.words for fact in facts] == [
        "Is called Anna.",
        "Lives in Porto (since 2026-11-28).",
    ]
    for fact, word in zip(facts, ("Anna", "Porto"), strict=True):
        ((path, line),) = fact.citations
        record = dict(living.recall.read(path))[line]
        assert record.role == "user"
        assert word in record.content


def test_a_newer_statement_takes_the_place_of_the_older(living: Workspace) -> None:
    chat(living, "I live in Beijing.", "I work as a nurse.", "I hate olives.")
    slept(living)
    chat(living, "Actually, I moved to Lisbon.", "I retired last month.", "I like olives now.")
    report = slept(living)
    assert (report.landed, report.kept) == (3, 0)
    assert human(living) == ["Lives in Lisbon.", "Is retired (since 2026-10).", "Likes olives."]


def test_a_second_sleep_has_nothing_to_change(living: Workspace) -> None:
    chat(living, "I live in Porto.")
    slept(living)
    before = living.core.block("human").value
    chat(living, "I live in Porto.")
    report = slept(living)
    assert (report.stop, report.commits) == ("nothing", ())
    assert living.core.block("human").value == before


def test_what_is_not_meant_leaves_core_empty(living: Workspace) -> None:
    chat(
        living,
        "If I lived in Oslo, I would ski.",
        "Tom said I work at Google.",
        "My name is Batman lol",
        "Translate: I live in Berlin.",
    )
    assert slept(living).stop == "nothing"
    assert human(living) == []


def test_years_that_follow_from_a_duration_pass_the_gate(living: Workspace) -> None:
    chat(living, "I've been married to Bo for nine years.")
    assert slept(living).kept == 0
    assert human(living) == ["Is married to Bo (since 2017)."]
