"""`fsagent bench`: run the harness and show its reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsagent.bench.datasets.read import AUTO, FORMATS
from fsagent.bench.judges import JUDGE_NAMES
from fsagent.bench.systems.registry import SYSTEM_NAMES
from fsagent.cli.common import complain, model_options, note, safe, say, say_json, settings_outside
from fsagent.errors import ConfigError
from fsagent.workspace.locate import check_outside

if TYPE_CHECKING:
    from fsagent.bench.progress import Progress
    from fsagent.bench.summary import Summary

PATH = click.Path(path_type=Path)


@click.group()
def bench() -> None:
    """Measure how much the agent remembers."""


@bench.command()
@click.option("--data", type=PATH, default=Path("locomo10.json"), show_default=True)
@click.option(
    "--format",
    type=click.Choice((AUTO, *FORMATS)),
    default=AUTO,
    show_default=True,
    help="What the data is in; auto looks at it.",
)
@click.option("--system", type=click.Choice(SYSTEM_NAMES), default="agent", show_default=True)
@click.option("--sample", "samples", multiple=True, metavar="ID", help="Only this conversation.")
@click.option("--categories", metavar="LIST", help="Only these, e.g. 1,2,3,4.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first questions.")
@click.option(
    "--draw", type=click.IntRange(min=1), metavar="N", help="N questions by a fixed seed."
)
@click.option("--smoke", is_flag=True, help="A few questions of each category, to see it work.")
@click.option("--out", type=PATH, metavar="DIR", help="The run directory (default: bench-out/...).")
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--retrieval-only", is_flag=True, help="Measure retrieval; no model answers.")
@click.option(
    "--answer-prompt",
    type=click.Choice(["short", "explained", "official-prompt"]),
    default="short",
    show_default=True,
    help="official-prompt: as LoCoMo's own evaluation, the category selects the prompt.",
)
@click.option(
    "--budget",
    "budget_tokens",
    type=click.IntRange(min=1),
    default=1500,
    show_default=True,
    help="Tokens of context that a retrieval system shows the answerer.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option(
    "--runs", type=click.IntRange(min=1), default=1, help="Run so many times, end to end."
)
@click.option("--cache", type=PATH, metavar="DIR", help="Keep the model's replies there.")
@click.option(
    "--evaluate-only", is_flag=True, help="Score the run in --out anew; only --judge asks."
)
@click.option("--judge", "judges", multiple=True, type=click.Choice(JUDGE_NAMES))
@click.option("--judge-model", metavar="NAME", help="The judges' model (default: --model).")
@click.option("--calibration", type=click.IntRange(min=0), default=30, metavar="N")
@click.option("--errata", type=PATH, metavar="FILE", help="Known faults of the answer key.")
@click.option("--prices", type=PATH, metavar="FILE", help="Prices that come before the table.")
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print summary.json.")
def locomo(
    *,
    out: Path | None,
    categories: str | None,
    samples: tuple[str, ...],
    as_json: bool,
    model: str | None,
    judge_model: str | None,
    base_url: str | None,
    profile: str | None,
    runs: int,
    **options: Any,
) -> int:
    """Run one system over LoCoMo's questions or others.

    The data is LoCoMo's file, LongMemEval's, a chat or a folder of chats of REALTALK, or a folder of
    conversations of your own with a questions.yaml.
    """
    from fsagent.bench import epochs
    from fsagent.bench.options import BenchOptions
    from fsagent.bench.report import markdown
    from fsagent.bench.runner import run_benchmark

    for flag in ("resume", "evaluate_only"):
        if options[flag] and out is None:
            raise click.UsageError(
                f"--{flag.replace('_', '-')} needs a run to go on with: name it with --out DIR"
            )
    settings = settings_outside(
        model=model, base_url=base_url, profile=profile, judge_model=judge_model
    )
    if model is None and base_url is not None and settings.model == "offline":
        raise click.UsageError("--base-url needs the name of a model there: add --model NAME")
    out = out or _default_out(options["system"], settings.model)
    check_outside(out)
    chosen = BenchOptions(
        out=out,
        samples=samples,
        categories=_categories(categories),
        settings=settings,
        **options,
    )
    try:
        with _progress() as on_progress:
            summaries = (
                [run_benchmark(chosen, on_progress=on_progress)]
                if runs == 1
                else epochs.run_epochs(chosen, runs, on_progress=on_progress)
            )
    except KeyboardInterrupt:
        note(f"stopped; what was answered is kept. Go on with: --out {chosen.out} --resume")
        raise
    if as_json:
        contents = [dict(summary.content) for summary in summaries]
        say_json(contents[0] if runs == 1 else contents)
    else:
        say(markdown(summaries))
        if runs > 1:
            say(epochs.markdown(summaries))
    note(f"run directory: {chosen.out}")
    complete = all(summary.complete for summary in summaries)
    if not complete:
        complain(_incomplete(summaries))
    return 0 if complete else 2


@bench.command()
@click.argument("runs", type=PATH, nargs=-1, required=True)
@click.option("--html", type=PATH, metavar="FILE", help="Write the report as one HTML file.")
@click.option("--manifest", type=PATH, metavar="FILE", help="Write the runs' manifests as JSON.")
@click.option("--errata", type=PATH, metavar="FILE", help="Known faults of the answer key.")
@click.option("--json", "as_json", is_flag=True, help="Print the summaries.")
def report(
    runs: tuple[Path, ...],
    html: Path | None,
    manifest: Path | None,
    errata: Path | None,
    as_json: bool,
) -> None:
    """Show the tables of runs.

    A RUN is a run directory, or a folder that holds some.
    """
    from fsagent.bench import report as reports
    from fsagent.bench.errata import load_errata

    found = reports.run_dirs(runs)
    known = load_errata(errata) if errata else None
    contents = [reports.read_summary(run, errata=known) for run in found]
    if html is not None:
        from fsagent.bench.report_html import page_of

        _write(html, page_of(found, errata=known))
    if manifest is not None:
        import json

        from fsagent.bench.manifest import published

        shape = published(found, [summary.content for summary in contents])
        _write(manifest, json.dumps(shape, ensure_ascii=False, indent=1) + "\n")
    if as_json:
        say_json([dict(summary.content) for summary in contents])
    else:
        say(reports.markdown(contents))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as err:
        raise ConfigError(f"cannot write {path}: {err.strerror}") from err
    note(f"report: {path}")


def _incomplete(summaries: Sequence[Summary]) -> str:
    """Return which questions are without an answer or a verdict, and what to do."""
    from fsagent.bench.progress import named

    contents = [summary.content for summary in summaries]
    failed = [row for content in contents for row in content["failed"]]
    words = []
    if failed:
        words.append(f"{len(failed)} questions ended in an error ({named(failed)})")
    if missing := sum(content["missing"] for content in contents):
        words.append(f"{missing} questions were not asked")
    if unjudged := sum(content.get("judge_errors", 0) for content in contents):
        words.append(f"{unjudged} answers have no verdict")
    return f"the run is incomplete: {'; '.join(words)}. The same command with --resume asks again"


def _default_out(system: str, model: str) -> Path:
    from datetime import datetime

    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    name = "".join(ch if ch.isalnum() or ch in "._-" else "-" for ch in f"{system}-{model}")
    return Path("bench-out") / f"{stamp}-{name}"


def _categories(text: str | None) -> tuple[int, ...]:
    if not text:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part in {"1", "2", "3", "4", "5"} for part in parts):
        raise click.BadParameter(
            "write numbers from 1 to 5, e.g. 1,2,3,4", param_hint="--categories"
        )
    return tuple(sorted({int(part) for part in parts}))


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Name questions as they fail; on a terminal show a bar with time left, tokens and dollars."""
    if not sys.stderr.isatty():
        yield lambda progress: _name_failure(progress, note)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def on_progress(progress: Progress) -> None:
            # A task a stage: the speed of the questions says nothing of that of the verdicts.
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task("", total=None)
            _name_failure(
                progress,
                lambda text: bar.console.print(safe(text), markup=False, highlight=False),
            )
            bar.update(
                tasks[progress.stage],
                total=progress.total,
                completed=progress.done,
                description=progress_words(progress),
            )

        yield on_progress


