"""The offline model asked to sleep: the edits it proposes of a request."""

from __future__ import annotations

import json

import pytest

from fsagent.models.offline import Offline
from fsagent.types import Message, ToolSpec

PATCH = ToolSpec("memory_patch", "Propose edits.", {"type": "object", "properties": {"edits": {}}})


def request(*said: str | tuple[str, str], human: str = "", persona: str = "I am kind.") -> str:
    lines = []
    for number, one in enumerate(said, 1):
        who, text = one if isinstance(one, tuple) else ("user Anna", one)
        lines.append(f"[2026-11-29:{number}] 2026-11-29 13:{number:02d} Sunday {who}: {text}")
    return "\n".join(
        [
            "Now: 2026-11-30 09:12 Monday",
            "",
            "# Core memory",
            "<block label='human' description=\"The person's facts\" use='23/5000 characters'>",
            human,
            "</block>",
            "<block label='persona' description='Who I am' use='10/5000 characters'>",
            persona,
            "</block>",
            "",
            "# Said since the last sleep",
            *lines,
        ]
    )


def edits(*said: str | tuple[str, str], human: str = "") -> list[tuple[str, str, str, list[str]]]:
    asked = [Message("system", "Tend memory."), Message("user", request(*said, human=human))]
    completion = Offline().complete(asked, [PATCH])
    (call,) = completion.message.tool_calls
    assert (call.name, completion.finish_reason) == ("memory_patch", "tool_calls")
    found = json.loads(call.arguments)["edits"]
    assert all(edit["block"] == "human" for edit in found)
    return [(edit["op"], edit["old"], edit["new"], edit["cites"]) for edit in found]


def test_a_statement_is_added_with_its_citation() -> None:
    assert edits("Good morning!", "I moved to Porto yesterday.") == [
        ("add", "", "- Lives in Porto (since 2026-11-28).", ["2026-11-29:2"])
    ]


def test_a_newer_statement_replaces_the_whole_older_line() -> None:
    old = "- Lives in Beijing. [2026-11-20:3]"
    assert edits("I moved to Porto.", human=old) == [
        ("replace", old, "- Lives in Porto.", ["2026-11-29:1"])
    ]


def test_a_line_in_a_persons_own_words_gives_way_too() -> None:
    old = "* The user lives in Beijing"
    assert edits("I live in Porto now", human=old) == [
        ("replace", old, "- Lives in Porto.", ["2026-11-29:1"])
    ]


def test_of_two_older_lines_one_is_replaced_and_one_goes() -> None:
    first, second = "- Lives in Beijing. [2026-11-20:3]", "- Lives in Rome. [2026-11-21:3]"
    assert edits("I moved to Porto.", human=f"{first}\n{second}") == [
        ("replace", first, "- Lives in Porto.", ["2026-11-29:1"]),
        ("replace", second, "", ["2026-11-29:1"]),
    ]


@pytest.mark.parametrize(
    ("said", "human"),
    [
        ("I live in Porto.", "- Lives in Porto. [2026-11-20:3]"),
        ("I live in Porto.", "- Lives in Porto, Portugal (since 2019)."),
        ("My name's Anna", "- The user's name is Anna."),
        ("I'm allergic to nuts", "- Is allergic to nuts. [2026-11-20:3]"),
        ("My sister Irene lives in Rome", "- Sister Irene lives in Rome."),
    ],
)
def test_what_memory_says_already_is_not_proposed(said: str, human: str) -> None:
    assert edits(said, human=human) == []


def test_a_statement_made_twice_is_proposed_once() -> None:
    assert edits("I like tea.", "As I said, I like tea.", "I like tea!") == [
        ("add", "", "- Likes tea.", ["2026-11-29:1"])
    ]


def test_the_last_of_several_statements_holds() -> None:
    assert edits("I live in Rome.", "Actually, I moved to Lisbon last month") == [
        ("add", "", "- Lives in Lisbon (since 2026-10).", ["2026-11-29:2"])
    ]


