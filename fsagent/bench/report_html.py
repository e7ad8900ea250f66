"""The report as one self-contained HTML file: charts, tables and a browser of the questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from fsagent.bench import charts
from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.datasets.schema import ADVERSARIAL, CATEGORY_NAMES
from fsagent.bench.diagnose import outcome_of
from fsagent.bench.errata import Erratum
from fsagent.bench.ingest import rendered_turns
from fsagent.bench.judging import JUDGEMENTS
from fsagent.bench.metrics.answers import is_refusal
from fsagent.bench.metrics.official import official_f1
from fsagent.bench.report import heading, read_summary, sections
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.errors import FsagentError


def page_of(run_dirs: Sequence[Path], *, errata: Mapping[Key, Erratum] | None = None) -> str:
    """Return the page of several runs, scoring those that have no summary yet.

    With `errata` all are scored anew with the three views of the key.
    """
    summaries = [read_summary(path, errata=errata).content for path in run_dirs]
    return page(run_dirs, summaries, errata=errata)


def page(
    run_dirs: Sequence[Path],
    summaries: Sequence[Mapping[str, Any]],
    *,
    errata: Mapping[Key, Erratum] | None = None,
) -> str:
    """Return the page of several runs with their summaries."""
    runs = [_Run(path, content) for path, content in zip(run_dirs, summaries, strict=True)]
    series = [
        charts.Series(name, run.summary, place)
        for place, (name, run) in enumerate(zip(_names(runs), runs, strict=True))
    ]
    data = {
        "rows": [
            row
            for one, run in zip(series, runs, strict=True)
            for row in _rows(one.name, run, errata or {})
        ],
        "lines": _evidence_lines(runs),
    }
    contents = [run.summary for run in runs]
    return Template(_asset("report.html")).substitute(
        title="Benchmark report",
        style=_asset("report.css"),
        script=_asset("report.js"),
        heading=_paragraphs(heading(contents)),
        legend=charts.legend(series),
        charts="\n".join(_figures(series)),
        tables="\n".join(
            f"<h2>{escape(name)}</h2>\n{_html(table)}" for name, table in sections(contents)
        ),
        # No "</script>" and no "<!--" may stand inside the element.
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    )


class _Run:
    """What the page needs of a run."""

    def __init__(self, path: Path, summary: Mapping[str, Any]) -> None:
        self.summary = summary
        run = RunDirectory.open(path)
        try:
            self.manifest = run.read_json("run.json")
            self.rows = list(run.predictions().values())
            self.judgements = [row for row in run.rows(JUDGEMENTS) if row["subject"] == "answer"]
        finally:
            run.close()
        self.path = path


def _names(runs: Sequence[_Run]) -> list[str]:
    """Return names as short as tells the runs apart: system, model where it differs, folder."""
    one_model = len({run.summary["model"] for run in runs}) == 1 and len(runs) > 1
    names = [
        run.summary["system"]
        if one_model
        else f"{run.summary['system']} / {run.summary['model'] or 'no model'}"
        for run in runs
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({run.path.name})"
        for name, run in zip(names, runs, strict=True)
    ]


def _figures(series: Sequence[charts.Series]) -> Iterator[str]:
    drawn = (
        ("Official F1 by category", charts.score_by_category(series, "answers", "f1")),
        (
            "Recall at 10 turns by category",
            charts.score_by_category(series, "retrieval", "recall@10"),
        ),
        ("Recall against tokens shown, categories 1-4", charts.recall_by_tokens(series)),
        ("F1 against context tokens, categories 1-4", charts.score_by_cost(series)),
        ("Seconds a question: median to p95", charts.latency(series)),
    )
    for title, svg in drawn:
        if svg:
            yield f"<figure><h3>{escape(title)}</h3>{svg}</figure>"


def _rows(name: str, run: _Run, errata: Mapping[Key, Erratum]) -> Iterator[Row]:
    strict = {
        (row["sample_id"], row["qa_index"], row["gold"], row["answer"]): row["label"] == "CORRECT"
        for row in run.judgements
        if row["judge"] == "strict" and row["label"]
    }
    for row in run.rows:
        key = (row["sample_id"], row["qa_index"])
        erratum = errata.get(key)
        yield {
            "run": name,
            "sample": row["sample_id"],
            "index": row["qa_index"],
            "category": CATEGORY_NAMES[row["category"]],
            "question": row["question"],
            "gold": row["gold"],
            "trap": row["trap"],
            "answer": row["answer"],
            "error": row["error"],
            "f1": None
            if row["answer"] is None
            else round(official_f1(row["answer"], row["gold"], row["category"]), 3),
            "outcome": _outcome(row, strict),
            "evidence": row["evidence"],
            "shown": row["evidence_shown"],
            "tokens": row["shown_tokens"],
            "verdicts": _verdicts(row, run.judgements),
            "flag": None
            if erratum is None
            else f"{erratum.error_type}; suggested: {erratum.gold or '-'}",
        }


def _outcome(row: Row, verdicts: Mapping[tuple[str, int, str, str], bool]) -> str:
    if row["error"] is not None:
        return "error"
    if row["answer"] is None:
        return "not answered"
    if row["category"] == ADVERSARIAL:
        return "refused" if is_refusal(row["answer"]) else "answered what has no answer"
    return outcome_of(row, verdicts)


def _verdicts(row: Row, judgements: Sequence[Row]) -> list[dict[str, str | None]]:
    return [
        {"judge": one["judge"], "label": one["label"], "reason": one["reason"] or one["error"]}
        for one in judgements
        if (one["sample_id"], one["qa_index"]) == (row["sample_id"], row["qa_index"])
        and one["answer"] == row["answer"]
        and one["gold"] == row["gold"]
    ]


def _evidence_lines(runs: Sequence[_Run]) -> dict[str, dict[str, str]]:
    """Return the texts of evidence, where the data file is still there and still the same."""
    wanted: dict[str, set[str]] = {}
    for run in runs:
        for row in run.rows:
            wanted.setdefault(row["sample_id"], set()).update(row["evidence"])
    found: dict[str, dict[str, str]] = {}
    for described in {json.dumps(run.manifest["dataset"], sort_keys=True) for run in runs}:
        dataset = json.loads(described)
        try:
            data = read_dataset(Path(dataset["path"]), dataset["name"])
        except FsagentError:
            continue
        if data.sha256 == dataset["sha256"]:
            for sample in data.samples:
                lines = rendered_turns(sample)
                ids = wanted.get(sample.sample_id, set())
                found[sample.sample_id] = {i: lines[i] for i in sorted(ids) if i in lines}
    return found


def _paragraphs(markdown: str) -> str:
    """Return the heading's few forms of Markdown as HTML: a list, bold, a paragraph."""
    items, _, note = markdown.partition("\n\n")
    listed = "".join(f"<li>{_bold(line.removeprefix('- '))}</li>" for line in items.splitlines())
    return f'<ul>{listed}</ul>\n<p class="quiet">{_bold(note)}</p>'


def _bold(text: str) -> str:
    parts = escape(text).split("**")
    return "".join(f"<strong>{part}</strong>" if i % 2 else part for i, part in enumerate(parts))


def _html(table: str) -> str:
    """Return a Markdown table of `report.table` as HTML."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if not line.startswith("|---")
    ]
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[1:]
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _asset(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")
