"""Run a system over a data set: resumable, a checkpoint a question, honest about what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.datasets.schema import Dataset, Question
from fsagent.bench.errata import Erratum, load_errata
from fsagent.bench.executors import outcomes
from fsagent.bench.judges import Verdict
from fsagent.bench.judging import JUDGEMENTS, judge_run
from fsagent.bench.manifest import commit, make_manifest
from fsagent.bench.options import BenchOptions, config_sha256, configuration, select
from fsagent.bench.progress import OnProgress, Progress, Watch, cost_of
from fsagent.bench.report import markdown
from fsagent.bench.report_html import page
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.bench.summary import Summary, summarize
from fsagent.bench.worker import make_model
from fsagent.errors import ConfigError
from fsagent.models.prices import PriceList, load_prices
from fsagent.types import Usage


def run_benchmark(options: BenchOptions, *, on_progress: OnProgress | None = None) -> Summary:
    """Answer every question of the run and return its figures.

    Raises `ConfigError` for a data file of another shape, a run directory in use or a resume with
    another configuration; `RunStopped` where going on would measure a fault. After that, and after
    Ctrl-C or a kill, `resume` goes on where the run stood.
    """
    prices = PriceList() if options.prices is None else load_prices(options.prices)
    report_to = on_progress or (lambda progress: None)
    run = RunDirectory.open(options.out) if options.evaluate_only else None
    if run is None:
        dataset = read_dataset(options.data, options.format)
        questions = select(dataset, options)
        run = _open_run(options, dataset, questions)
    try:
        with run.locked(), _no_trace_of_a_false_start(run):
            if not options.evaluate_only:
                _answer_rest(run, options, questions, report_to, prices)
            return _evaluate(run, options, report_to, prices)
    finally:
        run.close()


@contextmanager
def _no_trace_of_a_false_start(run: RunDirectory) -> Iterator[None]:
    """Forget a run that a wrong option ended before its first question: nothing is there to resume."""
    try:
        yield
    except ConfigError:
        if not run.predictions():
            (run.root / "run.json").unlink(missing_ok=True)
        raise


def _evaluate(
    run: RunDirectory, options: BenchOptions, on_progress: OnProgress, prices: PriceList
) -> Summary:
    errata = None if options.errata is None else load_errata(options.errata)
    if options.judges:
        name = options.settings.judge_model or options.settings.model
        judge_run(
            run,
            options.judges,
            make_model(name, options),
            calibration=options.calibration,
            errata=errata,
            workers=options.workers,
            on_verdict=_verdicts_to(on_progress, name, prices),
        )
    return finish(run, errata=errata, prices=prices)


def _verdicts_to(
    on_progress: OnProgress, model: str, prices: PriceList
) -> Callable[[Verdict, int], None]:
    """Return what turns verdicts as they come into progress."""
    usage, done, errors = Usage(), 0, 0

    def on_verdict(verdict: Verdict, total: int) -> None:
        nonlocal usage, done, errors
        usage, done, errors = usage + verdict.usage, done + 1, errors + (verdict.label is None)
        usd = cost_of(usage, model, prices)
        on_progress(Progress(done, total, errors, usage, usd, stage="verdicts"))

    return on_verdict


def finish(
    run: RunDirectory,
    *,
    errata: Mapping[Key, Erratum] | None = None,
    prices: PriceList | None = None,
) -> Summary:
    """Score a run's predictions anew; write its summary and its report."""
    rows = run.predictions()
    run.settle("predictions.jsonl", [rows[key] for key in _in_order(run, rows)])
    summary = score(run, errata=errata, prices=prices)
    run.write_json("summary.json", summary.content)
    run.write_text("report.md", markdown([summary]))
    run.write_text("report.html", page([run.root], [summary.content], errata=errata))
    return summary


def score(
    run: RunDirectory,
    *,
    errata: Mapping[Key, Erratum] | None = None,
    prices: PriceList | None = None,
) -> Summary:
    """Return the figures of a run's predictions; write nothing."""
    rows = run.predictions()
    return summarize(
        run.read_json("run.json"),
        [rows[key] for key in _in_order(run, rows)],
        judgements=run.rows(JUDGEMENTS),
        ingested=run.rows("ingest.jsonl"),
        errata=errata,
        prices=prices or PriceList(),
    )


def _open_run(
    options: BenchOptions, dataset: Dataset, questions: Sequence[Question]
) -> RunDirectory:
    config = configuration(options, dataset)
    if options.resume and (options.out / "run.json").exists():
        run = RunDirectory.open(options.out)
        _check_same(run, config)
        for name in ("predictions.jsonl", "ingest.jsonl"):
            run.mend(name)
        _note_resume(run)
        return run
    run = RunDirectory.create(options.out)
    run.write_json("run.json", make_manifest(options, dataset, questions, config))
    return run


def _note_resume(run: RunDirectory) -> None:
    """Note in the manifest that the rest comes from another commit, where it does."""
    manifest = run.read_json("run.json")
    resumed = manifest.get("resumed", [])
    if commit() != (resumed[-1] if resumed else manifest)["commit"]:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        run.write_json(
            "run.json",
            {**manifest, "resumed": [*resumed, {"started": when, "commit": commit()}]},
        )


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


def _answer_rest(
    run: RunDirectory,
    options: BenchOptions,
    questions: Sequence[Question],
    on_progress: OnProgress,
    prices: PriceList,
) -> None:
    rows = run.predictions()
    # A question that ended in an error is asked again: an outage is neither right nor wrong.
    done = {key: row for key, row in rows.items() if row["error"] is None}
    watch = Watch(
        len(questions),
        list(done.values()),
        model=options.settings.model if options.asks_model else None,
        prices=prices,
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


def _in_order(run: RunDirectory, rows: Mapping[Key, Row]) -> list[Key]:
    samples: list[str] = run.read_json("run.json")["dataset"]["samples"]
    place = {sample_id: i for i, sample_id in enumerate(samples)}
    return sorted(rows, key=lambda key: (place.get(key[0], len(place)), key[1]))
