"""Sentence vectors beside the index: what they find, when they are made, what survives."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from fsagent.config import Settings
from fsagent.errors import ModelError
from fsagent.memory.workspace import Workspace
from fsagent.search import minilm
from fsagent.search.index import rebuild, remove_index
from fsagent.search.ranked import MAX_ENCODED_TAIL, Search
from fsagent.search.vectors import META, ROWS

CONCEPTS = {"cat": 0, "kitten": 0, "sea": 1, "ocean": 1, "harbour": 1, "bread": 2, "loaf": 2}


class Concepts:
    """An encoder with one dimension a concept: words of one concept are alike."""

    def __init__(self, name: str = "concepts") -> None:
        self.name = name
        self.texts: list[str] = []

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        rows = np.full((len(texts), 4), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").replace("?", " ").split():
                row[CONCEPTS.get(word, 3)] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Broken:
    """An encoder whose endpoint is down."""

    name = "broken"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        raise ModelError("nobody answers at http://127.0.0.1:9/v1")


@pytest.fixture
def talk(memory: Workspace, say: Callable[..., None]) -> Workspace:
    say("2026-11-01", "Ann: A kitten sleeps here.", "Ben: So be it.", session="one")
    say("2026-11-02", "Ann: The ocean was rough.", "Ben: I baked a loaf.", session="two")
    return memory


def searching(memory: Workspace, encoder: object) -> Search:
    return Search(memory.tree, memory.settings, memory.clock, encoder=encoder)  # type: ignore[arg-type]


def texts_of(memory: Workspace, query: str, encoder: object) -> list[str]:
    page = searching(memory, encoder).search(query)
    return [hit.text.rpartition(": ")[2] for hit in page.hits if hit.path.startswith("recall")]


def test_a_line_without_a_word_of_the_query_is_found_by_its_sense(talk: Workspace) -> None:
    assert texts_of(talk, "harbour", Concepts())[0] == "The ocean was rough."
    assert not searching(talk, None).search("harbour").hits


def test_names_of_speakers_are_not_encoded(talk: Workspace) -> None:
    encoder = Concepts()
    searching(talk, encoder).search("Does Ann's cat know Ben?")
    assert not any("Ann" in text or "Ben" in text for text in encoder.texts)
    assert any("cat know" in text for text in encoder.texts)


def test_each_line_is_encoded_once_and_kept_for_the_next_process(talk: Workspace) -> None:
    searching(talk, Concepts()).catch_up()
    again = Concepts()
    assert texts_of(talk, "harbour", again)[0] == "The ocean was rough."
    assert again.texts == ["harbour"]


def test_only_new_lines_are_encoded(talk: Workspace, say: Callable[..., None]) -> None:
    finder = searching(talk, encoder := Concepts())
    finder.catch_up()
    encoder.texts.clear()
    say("2026-11-03", "Ann: A cat at the sea.")
    assert finder.search("kitten").hits[0].text
    finder.catch_up()
    assert encoder.texts.count("A cat at the sea.") == 2, "once as a line that waits, once for good"
    assert "The ocean was rough." not in encoder.texts


def test_many_waiting_lines_are_indexed_before_they_are_encoded(
    talk: Workspace, say: Callable[..., None]
) -> None:
    say("2026-11-04", *(f"Ann: line {n} of the sea" for n in range(MAX_ENCODED_TAIL + 1)))
    searching(talk, Concepts()).search("harbour")
    again = Concepts()
    searching(talk, again).search("harbour")
    assert again.texts == ["harbour"]


def test_another_encoder_starts_anew(talk: Workspace) -> None:
    searching(talk, Concepts()).catch_up()
    other = Concepts("others")
    searching(talk, other).catch_up()
    assert "A kitten sleeps here." in other.texts


def folder_of(memory: Workspace) -> Path:
    name = json.loads((memory.tree.derived / "index.json").read_bytes())["folder"]
    return memory.tree.derived / str(name)


@pytest.mark.parametrize("damage", [META, ROWS, "vectors.scales"])
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_damaged_vectors_are_made_anew(talk: Workspace, damage: str, how: str) -> None:
    searching(talk, Concepts()).catch_up()
    path = folder_of(talk) / damage
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    assert texts_of(talk, "harbour", encoder := Concepts())[0] == "The ocean was rough."
    assert "The ocean was rough." in encoder.texts


def test_they_are_rebuilt_and_removed_with_the_index(talk: Workspace) -> None:
    searching(talk, Concepts()).catch_up()
    rebuild(talk.tree, "en")
    assert not (folder_of(talk) / ROWS).exists()
    searching(talk, Concepts()).catch_up()
    assert (folder_of(talk) / ROWS).exists()
    remove_index(talk.tree)
    assert not list(talk.tree.derived.glob("index*"))


def test_explain_adds_up_with_vectors(talk: Workspace) -> None:
    hit = searching(talk, Concepts()).search("cat rough", explain=True).hits[0]
    assert hit.features is not None and "vectors" in hit.features
    assert sum(hit.features.values()) == pytest.approx(hit.score, abs=1e-5)


def test_filters_hold_for_what_vectors_find(talk: Workspace) -> None:
    page = searching(talk, Concepts()).search("harbour", speaker="Ben")
    assert {hit.speaker for hit in page.hits} == {"Ben"}


def test_an_encoder_that_fails_leaves_the_ranking_without_it_and_says_so(talk: Workspace) -> None:
    page = searching(talk, Broken()).search("kitten")
    assert "kitten" in page.hits[0].text
    assert any(note.startswith("ranked without vectors") for note in page.notes)


def test_vectors_that_cannot_be_written_are_named_without_the_hosts_path(talk: Workspace) -> None:
    finder = searching(talk, Concepts())
    finder.catch_up()
    folder = folder_of(talk)
    for name in (META, ROWS):
        (folder / name).unlink()
    (folder / ROWS).mkdir()
    page = finder.search("kitten")
    assert "kitten" in page.hits[0].text
    (note,) = page.notes
    assert note.startswith("ranked without vectors") and str(talk.root) not in note


def test_closing_after_an_encoder_failed_is_quiet(
    talk: Workspace, say: Callable[..., None]
) -> None:
    say("2026-11-04", *(f"Ann: line {n} of the sea" for n in range(80)))
    searching(talk, Broken()).close()
    assert searching(talk, None).search("line 79").hits


def test_the_extra_missing_says_nothing_in_the_reply(
    talk: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    if minilm.is_installed():
        pytest.skip("the extra is installed")
    with caplog.at_level(logging.DEBUG):
        finder = Search(talk.tree, Settings(embeddings="minilm"), talk.clock)
    plain = searching(talk, None).search("kitten rough")
    assert finder.search("kitten rough") == plain
    assert "not installed" in caplog.text


@pytest.mark.skipif(not minilm.is_installed(), reason="the extra `vectors` is not installed")
def test_minilm_finds_a_paraphrase(talk: Workspace) -> None:
    finder = Search(talk.tree, Settings(embeddings="minilm"), talk.clock)
    page = finder.search("baking bread")
    assert any("loaf" in hit.text for hit in page.hits[:2])
