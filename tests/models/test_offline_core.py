"""The offline model's answers out of core, and which of two statements it believes."""

from __future__ import annotations

import pytest

from fsagent.models.offline import Offline
from fsagent.models.offline.asked import asked
from fsagent.types import Message, ToolSpec

SEARCH = ToolSpec("search_files", "search", {"type": "object", "properties": {"query": {}}})
CORE = """Be brief.

# Core memory

<block label='human' description='Who I talk to' use='200/5000 characters'>
- Is called Anna Costa. [2026-11-29:2]
- Wants to be called Annie. [2026-11-29:2]
- Lives in Porto (since 2026-11-28). [2026-11-29:14]
- Works as a nurse. [2026-11-29:15]
- Is allergic to nuts. [2026-11-29:16]
- Is allergic to milk. [2026-11-29:17]
- Sister Irene lives in Rome. [2026-11-29:18]
- Has a dog called Rex. [2026-11-29:19]
- Birthday is 3 May. [2026-11-29:20]
- Favourite colour is blue. [2026-11-29:21]
- Does not like olives.
- Bo lives in Oslo. [2026-11-29:22]
- No longer works at Siemens. [2026-11-29:23]
</block>
<block label='persona' description='Who I am' use='20/5000 characters'>
Lives in the cloud.
</block>"""


def ask(question: str, *before: Message, system: str = CORE) -> tuple[str, bool]:
    """Return the reply and whether it was given without a search."""
    messages = [Message("system", system), *before, Message("user", question)]
    done = Offline().complete(messages, [SEARCH])
    return done.message.content, not done.message.tool_calls


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do I live?", "Porto [2026-11-29:14]"),
        ("Which city do I live in now?", "Porto [2026-11-29:14]"),
        ("What's my name?", "Anna Costa [2026-11-29:2]"),
        ("Who am I?", "Anna Costa [2026-11-29:2]"),
        ("What should you call me?", "Annie [2026-11-29:2]"),
        ("What do I do for a living?", "a nurse [2026-11-29:15]"),
        ("What am I allergic to?", "nuts, milk [2026-11-29:16] [2026-11-29:17]"),
        ("Where does my sister live?", "Rome [2026-11-29:18]"),
        ("What is my sister's name?", "Irene [2026-11-29:18]"),
        ("What is my dog called?", "Rex [2026-11-29:19]"),
        ("When is my birthday?", "3 May [2026-11-29:20]"),
        ("What is my favorite colour?", "blue [2026-11-29:21]"),
        ("What do I dislike?", "olives"),
        ("Where does Bo live?", "Oslo [2026-11-29:22]"),
        ("Where does Anna live?", "Porto [2026-11-29:14]"),
        ("Who do I work for?", "No longer works at Siemens [2026-11-29:23]"),
    ],
)
def test_an_attribute_in_core_is_answered_at_once(question: str, answer: str) -> None:
    assert ask(question) == (answer, True)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Carla live?",
        "What is my brother's name?",
        "What did I buy?",
        "Where was I born?",
    ],
)
def test_what_core_does_not_hold_is_searched(question: str) -> None:
    assert not ask(question)[1]


def test_the_persona_is_no_fact_about_the_person() -> None:
    bare = CORE.partition("- Is called")[0] + "</block>" + CORE.partition("</block>")[2]
    assert not ask("Where do I live?", system=bare)[1]


def test_a_block_shown_again_is_as_it_was_shown_last() -> None:
    tail = (
        "Core blocks changed since this session began; these hold now:\n"
        "<block label='human' use='20/5000 characters'>\n- Lives in Lisbon. [2026-11-30:4]\n</block>"
    )
    messages = [
        Message("system", CORE),
        Message("user", "Where do I live?"),
        Message("system", tail),
    ]
    assert Offline().complete(messages, [SEARCH]).message.content == "Lisbon [2026-11-30:4]"


def search(question: str, *lines: str, system: str = "Be brief.", before: str = "") -> str:
    """Return the answer where a search finds these lines."""
    said = [Message("user", before), Message("assistant", "Noted.")] if before else []
    messages = [Message("system", system), *said, Message("user", question)]
    done = Offline().complete(messages, [SEARCH])
    assert done.message.tool_calls
    hits = "\n".join(lines)
    messages += [done.message, Message("tool", hits, tool_call_id=done.message.tool_calls[0].id)]
    return Offline().complete(messages, [SEARCH]).message.content


OLD = "recall/2026/2026-03-01.jsonl:7: 2026-03-01 10:00 user: I live in Beijing."
NEW = "recall/2026/2026-11-29.jsonl:3: 2026-11-29 10:00 user: I moved to Porto."
IDLE = "recall/2026/2026-11-30.jsonl:2: 2026-11-30 10:00 user: If I lived in Oslo I would ski."


@pytest.mark.parametrize("lines", [(OLD, NEW, IDLE), (IDLE, NEW, OLD), (NEW, OLD)])
def test_the_newer_of_two_statements_holds_in_whatever_order_they_are_found(
    lines: tuple[str, ...],
) -> None:
    assert search("Where do I live?", *lines) == "Porto [2026-11-29:3]"


def test_what_was_said_since_the_sleep_is_newer_than_core() -> None:
    line = "recall/2026/2026-11-30.jsonl:9: 2026-11-30 10:00 user: Actually, I moved to Lisbon."
    reply = search(
        "Where do I live?", line, NEW, system=CORE, before="Actually, I moved to Lisbon."
    )
    assert reply == "Lisbon [2026-11-30:9]"


def test_core_is_preferred_to_an_older_line_that_a_search_finds() -> None:
    reply = search("Where do I live?", OLD, system=CORE, before="I live in Beijing.")
    assert reply == "Porto [2026-11-29:14]"


def test_a_fact_of_core_found_by_search_is_preferred_and_cites_its_own_line() -> None:
    core = "core/human.md:6: - Plays the violin in the city orchestra. [2026-11-29:30]"
    old = "recall/2026/2026-03-01.jsonl:7: 2026-03-01 10:00 user: The orchestra is loud."
    assert search("What instrument do I play in the orchestra?", old, core).endswith(
        "[2026-11-29:30]"
    )


def test_a_named_speaker_is_asked_about_by_name() -> None:
    caroline = "recall/2023/2023-05-08.jsonl:2: 2023-05-08 10:00 Caroline: I live in Rome."
    melanie = "recall/2023/2023-05-09.jsonl:3: 2023-05-09 10:00 Melanie: I live in Milan."
    assert search("Where does Caroline live?", melanie, caroline) == "Rome [2023-05-08:2]"


@pytest.mark.parametrize(
    "question",
    ["What did Ana buy at the market?", "Where did Oskar study medicine?", "How was I?", ""],
)
def test_other_questions_ask_for_no_attribute(question: str) -> None:
    assert asked(question) is None
