"""Facts: lines with their citations, and when two of them say the same."""

from __future__ import annotations

import pytest

from fsagent.memory.facts import covers, facts_of, near_duplicates

VALUE = """# About

- Lives in Porto. [2026-11-29:14]
- Sister is Maria, a nurse. [2026-11-29:3, archival/notes/family.md:2]

2. Plain [not a citation] line
"""


def test_facts_are_the_lines_that_say_something_with_their_citations() -> None:
    facts = facts_of(VALUE)
    assert [(fact.line, fact.words) for fact in facts] == [
        (3, "Lives in Porto."),
        (4, "Sister is Maria, a nurse."),
        (6, "Plain [not a citation] line"),
    ]
    assert facts[0].citations == (("recall/2026/2026-11-29.jsonl", 14),)
    assert facts[1].citations == (
        ("recall/2026/2026-11-29.jsonl", 3),
        ("archival/notes/family.md", 2),
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Lives in Porto.", "lives in Porto"),
        ("Likes hiking in the mountains", "Likes hikes in mountains"),
        ("Is alergic to peanuts", "Is allergic to peanuts"),
        ("Birthday: 4 May", "Birthday is May 4th"),
        ("Prefers tea over coffee in the morning", "Prefers tea over coffee, mornings"),
        ("Has two cats", "Has 2 cats"),
        ("Likes running", "likes to run"),
        ("Likes the cafe\u0301 at the corner", "Likes the café at the corner"),
        ("住在北京。", "住在北京"),
        ("東京に住んでいる。", "東京に住んでいます"),
        ("Rent is 1,200 euros", "Rent is 1200 euros"),
    ],
)
def test_the_same_fact_in_nearly_the_same_words_is_a_near_duplicate(a: str, b: str) -> None:
    assert near_duplicates(a, b)
    assert near_duplicates(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Lives in Porto", "Lives in Lisbon"),
        ("Lives in Porto", "Works in Porto"),
        ("Has 2 cats", "Has 3 cats"),
        ("Eats meat", "Does not eat meat"),
        ("Likes green tea", "Likes green peas"),
        (
            "Her sister Anna works at the hospital in Porto",
            "Her sister Anna works at the hospital in Lisbon",
        ),
        ("Likes tea", "Likes tea, coffee, cocoa and juice"),
        ("Lives with Martin", "Lives with Martina"),
        ("Sister Alexandra is a nurse", "Sister Alexander is a nurse"),
        ("Prefers tea over coffee", "Prefers coffee over tea"),
        ("Prefers tea over coffee", "Prefers coffee to tea"),
        ("Moved from Porto to Lisbon", "Moved from Lisbon to Porto"),
        ("Has two cats", "Has three cats"),
        ("吃肉", "不吃肉"),
        ("住在北京", "住在上海"),
        ("Isst Fleisch", "Isst kein Fleisch"),
        ("", ""),
    ],
)
def test_another_value_is_another_fact(a: str, b: str) -> None:
    assert not near_duplicates(a, b)
    assert not near_duplicates(b, a)


def test_a_line_covers_one_that_says_less_but_not_one_that_says_more() -> None:
    assert covers(
        "Anna lives in Porto since 2026-11-28", "Lives in Porto", speakers=frozenset({"anna"})
    )
    assert not covers("Lives in Porto", "Lives in Porto since 2026-11-28")
    assert not covers("Lives in Porto", "No longer lives in Porto")
    assert not covers("Lives in Porto", "the")
