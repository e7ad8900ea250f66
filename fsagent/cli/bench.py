"""`fsagent bench`: run the harness and show its reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsagent.bench.datasets.read import FORMATS
from fsagent.bench.judges import JUDGE_NAMES
from fsagent.bench.systems.registry import SYSTEM_NAMES
from fsagent.cli.common import complain, model_options, note, say, say_json, settings_outside

if TYPE_CHECKING:
    from fsagent.bench.runner import Progress

PATH = click.Path(path_type=Path)


@click.group()
def bench() -> None:
    """Measure how much the agent remembers."""


@bench.command()
@click.option("--data", type=PATH, default=Path("locomo10.json"), show_default=True)
@click.option("--format", type=click.Choice(tuple(FORMATS)), default="locomo", show_default=True)
@click.option("--system", type=click.Choice(SYSTEM_NAMES), default="agent", show_default=True)
@click.option("--sample", "samples", multiple=True, metavar="ID", help="Only this conversation.")
@click.option("--categories", metavar="LIST", help="Only these, e.g. 1,2,3,4.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first questions.")
@click.option("--out", type=PATH, metavar="DIR", help="The run directory (default: bench-out/...).")
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--retrieval-only", is_flag=True, help="Measure retrieval; no model answers.")
@click.option("--answer-prompt", type=click.Choice(["short", "explained"]), default="short")
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
@click.option("--runs", type=click.IntRange(min=1), default=1, help="Run several times.")
@click.option("--cache", type=PATH, metavar="DIR", help="Keep the model's replies there.")
@click.option("--evaluate-only", is_flag=True, help="Score the run in --out anew, asking nothing.")
@click.option("--judge", "judges", multiple=True, type=click.Choice(JUDGE_NAMES))
@click.option("--judge-model", metavar="NAME", help="The judges' model (default: --model).")
@click.option("--calibration", type=click.IntRange(min=0), default=30, metavar="N")
@click.option("--errata", type=PATH, metavar="FILE", help="Known faults of the answer key.")
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
    """Run one system over LoCoMo's questions, or over data of another --format."""
    from fsagent.bench.options import BenchOptions
    from fsagent.bench.report import markdown
    from fsagent.bench.runner import run_benchmark, run_epochs

    settings = settings_outside(
        model=model, base_url=base_url, profile=profile, judge_model=judge_model
    )
    chosen = BenchOptions(
        out=out or _default_out(options["system"], settings.model),
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
                else run_epochs(chosen, runs, on_progress=on_progress)
            )
    except KeyboardInterrupt:
        note(f"stopped; what was answered is kept. Go on with: --out {chosen.out} --resume")
        raise
    if as_json:
        contents = [dict(summary.content) for summary in summaries]
        say_json(contents[0] if runs == 1 else contents)
    else:
        say(markdown(summaries))
    note(f"run directory: {chosen.out}")
    complete = all(summary.complete for summary in summaries)
    if not complete:
        complain(
            "the run is incomplete: some questions ended in an error; --resume asks them again"
        )
    return 0 if complete else 2


@bench.command()
@click.argument("runs", type=PATH, nargs=-1, required=True)
@click.option("--html", type=PATH, metavar="FILE", help="Write the report as one HTML file.")
@click.option("--errata", type=PATH, metavar="FILE", help="Flag known faults of the answer key.")
@click.option("--json", "as_json", is_flag=True, help="Print the summaries.")
def report(runs: tuple[Path, ...], html: Path | None, errata: Path | None, as_json: bool) -> None:
    """Show the tables of one or several runs."""
    from fsagent.bench import report as reports

    if html is not None:
        from fsagent.bench.errata import load_errata
        from fsagent.bench.report_html import page_of

        text = page_of(runs, errata=load_errata(errata) if errata else None)
        html.write_text(text, encoding="utf-8", newline="\n")
        note(f"report: {html}")
    if as_json:
        say_json([dict(reports.read_summary(run).content) for run in runs])
    else:
        say(reports.report(runs))


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
def _progress() -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar with time left and tokens on a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def on_progress(progress: Progress) -> None:
            words = f"{progress.prompt_tokens + progress.completion_tokens:,} tokens"
            if progress.errors:
                words += f", {progress.errors} errors"
            bar.update(task, total=progress.total, completed=progress.done, description=words)

        yield on_progress


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
        say(comparing.markdown(differences, str(first), str(second)))


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
    say(str(fetch_locomo(out)))