def progress_words(progress: Progress) -> str:
    """Return what stands beside the bar: the stage, tokens, dollars, errors."""
    usage, usd = progress.usage, progress.usd
    tokens = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
    words = f"{progress.stage}, {tokens:,} tokens, "
    words += "price unknown" if usd is None else f"${usd:.4f}"
    return words + (f", {progress.errors} errors" if progress.errors else "")


def _name_failure(progress: Progress, tell: Callable[[str], object]) -> None:
    row = progress.row
    if row is not None and row["error"] is not None:
        tell(f"{row['sample_id']} #{row['qa_index']} failed: {' '.join(row['error'].split())}")


@bench.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Compare two runs over the same questions, pair by pair."""
    from fsagent.bench import compare as comparing

    differences = comparing.compare(first, second)
    if as_json:
        say_json([difference.as_dict() for difference in differences])
    else:
        apart = comparing.different(first, second)
        say(comparing.markdown(differences, str(first), str(second), apart=apart))


@bench.command()
@click.argument("run", type=PATH)
@click.option("--examples", type=click.IntRange(min=0), default=3, show_default=True, metavar="N")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def diagnose(run: Path, examples: int, as_json: bool) -> None:
    """Show where a run's losses are, with examples."""
    from fsagent.bench import diagnose as diagnosing

    found = diagnosing.diagnose(run)
    if as_json:
        say_json({"right": found.judged_by, "outcomes": found.counts()})
    else:
        say(diagnosing.markdown(found, examples=examples))


@bench.command()
@click.argument("name", type=click.Choice(["locomo"]), default="locomo")
@click.option("--out", type=PATH, default=Path("locomo10.json"), show_default=True, metavar="FILE")
def fetch(name: str, out: Path) -> None:
    """Download LoCoMo's file (CC BY-NC 4.0) and check its sum."""
    from fsagent.bench.fetch import LICENCE, fetch_locomo

    note(LICENCE)
    check_outside(out)
    say(str(fetch_locomo(out)))
