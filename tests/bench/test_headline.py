"""Several runs of one configuration, small selections, and manifests fit to be published."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from support import Run

from fsagent.bench.epochs import markdown, run_epochs, spread
from fsagent.bench.manifest import published
from fsagent.bench.options import BenchOptions
from fsagent.bench.report import read_summary, run_dirs
from fsagent.bench.runner import run_benchmark
from fsagent.bench.summary import Summary
from fsagent.config import Settings
from fsagent.errors import ConfigError


@pytest.fixture
def options(demo_file: Path, tmp_path: Path) -> BenchOptions:
    return BenchOptions(data=demo_file, out=tmp_path / "run", system="bm25")


def keys(out: Path) -> list[tuple[int, int]]:
    text = (out / "predictions.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["category"], row["qa_index"]) for row in rows]


def test_a_headline_is_the_mean_of_whole_runs_with_their_spread(options: BenchOptions) -> None:
    summaries = run_epochs(options, 3)
    written = json.loads((options.out / "headline.json").read_text(encoding="utf-8"))
    assert written == spread(summaries)
    assert (written["runs"], written["complete"]) == (3, True)
    f1 = summaries[0].content["answers"]["1-4"]["f1"]
    assert written["1-4"]["f1"] == {"mean": f1, "low": f1, "high": f1, "sd": 0.0}
    assert {path.name for path in options.out.iterdir()} == {
        "run-1",
        "run-2",
        "run-3",
        "headline.json",
    }
    hashes = {summary.content["config_sha256"] for summary in summaries}
    assert len(hashes) == 3  # an epoch is part of the configuration: none resumes as another


def test_the_spread_is_that_of_the_runs(options: BenchOptions) -> None:
    content = run_benchmark(options).content
    runs = [Summary({**content, "answers": {"1-4": {"n": 13, "f1": f1}}}) for f1 in (0.2, 0.3, 0.4)]
    assert spread(runs)["1-4"]["f1"] == {"mean": 0.3, "low": 0.2, "high": 0.4, "sd": 0.1}
    assert "| 1-4 | f1 | 30.0 | 20.0 to 40.0 | 10.00 |" in markdown(runs)
    assert "a headline wants 3" in markdown(runs[:2])
    assert "a headline wants" not in markdown(runs)


def test_a_smoke_run_asks_two_of_each_category_and_says_so(options: BenchOptions) -> None:
    run_benchmark(dataclasses.replace(options, smoke=True))
    categories = [category for category, _ in keys(options.out)]
    assert {c: categories.count(c) for c in categories} == dict.fromkeys((1, 2, 3, 4, 5), 2)
    assert "a smoke run, no measurement" in (options.out / "report.md").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="smoke"):
        run_benchmark(dataclasses.replace(options, resume=True))


def test_drawn_questions_are_the_same_for_every_system(
    options: BenchOptions, tmp_path: Path
) -> None:
    other = dataclasses.replace(options, system="no-memory", out=tmp_path / "other")
    for one in (options, other):
        run_benchmark(dataclasses.replace(one, draw=7))
    assert keys(options.out) == keys(other.out)
    assert len(keys(options.out)) == 7
    assert keys(options.out) != [(c, i) for c, i in keys(options.out) if i < 7]
    with pytest.raises(ConfigError, match="draw is 0"):
        run_benchmark(dataclasses.replace(options, draw=0, out=tmp_path / "none"))


def test_more_drawn_than_there_are_is_all(options: BenchOptions) -> None:
    run_benchmark(dataclasses.replace(options, draw=99))
    assert len(keys(options.out)) == 16


def test_full_context_shows_the_newest_turns_that_a_set_window_holds(
    options: BenchOptions, tmp_path: Path
) -> None:
    whole = dataclasses.replace(options, system="full-context")
    run_benchmark(whole)
    settings = Settings().with_values("flag", context_tokens=1000)
    cut = dataclasses.replace(whole, out=tmp_path / "cut", settings=settings)
    content = run_benchmark(cut).content
    row = json.loads((cut.out / "predictions.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert 0 < row["shown_tokens"] <= 600
    assert row["shown_turns"] == len(row["retrieved"]) < 76
    assert row["retrieved"][-1].startswith("D6:")
    report = (cut.out / "report.md").read_text(encoding="utf-8")
    assert f"the window held only the newest {row['shown_turns']} turns" in report
    assert content["cost"]["context_tokens"] == row["shown_tokens"]
    before = json.loads((whole.out / "run.json").read_text(encoding="utf-8"))
    after = json.loads((cut.out / "run.json").read_text(encoding="utf-8"))
    assert before["config_sha256"] != after["config_sha256"]
    assert "the window held" not in (whole.out / "report.md").read_text(encoding="utf-8")


def test_a_manifest_says_how_the_run_was_made(options: BenchOptions) -> None:
    run_benchmark(options)
    manifest = json.loads((options.out / "run.json").read_text(encoding="utf-8"))
    assert {"commit", "config", "config_sha256", "dataset", "prompts", "seeds", "versions"} <= set(
        manifest
    )
    assert set(manifest["prompts"]["judges"]) == {"generous", "strict"}
    assert len(manifest["prompts"]["answer"]) == 64
    assert set(manifest["seeds"]) == {"draw", "bootstrap", "calibration", "official-prompt"}


def test_a_resume_from_another_commit_is_noted_and_reported(options: BenchOptions) -> None:
    run_benchmark(options)
    file = options.out / "run.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    assert "resumed" not in manifest
    file.write_text(json.dumps({**manifest, "commit": "0123456789ab"}), encoding="utf-8")
    for _ in range(2):  # the second resume comes from the commit of the first
        run_benchmark(dataclasses.replace(options, resume=True))
    resumed = json.loads(file.read_text(encoding="utf-8"))["resumed"]
    assert [one["commit"] for one in resumed] == [manifest["commit"]]
    assert re.search(r"commit [^;]*0123456789ab", (options.out / "report.md").read_text("utf-8"))


def test_questions_that_stand_twice_are_counted(options: BenchOptions, tmp_path: Path) -> None:
    content = json.loads(options.data.read_text(encoding="utf-8"))
    content[0]["qa"].append(content[0]["qa"][0])
    data = tmp_path / "twice.json"
    data.write_text(json.dumps(content), encoding="utf-8")
    summary = run_benchmark(dataclasses.replace(options, data=data))
    assert summary.content["dataset"]["duplicates"] == 1
    assert "questions that repeat another: 1" in (options.out / "report.md").read_text("utf-8")


def test_a_published_manifest_holds_no_text_and_no_local_path(
    options: BenchOptions, tmp_path: Path
) -> None:
    summary = run_benchmark(options)
    (one,) = published([options.out], [summary.content])
    text = json.dumps(one)
    assert str(tmp_path) not in text
    assert str(options.data.parent) not in text
    assert one["summary"]["answers"]["1-4"]["n"] == 13
    assert len(one["predictions_sha256"]) == 64
    for row in json.loads(options.data.read_text(encoding="utf-8"))[0]["qa"]:
        assert row["question"] not in text


def test_the_report_takes_a_folder_of_runs_and_writes_what_is_published(
    options: BenchOptions, tmp_path: Path, fsagent: Run
) -> None:
    for system in ("bm25", "no-memory"):
        out = tmp_path / "runs" / system
        run_benchmark(dataclasses.replace(options, system=system, out=out))
    record = {
        "sample_id": "demo",
        "qa_index": 3,
        "error_type": "HALLUCINATION",
        "scoring": True,
        "suggested": "Commodore",
    }
    (tmp_path / "errata.json").write_text(json.dumps([record]), encoding="utf-8")
    done = fsagent(
        *("bench", "report", "runs", "--errata", "errata.json"),
        *("--manifest", "manifest.json", "--html", "page.html"),
    )
    assert done.returncode == 0, done.stderr
    assert "Three views of the key" in done.stdout
    assert "| bm25 / offline | clean | 12 |" in done.stdout
    manifests = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert [set(one["summary"]["views"]) for one in manifests] == [
        {"raw", "corrected", "clean"}
    ] * 2
    assert "Three views of the key" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "views" not in read_summary(tmp_path / "runs" / "bm25").content


def test_run_dirs_are_runs_or_folders_of_runs(options: BenchOptions, tmp_path: Path) -> None:
    run_benchmark(dataclasses.replace(options, out=tmp_path / "all" / "one"))
    assert run_dirs([tmp_path / "all"]) == [tmp_path / "all" / "one"]
    assert run_dirs([tmp_path / "all" / "one"]) == [tmp_path / "all" / "one"]
    assert run_dirs([tmp_path / "nothing"]) == [tmp_path / "nothing"]
