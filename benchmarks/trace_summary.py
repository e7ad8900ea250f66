"""Sum up how an agent worked through the questions of a run: calls, steps, failures, time.

    python benchmarks/trace_summary.py RUN [RUN...]

RUN is the folder of `fsagent bench locomo --system agent --out RUN`. Prints a Markdown table, a
column a run; nothing of the data's text is in it.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fsagent.bench.ingest import folder_name
from fsagent.bench.metrics.answers import is_refusal

Row = dict[str, Any]
_NOT_JSON = re.compile(r"\A\w+ was not run: the arguments (are|must be) ")
_REFUSED = re.compile(r"\A(\w+ was not run: |The tool '.*' does not exist)")


def main(arguments: Sequence[str]) -> int:
    """Print the table of the runs that are named."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    columns = [summary(Path(name)) for name in arguments]
    names = list(dict.fromkeys(name for column in columns for name in column))
    print(f"| | {' | '.join(Path(name).name for name in arguments)} |")
    print(f"|{'---|' * (len(arguments) + 1)}")
    for name in names:
        print(f"| {name} | {' | '.join(column.get(name, '-') for column in columns)} |")
    return 0


def summary(run: Path) -> dict[str, str]:
    """Return the figures of one run, as they are printed."""
    manifest = json.loads((run / "run.json").read_text(encoding="utf-8"))
    figures = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    rows = _lines(run / "predictions.jsonl")
    traces = [_trace(run, row) for row in rows]
    calls = [[call for event in trace for call in event.get("tool_calls", ())] for trace in traces]
    steps = [sum(event.get("role") == "assistant" for event in trace) for trace in traces]
    stops = Counter(event["stop"] for trace in traces for event in trace if "stop" in event)
    skipped = Counter(event["kind"] for trace in traces for event in trace if _skipped(event))
    answered = [row for row in rows if row["error"] is None]
    return {
        "date, commit": f"{manifest['started'][:10]}, {manifest['commit'][:7]}",
        "model": manifest["model"],
        "questions (failed)": f"{len(rows)} ({len(rows) - len(answered)})",
        **_scores(figures),
        "refused, categories 1-4": _share(
            is_refusal(row["answer"] or "") for row in answered if row["category"] != 5
        ),
        "without a tool call": _share(not one for one in calls),
        "tool calls a question, mean (most)": _mean_most([len(one) for one in calls]),
        "replies a question, mean (most)": _mean_most(steps),
        "tools": _counted(Counter(call["name"] for one in calls for call in one)),
        "same call again": str(sum(len(one) - len(_distinct(one)) for one in calls)),
        "calls whose arguments are no JSON object": str(_results(traces, _NOT_JSON)),
        "calls refused, these among them": str(_results(traces, _REFUSED)),
        "replies skipped": _counted(skipped) or "0",
        "ends": _counted(stops),
        "prompt tokens a question, mean": _mean_tokens(answered, "prompt_tokens"),
        "of these from the server's cache": _mean_tokens(answered, "cached_tokens"),
        "completion tokens a question, mean": _mean_tokens(answered, "completion_tokens"),
        "seconds a question, median (most)": _median_most([row["latency_s"] for row in answered]),
    }


def _lines(path: Path) -> list[Row]:
    """Return the last row of each question: a resumed run asks those that failed again."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return list({(row["sample_id"], row["qa_index"]): row for row in rows}.values())


def _trace(run: Path, row: Row) -> list[Row]:
    path = run / "traces" / folder_name(row["sample_id"]) / f"{row['qa_index']:04}.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _scores(figures: Row) -> dict[str, str]:
    answers, retrieval = figures.get("answers", {}), figures.get("retrieval", {})
    found = {}
    for name, part in (
        ("F1, categories 1-4 (n)", answers),
        ("R@10, categories 1-4 (n)", retrieval),
    ):
        cell = part.get("1-4", {})
        score = cell.get("f1" if part is answers else "recall@10")
        if score is not None:
            found[name] = f"{score * 100:.1f} ({cell['n']})"
    return found


def _skipped(event: Row) -> bool:
    return event.get("kind") in ("cut", "empty")


def _results(traces: Iterable[list[Row]], pattern: re.Pattern[str]) -> int:
    results = [event for trace in traces for event in trace if event.get("role") == "tool"]
    return sum(bool(pattern.match(event["content"])) for event in results)


def _distinct(calls: Iterable[Row]) -> set[tuple[str, str]]:
    return {(call["name"], call["arguments"]) for call in calls}


def _share(flags: Iterable[bool]) -> str:
    told = list(flags)
    return f"{sum(told)} of {len(told)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def _mean_most(values: Sequence[int]) -> str:
    return f"{statistics.mean(values):.1f} ({max(values)})" if values else "-"


def _median_most(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} ({max(values):.0f})" if values else "-"


def _mean_tokens(rows: Sequence[Row], name: str) -> str:
    known = [row["usage"][name] for row in rows if row["usage"].get(name)]
    return f"{statistics.mean(known):,.0f}" if known else "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
