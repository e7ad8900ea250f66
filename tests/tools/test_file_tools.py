"""The file tools' texts: what a model reads, and what it can do next."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from fsagent.errors import PathRejected, ToolError
from fsagent.tools.data_text import CLOSING, OPENING
from fsagent.types import ToolCall

DAY = "recall/2026/2026-11-28.jsonl"


def run(box: Any, name: str, **arguments: Any) -> str:
    return box.call(ToolCall("c", name, json.dumps(arguments)))


def test_grep_prints_path_line_and_text_newest_day_first(files) -> None:
    assert files.grep("adopt(ed|ion)") == (
        f"{DAY}:2: 2026-11-28 13:56 Caroline: I adopted a puppy called Rex.\n"
        "recall/2026/2026-11-27.jsonl:1: 2026-11-27 13:56 Caroline: "
        "I went to an adoption agency today.\n"
        "\n"
        "(2 hits)"
    )


def test_grep_pages_with_the_literal_next_call(files) -> None:
    text = files.grep("e", limit=1)
    assert text.count("\n") == 2
    call = text.rsplit("next page: ", 1)[1].rstrip(")") + ")"
    assert call == 'grep(pattern="e", limit=1, offset=1)'
    assert files.grep("e", limit=1, offset=1) != text


def test_grep_shows_lines_around_a_hit(files) -> None:
    text = files.grep("Rex", path=DAY, context=1)
    assert text.splitlines()[:2] == [
        f"{DAY}-1- 2026-11-28 13:56 Melanie: My kids painted a sunset.",
        f"{DAY}:2: 2026-11-28 13:56 Caroline: I adopted a puppy called Rex.",
    ]


def test_nothing_found_gives_advice(files) -> None:
    text = files.grep("kickboxing")
    assert text.startswith('No hits for "kickboxing". Try ignore_case=true')
    text = files.search_files("kickboxing")
    assert text.startswith('No hits for "kickboxing". Try other words')
    assert "(no line holds: kickbox" in text


def test_grep_refuses_look_around_with_a_sentence(box) -> None:
    assert "(?=" in run(box, "grep", pattern="a(?=b)")


def test_what_grep_prints_open_opens(files) -> None:
    for line in files.grep("a|e").splitlines():
        if not line or line.startswith("("):
            continue
        reference, _, text = line.partition(": ")
        opened = files.open(reference)
        number = reference.rpartition(":")[2]
        assert f"\n{number}: {text}" in opened


def test_search_ranks_and_names_its_next_page(files) -> None:
    text = files.search_files("puppy Rex", limit=1)
    hit, empty, sentence = text.splitlines()[:3]
    assert "puppy" in hit
    assert empty == ""
    assert re.fullmatch(
        r"\(1 of \d hits; next page: "
        r'search_files\(query="puppy Rex", limit=1, offset=1\)\)',
        sentence,
    )


def test_search_filters_by_speaker_and_day(files) -> None:
    text = files.search_files("puppy", speaker="Caroline")
    assert "Caroline" in text
    assert "How is" not in text
    text = files.search_files("puppy Rex", since="2026-11-29")
    assert "How is the puppy" in text
    assert "adopted" not in text
    assert "adopted" in files.search_files("puppy Rex", until="last saturday")


def test_a_day_means_its_whole_day(files) -> None:
    assert "adopted" in files.search_files("puppy", since="2026-11-28", until="2026-11-28")
    assert "adopted" in files.search_files("puppy", until="2026-11-28T13:56")
    assert "adopted" not in files.search_files("puppy", until="2026-11-28T13:55")


def test_a_date_that_is_none_is_refused(box) -> None:
    assert "since 'whenever' is not a date" in run(box, "search_files", query="a", since="whenever")


def test_open_shows_numbers_and_what_follows(workspace, files) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 251))
    path = workspace.archival.import_document("long.md", lines.encode())
    text = files.open(path, 10, 12)
    assert text == (
        f"{path} lines 10-12 of 250\n{OPENING}\n10: line 10\n11: line 11\n12: line 12\n{CLOSING}\n\n"
        f'(more follows; next: open(path="{path}", start=13))'
    )
    assert files.open(path, 240).splitlines()[0] == f"{path} lines 240-250 of 250"
    with pytest.raises(ToolError, match="has 250 lines; there is no line 300"):
        files.open(path, 300)
    with pytest.raises(ToolError, match="before start"):
        files.open(path, 20, 10)


def test_open_takes_a_hit_a_citation_or_a_day(files) -> None:
    shown = f"{DAY} lines 1-2 of 2"
    for reference in (f"{DAY}:2", "2026-11-28:2", "2026-11-28"):
        assert files.open(reference).splitlines()[0] == shown


def test_a_newline_in_a_message_keeps_the_numbering(files) -> None:
    text = files.open("2026-11-29")
    assert text.splitlines()[1:] == [
        "1: 2026-11-29 13:56 Melanie: How is the puppy? ⏎ Does Rex sleep?"
    ]


def test_open_clips_a_window_to_its_share_and_a_line_to_its_bytes(workspace, scope, files) -> None:
    path = workspace.archival.import_document("wide.txt", ("w" * 5_000 + "\n").encode() * 50)
    text = files.open(path)
    assert "[clipped: 5000 characters; grep shows the rest]" in text
    assert scope.windows.tokens < scope.windows.one_window_tokens * 1.2
    assert "(more follows; next: open(" in text


def test_close_says_what_it_freed(scope, files) -> None:
    files.open("2026-11-28")
    tokens = scope.windows.tokens
    assert files.close("2026-11-28:2") == f"Closed {DAY}; {tokens} tokens freed."
    with pytest.raises(ToolError, match="is not open; open are: no files"):
        files.close(DAY)


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "core", "none.md", ".git/config"])
def test_bad_paths_are_results_without_the_hosts_paths(box, workspace, path) -> None:
    for tool in ("open", "grep", "search_files", "list_files"):
        extra = {"pattern": "a"} if tool == "grep" else {"query": "a"} if "search" in tool else {}
        text = run(box, tool, path=path, **extra)
        assert str(workspace.root) not in text


def test_a_file_that_is_not_text_is_not_opened(workspace, files) -> None:
    (workspace.root / "archival" / "photo.jpg").write_bytes(b"\xff\xd8\xff\0\0")
    with pytest.raises(PathRejected, match="not a text file"):
        files.open("archival/photo.jpg")


def test_list_files_shows_sizes_dates_and_descriptions(files) -> None:
    text = files.list_files()
    assert "core/" in text.splitlines()
    assert "What the agent knows about the person it talks to." in text
    assert "    2026-11-28.jsonl  " in text
    assert ".fsagent" not in text
    many = files.list_files("archival/notes")
    assert many == "archival/notes is empty."


def test_list_files_caps_a_large_folder(workspace, files) -> None:
    for number in range(40):
        workspace.archival.import_document(f"doc {number:02}.md", b"x\n")
    assert re.search(r"\(1\d more in archival\)", files.list_files("archival"))


def test_a_large_result_keeps_to_its_size_and_says_so(workspace, scope, files) -> None:
    scope.context_tokens = 4_096
    data = "".join(f"dog {number} {'x' * 200}\n" for number in range(100))
    workspace.archival.import_document("dogs.md", data.encode())
    text = files.grep("dog", limit=50)
    assert len(text) < scope.result_bytes + 300
    shown = sum(line.startswith("archival/") for line in text.splitlines())
    assert f"offset={shown})" in text
