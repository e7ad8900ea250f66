"""What is learned of endpoints survives, in a file that may be lost or damaged."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fsagent.models.quirks import Quirks, QuirkStore

URL = "http://127.0.0.1:1/v1"


def test_what_one_store_learns_another_reads(tmp_path: Path) -> None:
    path = tmp_path / ".fsagent" / "endpoints.json"
    learned = Quirks(
        tools="json", dropped=("seed",), renamed={"max_tokens": "max_completion_tokens"}
    )
    QuirkStore(path).learn(URL, "a", learned)
    assert QuirkStore(path).get(f"{URL}/", "a") == learned
    assert QuirkStore(path).get(URL, "b") == Quirks()
    assert [one.name for one in path.parent.iterdir()] == ["endpoints.json"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        json.dumps({f"{URL} a": 5}).encode(),
        json.dumps({f"{URL} a": {"tools": "psychic", "dropped": "seed", "stream": 1}}).encode(),
    ],
)
def test_a_damaged_file_is_as_if_nothing_were_known(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "endpoints.json"
    path.write_bytes(damage)
    assert QuirkStore(path).get(URL, "a") == Quirks()
    QuirkStore(path).learn(URL, "a", Quirks(stream=False))
    assert QuirkStore(path).get(URL, "a") == Quirks(stream=False)


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = QuirkStore(tmp_path / "file" / "endpoints.json")
    store.learn(URL, "a", Quirks(stream=False))
    assert store.get(URL, "a") == Quirks(stream=False)


def test_threads_that_learn_together_lose_nothing(tmp_path: Path) -> None:
    store = QuirkStore(tmp_path / "endpoints.json")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: store.learn(URL, str(n), Quirks(stream=False)), range(40)))
    read = json.loads((tmp_path / "endpoints.json").read_text(encoding="utf-8"))
    assert len(read) == 40
