"""What the offline model takes for a fact about a person, and what it leaves alone."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from fsagent.attributes import contradict, read_fact
from fsagent.memory.support import Source, unsupported_part
from fsagent.models.offline.statements import statements

SAID = datetime(2026, 11, 29, 13, 56)
ROWS = [
    line.partition(" =>")
    for line in Path(__file__).with_name("statements.txt").read_text("utf-8").splitlines()
    if " =>" in line
]
TABLE = [(said, [f for f in facts.strip().split(" | ") if f]) for said, _, facts in ROWS]


def facts(said: str) -> list[str]:
    return [found.line() for _, found in statements(said, SAID) if found is not None]


@pytest.mark.parametrize(("said", "expected"), TABLE, ids=[row[0][:50] for row in TABLE])
def test_a_statement_becomes_its_facts(said: str, expected: list[str]) -> None:
    assert facts(said) == expected


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert sum(bool(kept) for _, kept in TABLE) >= 80
    assert sum(not kept for _, kept in TABLE) >= 120


@pytest.mark.parametrize("said", [said for said, kept in TABLE if kept])
def test_what_was_said_supports_the_fact(said: str) -> None:
    source = Source("Anna", said, SAID.date())
    assert [unsupported_part(fact, [source]) for fact in facts(said)] == [None] * len(facts(said))


@pytest.mark.parametrize("said", [said for said, kept in TABLE if kept])
def test_the_facts_of_one_statement_do_not_contradict_each_other(said: str) -> None:
    read = [fact for line in facts(said) if (fact := read_fact(line)) is not None]
    assert not any(contradict(one, other) for one in read for other in read)


def test_a_relative_date_counts_from_the_day_of_speaking() -> None:
    later = datetime(2027, 3, 1, 9, 0)
    said = [fact.line() for _, fact in statements("I moved to Porto yesterday.", later) if fact]
    assert said == ["Lives in Porto (since 2027-02-28)."]


def test_a_bare_weekday_of_an_appointment_is_the_next_one() -> None:
    assert facts("I have a dentist appointment on Monday") == [
        "Has a dentist appointment on 2026-11-30."
    ]


def test_an_appointment_that_is_over_is_not_kept() -> None:
    assert facts("I have a dentist appointment on 3 November 2026") == []


def test_a_long_message_is_taken_for_pasted_text() -> None:
    assert facts("My name is Anna. " + "Lorem ipsum dolor. " * 100) == []
    assert facts(" ⏎ ".join(["My name is Anna."] * 13)) == []
