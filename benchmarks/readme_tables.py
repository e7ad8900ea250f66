"""Write the README's tables from the committed manifests in `results/`, so that none is typed.

A table stands between `<!-- table: NAME FILE -->` and `<!-- end -->`.
usage: python benchmarks/readme_tables.py [--check]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fsagent.bench.datasets.schema import CATEGORY_NAMES
from fsagent.bench.report import table
from fsagent.bench.summary import ranks

HERE = Path(__file__).parent
README = HERE / "README.md"
_SLOT = re.compile(r"(<!-- table: (\w+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

Runs = Sequence[Mapping[str, Any]]


def answers(runs: Runs) -> str:
    """Return a run a row: official F1, by category too, and what category 5 did."""
    head = ["system", "F1, 1-4"]
    n = {c: runs[0]["summary"]["answers"].get(str(c), {}).get("n", 0) for c in CATEGORY_NAMES}
    head += [f"{c} {CATEGORY_NAMES[c]}, n {n[c]}" for c in (1, 2, 3, 4)]
    head += ["EM", "words", f"5: refused, n {n[5]}", "fell for the trap", "false refusals, 1-4"]
    return table(head, (_answers(run["summary"]) for run in runs))


def _answers(summary: Mapping[str, Any]) -> list[str]:
    scores = summary["answers"]
    interval = summary["intervals"]["answers"]["1-4"]["f1"]
    apart = summary["adversarial"]
    return [
        summary["system"],
        f"{_percent(scores['1-4']['f1'])} [{_percent(interval[0])}, {_percent(interval[1])}]",
        *(_percent(scores[c]["f1"]) if c in scores else "-" for c in "1234"),
        _percent(scores["1-4"]["em"]),
        f"{scores['1-4']['words']:.1f}",
        *(
            _percent(scores["5"][k]) if "5" in scores else "-"
            for k in ("refusal_rate", "trap_rate")
        ),
        _percent(apart["false_refusal_rate"]) if apart else "-",
    ]


def retrieval(runs: Runs) -> str:
    """Return a run a row: what was found among the first k, and within 2,000 tokens."""
    head = ["system", "R@5", "R@10", "R@20", "R@50", "MRR", "nDCG@10", "R within 2,000 tokens"]
    head += ["session R@5", "context tokens a question"]
    return table(head, _retrieval(runs))


def _retrieval(runs: Runs) -> Iterator[list[str]]:
    names = ("recall@20", "recall@50", "mrr", "ndcg@10", "recall@2000tok", "session_recall@5")
    for run in runs:
        summary = run["summary"]
        if not ranks(summary) or summary["system"] == "oracle":
            continue
        scores, interval = summary["retrieval"]["1-4"], summary["intervals"]["retrieval"]["1-4"]
        low, high = interval["recall@10"]
        yield [
            summary["system"],
            _percent(scores["recall@5"]),
            f"{_percent(scores['recall@10'])} [{_percent(low)}, {_percent(high)}]",
            *(_percent(scores[name]) for name in names),
            f"{summary['cost']['context_tokens']:,.0f}",
        ]


def judges(runs: Runs) -> str:
    """Return a judge a row: what it passed, and beside it what it passes that it should or should not."""
    head = ["system", "judge", "right, 1-4", "n", "without a verdict"]
    head += ["passes gold", "passes specific wrong", "passes vague wrong"]
    return table(head, _judges(runs))


def _judges(runs: Runs) -> Iterator[list[str]]:
    for run in runs:
        for judge in run["summary"].get("judges", {}).values():
            scores, probes = judge.get("1-4"), judge["calibration"]
            if scores is None:
                continue
            low, high = scores["interval"]
            yield [
                run["summary"]["system"],
                judge["judge"],
                f"{_percent(scores['score'])} [{_percent(low)}, {_percent(high)}]",
                str(scores["n"]),
                str(judge["errors"]),
                *(_passed(probes[kind]) for kind in ("gold", "specific", "vague")),
            ]


def _passed(probe: Mapping[str, Any]) -> str:
    passed = "-" if probe["passed"] is None else _percent(probe["passed"])
    failed = f", {probe['errors']} without" if probe.get("errors") else ""
    return f"{passed}, n {probe['n']}{failed}"


TABLES: Mapping[str, Callable[[Runs], str]] = {
    "answers": answers,
    "retrieval": retrieval,
    "judges": judges,
}


def filled(text: str) -> str:
    """Return the README with every table as its manifest has it."""

    def fill(slot: re.Match[str]) -> str:
        runs = json.loads((HERE / slot[3]).read_text(encoding="utf-8"))
        return f"{slot[1]}\n{TABLES[slot[2]](runs)}\n\n{slot[4]}"

    return _SLOT.sub(fill, text)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def main() -> int:
    """Fill the tables; with `--check` only say whether they are up to date."""
    text = README.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        return int(filled(text) != text)
    README.write_text(filled(text), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
