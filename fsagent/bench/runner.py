"""Run a system over a data set: resumable, a checkpoint a question, honest about what failed."""

from __future__ import annotations

import dataclasses
import math
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.datasets.schema import Dataset, Question
from fsagent.bench.errata import Erratum, load_errata
from fsagent.bench.executors import outcomes
from fsagent.bench.judging import JUDGEMENTS, judge_run
from fsagent.bench.options import BenchOptions, config_sha256, configuration, select
from fsagent.bench.report import markdown
from fsagent.bench.report_html import page
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.bench.summary import Summary, summarize
from fsagent.bench.worker import make_model
from fsagent.errors import ConfigError, FsagentError

EMPTY_SHARE = 0.05
"""With more empty contexts than this the run stops: the store or the search is broken."""

EMPTY_ALLOWED = 3
"""So many empty contexts are no sign yet, however few the questions."""

ERRORS_IN_A_ROW = 8
"""So many failures one after another mean an outage; the run stops and can be resumed."""

_VERSIONS = ("openai", "tantivy", "PyStemmer", "google-re2", "nltk", "numpy")


class RunStopped(FsagentError):
    """The run stopped itself; what was answered is kept and `--resume` goes on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `row` is the newest prediction, None at the start."""

    done: int
    total: int
    errors: int
    prompt_tokens: int
    completion_tokens: int
    row: Row | None = None


OnProgress = Callable[[Progress], None]


def run_benchmark(options: BenchOptions, *, on_progress: OnProgress | None = None) -> Summary:
    """Answer every question of the run and return its figures.

    Raises `ConfigError` for a data file of another shape, a run directory in use or a resume with
    another configuration; `RunStopped` where going on would measure a fault. After that, and after
    Ctrl-C or a kill, `resume` goes on where the run stood.
    """
    run = RunDirectory.open(options.out) if options.evaluate_only else None
    if run is None:
        dataset = read_dataset(options.data, options.format)
        questions = select(dataset, options)
        run = _open_run(options, dataset, questions)
    try:
        with run.locked():
            if not options.evaluate_only:
                _answer_rest(run, options, questions, on_progress or (lambda progress: None))
            return _evaluate(run, options)
    finally:
        run.close()


def run_epochs(
    options: BenchOptions, runs: int, *, on_progress: OnProgress | None = None
) -> list[Summary]:
    """Run the same configuration several times, into `out/run-1`, `out/run-2`, ..."""
    return [
        run_benchmark(
            dataclasses.replace(options, epoch=epoch, out=options.out / f"run-{epoch}"),
            on_progress=on_progress,
        )
        for epoch in range(1, runs + 1)
    ]


def _evaluate(run: RunDirectory, options: BenchOptions) -> Summary:
    errata = None if options.errata is None else load_errata(options.errata)
    if options.judges:
        settings = options.settings
        model = make_model(settings.judge_model or settings.model, options)
        judge_run(
            run,
            options.judges,
            model,
            calibration=options.calibration,
            errata=errata,
            workers=options.workers,
        )
    return finish(run, errata=errata)


def finish(run: RunDirectory, *, errata: Mapping[Key, Erratum] | None = None) -> Summary:
    """Score a run's predictions anew; write its summary and its report."""
    rows = run.predictions()
    ordered = [rows[key] for key in _in_order(run, rows)]
    run.settle("predictions.jsonl", ordered)
    summary = summarize(
        run.read_json("run.json"), ordered, judgements=run.rows(JUDGEMENTS), errata=errata
    )
    run.write_json("summary.json", summary.content)
    run.write_text("report.md", markdown([summary]))
    run.write_text("report.html", page([run.root], errata=errata))
    return summary


def _open_run(
    options: BenchOptions, dataset: Dataset, questions: Sequence[Question]
) -> RunDirectory:
    config = configuration(options, dataset)
    if options.resume and (options.out / "run.json").exists():
        run = RunDirectory.open(options.out)
        _check_same(run, config)
        for name in ("predictions.jsonl", "ingest.jsonl"):
            run.mend(name)
        return run
    run = RunDirectory.create(options.out)
    run.write_json("run.json", _manifest(options, dataset, questions, config))
    return run


