"""What grep costs beside ripgrep and GNU grep, over the same files in the same run.

    python benchmarks/speed/grep.py [--folder DIR] [--messages 1000000] [--rounds 5] [--larger N]

Workspaces are made once in DIR (`generate.py`) and kept. Everything but the first page counts all
hits; `rg` runs with one thread, and each pattern's engines in turn. Times are processor time, since
the machine is shared. The counts must be equal, and are checked. `--larger` adds the first page of a
workspace of N messages against the smaller one's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from generate import RARE, Speech
from search import Row, clock, heading, print_rows, workspace

from fsagent.memory.workspace import Workspace
from fsagent.search.grep import grep
from fsagent.workspace.tree import Tree

# Long ones only: they stand in no key of the JSON.
WORDS = [word for word in Speech(1).words if len(word) > 5]
COMMON = "the"


class Sought(NamedTuple):
    """A pattern that is measured: its name, whether case counts, what must hold."""

    name: str
    pattern: str
    ignore_case: bool
    target: str


PATTERNS = [
    Sought("rare literal", RARE, False, "2, aim 1.2"),
    Sought("rarer literal", WORDS[-1], False, "2, aim 1.2"),
    Sought("no match", "zzyzxq", False, "2, aim 1.2"),
    Sought("ignore case, rare", RARE.upper(), True, "6, aim 3"),
    Sought("ignore case, a word of middling use", WORDS[900].upper(), True, "6, aim 3"),
    Sought("five alternatives", "|".join(WORDS[900:905]), False, "6, aim 3"),
    Sought("five alternatives, ignore case", "|".join(WORDS[900:905]), True, "6, aim 3"),
    Sought("classes", r"\bq[a-z]{2}zz[a-z]+y\b", False, "6, aim 3"),
    Sought("classes without a literal", r"\b[bcd][aeiou][xk][aeiou]nd\b", False, "6, aim 3"),
    Sought("one, then another", f"{WORDS[300]}.*{WORDS[20]}", False, ""),
    Sought("common word, every hit counted", COMMON, False, ""),
]


def main() -> None:
    """Measure everything and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "fsagent-speed"
    )
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--larger", type=int)
    given = parser.parse_args()
    print(heading())
    root = workspace(given.folder, given.messages)
    rows: list[Row] = []
    with Workspace.open(root) as memory:
        for sought in PATTERNS:
            rows += pattern_rows(memory.tree, sought, given.rounds)
        rows.append(first_page_row(memory.tree, given.rounds))
        if given.larger:
            with Workspace.open(workspace(given.folder, given.larger)) as other:
                rows.append(larger_row(memory.tree, other.tree, given.rounds))
    print_rows(rows)


def pattern_rows(tree: Tree, sought: Sought, rounds: int) -> list[Row]:
    """Count a pattern's hits by each engine."""
    name, pattern, ignore_case, target = sought

    def ours() -> int:
        return counted(tree, pattern, ignore_case)

    times, counts = alternating({"ours": ours, **peers(tree.root, pattern, ignore_case)}, rounds)
    assert len(set(counts.values())) == 1, (name, counts)
    label = f"{name} ({counts['ours']:,} hits)"
    return [
        row(f"{label}, peer: {peer}", times["ours"], times[peer], target if "rg" in peer else "")
        for peer in times
        if peer != "ours"
    ]


def first_page_row(tree: Tree, rounds: int) -> Row:
    """Take the first page of a common word, newest first, against a whole run of rg."""
    runs = {
        "ours": lambda: len(grep(tree, COMMON).hits),
        "rg -j1": peers(tree.root, COMMON, False)["rg -j1"],
    }
    times, _ = alternating(runs, rounds)
    return row(
        "first page of a common word, peer: rg -j1 over all",
        times["ours"],
        times["rg -j1"],
        ".05, aim .01",
    )


def larger_row(smaller: Tree, larger: Tree, rounds: int) -> Row:
    """Take the first page in two workspaces."""
    runs = {
        "larger": lambda: len(grep(larger, COMMON).hits),
        "smaller": lambda: len(grep(smaller, COMMON).hits),
    }
    times, _ = alternating(runs, 10 * rounds)
    return row(
        "first page in the larger workspace, peer: in the smaller",
        times["larger"],
        times["smaller"],
        "2, aim 1.2",
    )


def counted(tree: Tree, pattern: str, ignore_case: bool) -> int:
    """Return how many lines match, by our grep."""
    page = grep(tree, pattern, ignore_case=ignore_case, count_all=True, deadline_s=600)
    assert page.total is not None
    return page.total


def peers(root: Path, pattern: str, ignore_case: bool) -> dict[str, Callable[[], int]]:
    """Return what counts the same lines by the programs that are installed."""
    case = ["-i"] if ignore_case else []
    tops = sorted(path.name for path in root.iterdir() if path.name[0] != ".")
    commands = {
        "rg -j1": ["rg", "-j1", "--no-ignore", "--no-config", "-c", *case, "--", pattern, *tops],
        # -c, not a redirection: GNU grep ends at the first hit where its output goes nowhere.
        "GNU grep": ["grep", "-rcP" if "\\" in pattern else "-rcE", *case, "--", pattern, *tops],
    }
    return {
        name: lambda command=command: run_count(command, root)  # type: ignore[misc]
        for name, command in commands.items()
        if shutil.which(command[0])
    }


def run_count(command: list[str], root: Path) -> int:
    """Run a program that prints `path:count` and return the sum."""
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return sum(int(line.rpartition(":")[2]) for line in done.stdout.splitlines())


def alternating(
    runs: dict[str, Callable[[], int]], rounds: int
) -> tuple[dict[str, float], dict[str, int]]:
    """Return the median seconds of each, run in turn after one round of warming, and the results."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    results: dict[str, int] = {}
    for number in range(rounds + 1):
        for name, run in runs.items():
            started = clock()
            results[name] = run()
            if number:
                taken[name].append(clock() - started)
    return {name: statistics.median(times) for name, times in taken.items()}, results


def row(name: str, ours: float, peer: float, target: str) -> Row:
    """Return a row of the table."""
    return name, f"{1e3 * ours:.1f} ms", f"{1e3 * peer:.1f} ms", ours / peer, target


if __name__ == "__main__":
    main()
