"""The memory tools: edits with their use of the limit, notes, the conversation."""

from __future__ import annotations

import json
from typing import Any

from fsagent.types import ToolCall


def run(box: Any, name: str, **arguments: Any) -> str:
    return box.call(ToolCall("c", name, json.dumps(arguments)))


def test_append_and_replace_show_the_block_and_its_use(box) -> None:
    assert run(box, "core_memory_append", label="human", content="- Has a cat.") == (
        "Block human now has 12 of 5000 characters:\n- Has a cat."
    )
    assert run(box, "core_memory_replace", label="human", old="cat", new="dog") == (
        "Block human now has 12 of 5000 characters:\n- Has a dog."
    )


def test_a_replace_needs_exactly_one_match(box, workspace) -> None:
    workspace.core.append("human", "- A dog.\n- A dog.")
    assert "stands 2 times" in run(box, "core_memory_replace", label="human", old="dog", new="cat")
    assert "does not stand in" in run(
        box, "core_memory_replace", label="human", old="bird", new="cat"
    )


def test_a_limit_is_told_with_what_to_do(box) -> None:
    text = run(box, "core_memory_append", label="human", content="x" * 6_000)
    assert "its limit is 5000" in text
    assert "archival_memory_insert" in text


def test_an_unknown_block_names_those_there_are(box) -> None:
    assert "human, persona" in run(box, "core_memory_append", label="pets", content="- x")


def test_a_note_is_a_file_found_at_once_and_by_tag(box) -> None:
    arguments = {"title": "Trip to Lofoten", "content": "The ferry leaves at nine."}
    wrote = run(box, "archival_memory_insert", **arguments, tags='["travel"]')
    assert wrote == "Wrote archival/notes/trip-to-lofoten.md."
    assert "The ferry leaves at nine." in run(box, "archival_memory_search", query="ferry")
    assert "ferry" in run(box, "archival_memory_search", query="ferry leaves", tags=["Travel"])
    none = run(box, "archival_memory_search", query="ferry leaves", tags=["work"])
    assert none.startswith('No hits for "ferry leaves".')


def test_conversation_search_looks_in_recall_alone(box, workspace) -> None:
    workspace.archival.insert("Puppies", "A puppy needs sleep.")
    text = run(box, "conversation_search", query="puppy")
    assert "recall/2026/2026-11-28.jsonl:2: " in text
    assert "archival/" not in text
    text = run(box, "conversation_search", query="puppy", roles=["assistant"])
    assert text.startswith("No hits")


def test_conversation_search_names_its_own_next_page(box) -> None:
    text = run(box, "conversation_search", query="puppy", limit=1)
    assert 'next page: conversation_search(query="puppy", limit=1, offset=1)' in text


def test_descriptions_tell_how_to_search_well(box) -> None:
    described = {spec.name: spec.description for spec in box.specs}
    assert "search several times" in described["search_files"]
    assert "name its instances" in described["search_files"]
    assert "repair(ed|s)|mend" in described["grep"]
    finding = {spec.name for spec in box.specs if spec.finds}
    assert finding == {
        "grep", "search_files", "archival_memory_search", "conversation_search"
    } & described.keys()  # fmt: skip
    assert "search_files" in finding
    for spec in box.specs:
        for name, schema in spec.parameters["properties"].items():
            assert schema.get("description"), f"{spec.name}.{name} has no description"
