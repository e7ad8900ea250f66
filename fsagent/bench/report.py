"""The figures of runs as Markdown: n beside every score, intervals, category 5 apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fsagent.bench.answerer import OFFICIAL
from fsagent.bench.datasets.schema import ADVERSARIAL, ANSWERABLE, CATEGORY_NAMES
from fsagent.bench.errata import Erratum
from fsagent.bench.progress import named
from fsagent.bench.rundir import Key, RunDirectory
from fsagent.bench.summary import HEADLINE, Summary, ranks

_RETRIEVAL = ("recall@5", "recall@10", "recall@20", "recall@50", "mrr", "ndcg@10", "recall@2000tok")
_SESSIONS = ("session_recall@1", "session_recall@5", "session_recall@10", "session_mrr")
_GAPS = {"errors": "errors", "missing": "not asked", "judge_errors": "verdicts missing"}
_ERROR_CHARACTERS = 160
_ANSWERS = ("f1", "f1_repaired", "em", "bleu1", "rougeL", "words")


def report(run_dirs: Sequence[Path], *, errata: Mapping[Key, Erratum] | None = None) -> str:
    """Return the table of several runs. Raises `ConfigError` for a folder that is no run."""
    return markdown([read_summary(path, errata=errata) for path in run_dirs])


def run_dirs(paths: Sequence[Path]) -> list[Path]:
    """Return the run directories that paths name: runs, or folders that hold runs."""
    found: list[Path] = []
    for path in paths:
        inner = sorted(one.parent for one in path.glob("*/run.json"))
        found += [path] if (path / "run.json").is_file() or not inner else inner
    return found


def read_summary(run_dir: Path, *, errata: Mapping[Key, Erratum] | None = None) -> Summary:
    """Return a run's summary as it was last written, or from its predictions if it has none yet.

    With `errata` it is scored anew with the three views of the key, and nothing is written.
    """
    from fsagent.bench.runner import finish, score

    run = RunDirectory.open(run_dir)
    try:
        if not (run_dir / "summary.json").exists():
            finish(run)
        if errata is not None:
            return score(run, errata=errata)
        return Summary(run.read_json("summary.json"))
    finally:
        run.close()


def markdown(summaries: Sequence[Summary]) -> str:
    """Return the report of runs as Markdown tables."""
    contents = [summary.content for summary in summaries]
    parts = ["# Benchmark", heading(contents)]
    for title, rows in sections(contents):
        parts += [f"## {title}", rows]
    return "\n\n".join(parts) + "\n"


def sections(contents: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the tables with their titles, without those that have no rows."""
    tables = [
        ("Answers, categories 1-4", _answer_table(contents)),
        ("Judged answers, categories 1-4", _judge_table(contents)),
        ("Three views of the key, categories 1-4", _views_table(contents)),
        ("Answers by category (official F1)", _category_table(contents, "answers", "f1")),
        ("Adversarial questions (category 5, never blended in)", _refusal_table(contents)),
        ("Retrieval, categories 1-4", _retrieval_table(contents)),
        (
            "Retrieval by category (recall@10)",
            _category_table(contents, "retrieval", "recall@10"),
        ),
        ("Cost", _cost_table(contents)),
        ("Questions that failed", _failed_table(contents)),
        ("Verdicts that failed", _failed_verdicts_table(contents)),
    ]
    return [(title, rows) for title, rows in tables if rows]


def heading(contents: Sequence[Mapping[str, Any]]) -> str:
    """Return what the runs are over, and how to read their tables: a list, and a paragraph."""
    over = [_over(content) for content in contents]
    common = over[0] if len(set(over)) == 1 else ""
    lines = []
    for content, questions in zip(contents, over, strict=True):
        words = [] if common else [questions]
        words.append(f"configuration {content['config_sha256'][:12]}")
        words += _mode(content)
        gaps = [f"{count} {words}" for key, words in _GAPS.items() if (count := content.get(key))]
        words += [f"**incomplete: {', '.join(gaps)}**"] if gaps else []
        lines.append(f"- **{_name(content)}**: {'; '.join(words)}")
    note = (
        f"{common}{'. ' if common else ''}{_made(contents)} "
        "95 % intervals in brackets: Wilson's; for categories 1-4 the wider of Wilson's and of a "
        "bootstrap that draws whole conversations, which says little where there are few of them. "
        "A k is to be read against the number of turns; the oracle is told its lines, and what shows "
        "everything or nothing has no rank."
    )
    return "\n".join(lines) + "\n\n" + note