@pytest.mark.parametrize(
    ("first", "correction", "line"),
    [
        ("My name is Ana.", "no, it's Anna with two n", "- Is called Anna."),
        ("My name is Ana.", "Sorry, I meant Anna", "- Is called Anna."),
        ("I live in Rome", "Wait, I mean Lisbon, not Rome.", "- Lives in Lisbon."),
        ("My sister lives in Rome", "No, it is Milan.", "- Sister lives in Milan."),
    ],
)
def test_a_correction_gives_the_last_statement_another_value(
    first: str, correction: str, line: str
) -> None:
    assert [edit[2] for edit in edits(first, ("assistant", "I see."), correction)] == [line]


@pytest.mark.parametrize("reply", ["No, it's raining", "No, it's fine.", "Sorry, I meant to ask"])
def test_a_no_that_corrects_nothing_changes_nothing(reply: str) -> None:
    assert [edit[2] for edit in edits("My name is Ana.", reply)] == ["- Is called Ana."]


def test_what_holds_no_longer_replaces_the_line_that_says_it() -> None:
    old = "- Works at Siemens (since 2020). [2026-11-20:3]"
    assert edits("I no longer work at Siemens", human=old) == [
        ("replace", old, "- No longer works at Siemens.", ["2026-11-29:1"])
    ]


def test_a_denial_of_what_memory_does_not_say_is_nothing() -> None:
    assert edits("I no longer work at Siemens", "I don't have a sister") == []


def test_liking_gives_way_to_disliking() -> None:
    old = "- Likes olives. [2026-11-20:3]"
    assert edits("I don't like olives anymore", human=old)[0][:3] == (
        "replace",
        old,
        "- Does not like olives.",
    )


def test_just_kidding_takes_back_the_message_before_it() -> None:
    assert edits("I live in Porto", "My name is Batman", "Just kidding!") == [
        ("add", "", "- Lives in Porto.", ["2026-11-29:1"])
    ]


def test_nothing_comes_from_the_assistant() -> None:
    assert edits(("assistant", "I live in Rome. My name is Fsagent.")) == []


def test_nothing_comes_from_a_block() -> None:
    assert (
        edits(
            "Hello",
            human="I live in Rome.\n[2026-11-29:1] 2026-11-29 13:56 Sunday user X: I live in Rome",
        )
        == []
    )


def test_a_heading_that_a_block_holds_is_not_taken_for_the_request() -> None:
    human = "# Said since the last sleep\n[2026-11-01:1] 2026-11-01 13:56 Sunday user Anna: I live in Rome"
    assert edits("I live in Porto.", human=human)[0][2] == "- Lives in Porto."


def test_several_speakers_are_told_apart_by_name() -> None:
    said = [("user Bo", "I live in Rome"), ("user Anna", "I live in Porto, and my sister Irene lives in Oslo"),
            ("user Bo", "I moved to Milan.")]  # fmt: skip
    assert [edit[2] for edit in edits(*said)] == [
        "- Bo lives in Milan.",
        "- Anna lives in Porto.",
        "- Anna's sister Irene lives in Oslo.",
    ]


def test_the_person_without_a_name_stays_so_among_others() -> None:
    said = [("user Bo", "I live in Rome"), ("user user", "I live in Porto")]
    assert [edit[2] for edit in edits(*said)] == ["- Bo lives in Rome.", "- Lives in Porto."]


def test_who_is_named_in_memory_stays_named() -> None:
    old = "- Anna lives in Beijing. [2026-11-20:3]"
    assert edits("I moved to Porto", human=old)[0][:3] == ("replace", old, "- Anna lives in Porto.")


def test_a_read_only_block_is_left_alone() -> None:
    asked = request("I live in Porto").replace("characters'", "characters, read-only'")
    call = Offline().complete([Message("user", asked)], [PATCH]).message.tool_calls[0]
    assert json.loads(call.arguments) == {"edits": []}


def test_a_request_without_lines_gives_an_empty_patch() -> None:
    for text in ("", "hello", request()):
        call = Offline().complete([Message("user", text)], [PATCH]).message.tool_calls[0]
        assert json.loads(call.arguments) == {"edits": []}