def _check_same(run: RunDirectory, config: Mapping[str, Any]) -> None:
    manifest = run.read_json("run.json")
    if manifest["config_sha256"] == config_sha256(dict(config)):
        return
    before = manifest["config"]
    changed = [key for key in config if before.get(key) != config[key]]
    raise ConfigError(
        f"{run.root} was run with another configuration (changed: {', '.join(changed)}); "
        "resume with the same options, or choose another --out"
    )


def _manifest(
    options: BenchOptions,
    dataset: Dataset,
    questions: Sequence[Question],
    config: dict[str, Any],
) -> Row:
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
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: _version(name) for name in _VERSIONS},
    }


def _answer_rest(
    run: RunDirectory,
    options: BenchOptions,
    questions: Sequence[Question],
    on_progress: OnProgress,
) -> None:
    rows = run.predictions()
    # A question that ended in an error is asked again: an outage is neither right nor wrong.
    done = {key: row for key, row in rows.items() if row["error"] is None}
    watch = _Watch(
        len(questions),
        list(done.values()),
        watching=options.system != "no-memory",
        chooses=options.system == "agent",
    )
    on_progress(watch.progress(None))
    rest = [question.key for question in questions if question.key not in done]
    if not rest:
        return
    stream = outcomes(options, rest)
    try:
        for outcome in stream:
            if outcome.ingest is not None:
                run.append("ingest.jsonl", outcome.ingest)
            run.write_trace((outcome.row["sample_id"], outcome.row["qa_index"]), outcome.trace)
            run.append("predictions.jsonl", outcome.row)
            watch.add(outcome.row)
            on_progress(watch.progress(outcome.row))
            watch.check()
    finally:
        stream.close()


class _Watch:
    """Counts what has come in, and stops a run that measures a fault.

    `chooses`: the system looks only where its model asks to, so that an empty context without a
    tool call is the model's doing and no fault.
    """

    def __init__(self, total: int, rows: Sequence[Row], *, watching: bool, chooses: bool) -> None:
        self._total, self._chooses = total, chooses
        self._watching = watching
        self._done = self._errors = self._empty = self._in_a_row = 0
        self._prompt = self._completion = 0
        self._last_error = ""
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        self._done += 1
        failed = row["error"] is not None
        self._last_error = row["error"] or self._last_error
        self._errors += failed
        self._in_a_row = self._in_a_row + 1 if failed else 0
        looked = bool(row["tool_calls"]) or not self._chooses
        self._empty += looked and not failed and not row["shown_tokens"]
        self._prompt += row["usage"]["prompt_tokens"] or 0
        self._completion += row["usage"]["completion_tokens"] or 0

    def progress(self, row: Row | None) -> Progress:
        return Progress(self._done, self._total, self._errors, self._prompt, self._completion, row)

    def check(self) -> None:
        """Raise `RunStopped` for an outage, or for a context that stays empty too often."""
        if self._in_a_row >= ERRORS_IN_A_ROW:
            raise RunStopped(
                f"stopped: {self._in_a_row} questions in a row failed, the last with: {self._last_error}. "
                "What was answered is kept; add --resume when the cause is gone"
            )
        allowed = max(EMPTY_ALLOWED, math.ceil(EMPTY_SHARE * self._total))
        if self._watching and self._empty > allowed:
            raise RunStopped(
                f"stopped: the context was empty for {self._empty} of {self._done} questions; "
                "the figures would measure a broken store or search, not a memory"
            )


def _in_order(run: RunDirectory, rows: Mapping[Key, Row]) -> list[Key]:
    samples: list[str] = run.read_json("run.json")["dataset"]["samples"]
    place = {sample_id: i for i, sample_id in enumerate(samples)}
    return sorted(rows, key=lambda key: (place.get(key[0], len(place)), key[1]))


def _commit() -> str | None:
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