def _over(content: Mapping[str, Any]) -> str:
    data, documents = content["dataset"], content["documents"]
    prompt = content.get("mode", {}).get("answer_prompt")
    asked = f"; answer prompt {prompt}" if prompt else ""
    if data.get("duplicates"):
        asked += f"; questions that repeat another: {data['duplicates']}"
    return (
        f"{data['questions']} questions of {', '.join(data['samples'])}; "
        f"{_span(documents['turns'])} turns and {_span(documents['sessions'])} sessions a "
        f"conversation{asked}"
    )


def _made(contents: Sequence[Mapping[str, Any]]) -> str:
    """Return when, from which commit and on what the runs were made."""
    made = [content["made"] for content in contents if "made" in content]
    if not made:
        return ""
    days = sorted({one["started"][:10] for one in made})
    commits = {one["commit"] for one in made}
    commits |= {again["commit"] for one in made for again in one.get("resumed", [])}
    named_commits = ", ".join(sorted(str(commit or "no commit")[:20] for commit in commits))
    machines = sorted({f"{one['machine']}, Python {one['python']}" for one in made})
    day = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Run {day}, commit {named_commits}; {'; '.join(machines)}."


def _mode(content: Mapping[str, Any]) -> list[str]:
    """Return what sets the run apart from a plain one."""
    mode, words = content.get("mode", {}), []
    if mode.get("answer_prompt") == OFFICIAL:
        words.append(
            f"{OFFICIAL}: **the category selects the prompt**, adversarial questions are a choice of two"
        )
    if mode.get("draw"):
        words.append("questions drawn by seed")
    if mode.get("smoke"):
        words.append("**a smoke run, no measurement**")
    shown, fewest = content["cost"].get("shown_turns", 0), content["documents"]["turns"][0]
    if content["system"] == "full-context" and shown < fewest:
        words.append(f"**the window held only the newest {shown:.0f} turns**")
    return words


def _failed_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [_name(content), named([row]), _cut(row["error"])]
        for content in contents
        for row in content.get("failed", [])
    ]
    return table(["system", "question", "error"], rows)


def _failed_verdicts_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [_name(content), judge["judge"], row["subject"], named([row]), _cut(row["error"])]
        for content in contents
        for judge in content.get("judges", {}).values()
        for row in judge.get("failed", [])
    ]
    return table(["system", "judge", "of", "question", "error"], rows)


def _cut(error: str) -> str:
    line = " ".join(error.split())
    return line if len(line) <= _ERROR_CHARACTERS else line[: _ERROR_CHARACTERS - 1] + "…"


def _answer_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        scores = content["answers"].get(HEADLINE)
        if scores:
            interval = content["intervals"]["answers"][HEADLINE].get("f1")
            rows.append(
                [
                    _name(content),
                    str(scores["n"]),
                    _percent(scores["f1"], interval),
                    *(_percent(scores[name]) for name in _ANSWERS[1:-1]),
                    f"{scores['words']:.1f}",
                ]
            )
    return table(["system", "n", "F1", "F1 repaired", "EM", "BLEU-1", "ROUGE-L", "words"], rows)


def _judge_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        for judge in content.get("judges", {}).values():
            scores = judge.get(HEADLINE)
            if scores:
                calibration = judge["calibration"]
                rows.append(
                    [
                        _name(content),
                        f"{judge['judge']} ({judge['model']}, prompt {judge['prompt_sha256'][:8]})",
                        f"{scores['n']}, {judge['errors']} errors",
                        _percent(scores["score"], scores["interval"]),
                        *(_passed(calibration[kind]) for kind in ("gold", "specific", "vague")),
                    ]
                )
    head = ["system", "judge", "n", "right"]
    return table([*head, "passes gold", "passes specific wrong", "passes vague wrong"], rows)


def _passed(probe: Mapping[str, Any]) -> str:
    return "-" if probe["passed"] is None else f"{_percent(probe['passed'])} n={probe['n']}"


def _views_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        for name, view in content.get("views", {}).items():
            answers, retrieval = view["answers"].get(HEADLINE), view["retrieval"].get(HEADLINE)
            judged = [
                f"{one['judge']} {_percent(one[HEADLINE]['score'])}"
                for one in view.get("judges", {}).values()
                if HEADLINE in one
            ]
            rows.append(
                [
                    _name(content),
                    name,
                    f"{answers['n']}" if answers else "-",
                    _percent(answers["f1"]) if answers else "-",
                    ", ".join(judged) or "-",
                    _percent(retrieval["recall@10"]) if retrieval and ranks(content) else "-",
                ]
            )
    return table(["system", "key", "n", "F1", "judges", "recall@10"], rows)


def _category_table(contents: Sequence[Mapping[str, Any]], part: str, name: str) -> str:
    rows = []
    for content in contents:
        if content[part] and (part == "answers" or ranks(content)):
            cells = [_category_cell(content, part, str(c), name) for c in ANSWERABLE]
            rows.append([_name(content), *cells])
    return table(["system", *(f"{c} {CATEGORY_NAMES[c]}" for c in ANSWERABLE)], rows)


def _category_cell(content: Mapping[str, Any], part: str, group: str, name: str) -> str:
    scores = content[part].get(group)
    if not scores or name not in scores:
        return "-"
    interval = content["intervals"][part].get(group, {}).get(name)
    return f"{_percent(scores[name], interval)} n={scores['n']}"


def _refusal_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        scores, apart = content["answers"].get(str(ADVERSARIAL)), content["adversarial"]
        if scores:
            interval = content["intervals"]["answers"][str(ADVERSARIAL)].get("refusal_rate")
            rows.append(
                [
                    _name(content),
                    str(scores["n"]),
                    _percent(scores["refusal_rate"], interval),
                    _percent(scores["trap_rate"]),
                    _percent(scores["f1"]),
                    _percent(apart["false_refusal_rate"]) if apart else "-",
                    _percent(apart["balanced_accuracy"]) if apart else "-",
                ]
            )
    head = ["system", "n", "refused", "fell for the trap", "official score"]
    return table([*head, "false refusals (1-4)", "balanced accuracy"], rows)


def _retrieval_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        scores = content["retrieval"].get(HEADLINE)
        if scores and ranks(content):
            interval = content["intervals"]["retrieval"][HEADLINE].get("recall@10")
            cells = [
                _percent(scores[name], interval if name == "recall@10" else None)
                if name in scores
                else "-"
                for name in (*_RETRIEVAL, *_SESSIONS)
            ]
            rows.append([_name(content), str(scores["n"]), *cells])
    heads = [
        name.replace("session_", "session ").replace("tok", " tokens")
        for name in (*_RETRIEVAL, *_SESSIONS)
    ]
    return table(["system", "n", *heads], rows)


def _cost_table(contents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for content in contents:
        cost = content["cost"]
        rows.append(
            [
                _name(content),
                f"{cost['context_tokens']:.0f}",
                f"{cost['tool_calls']:.1f}",
                str(cost["prompt_tokens"]),
                str(cost["cached_tokens"]),
                str(cost["completion_tokens"]),
                *(f"{cost['latency_s'][q]:.3f}" for q in ("p50", "p95", "p99")),
                _usd(cost["usd"]),
                *_ingest_cells(content),
                ", ".join(_usd(one["usd"]) for one in content.get("judges", {}).values()) or "-",
            ]
        )
    head = [
        "system",
        "context tokens a question",
        "tool calls",
        "prompt tokens",
        "of them cached",
        "completion tokens",
    ]
    more = ["p50 s", "p95 s", "p99 s", "USD", "ingestion s", "store MB", "judges USD"]
    return table([*head, *more], rows)


def _ingest_cells(content: Mapping[str, Any]) -> tuple[str, str]:
    ingest = content.get("ingest")
    return (f"{ingest['seconds']:.2f}", f"{ingest['bytes'] / 1e6:.2f}") if ingest else ("-", "-")


def _usd(usd: float | None) -> str:
    return "?" if usd is None else f"{usd:.4f}" if 0 < usd < 1 else f"{usd:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, nothing where it has no rows."""
    body = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    if not body:
        return ""
    rule = "|" + "---|" * len(head)
    return "\n".join([f"| {' | '.join(head)} |", rule, *body])


def _name(content: Mapping[str, Any]) -> str:
    return (
        f"{content['system']} / {content['model']}" if content["model"] else str(content["system"])
    )


def _span(bounds: Sequence[int]) -> str:
    return str(bounds[0]) if bounds[0] == bounds[1] else f"{bounds[0]}-{bounds[1]}"


def _percent(value: float, interval: Sequence[float] | None = None) -> str:
    text = f"{100 * value:.1f}"
    return f"{text} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else text
