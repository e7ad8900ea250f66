"""What ranked search costs beside its peers, on made-up workspaces of 10k to 1M messages.

    python benchmarks/speed/search.py [--folder DIR] [--sizes 10000 100000 1000000] [--queries 200]

Each row gives our figure, the peer's from the same run, their ratio and the target. Peers: tantivy
over the same texts (English stems), FTS5 (porter), `python -c pass`, append with sync. Workspaces
are made once in DIR (`generate.py`) and kept. What is compared takes turns within one loop. Times are
processor time, its own and its children's, since the machine is shared; appends, which wait for the
disk, are wall time. BM25 is the baseline of `bench`, in Python.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from generate import Speech, write

from fsagent.bench.systems.bm25 import BM25, terms
from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.search.index import rebuild, remove_index
from fsagent.search.ranked import MAX_TAIL, Search
from fsagent.search.text import is_stop_word
from fsagent.workspace.records import Record, decode, encode

Row = tuple[str, str, str, float, str]


def main() -> None:
    """Measure everything and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "fsagent-speed"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args()
    print(heading())
    rows: list[Row] = []
    for size in given.sizes:
        root = workspace(given.folder, size)
        rows += build_rows(root, size)
        rows += query_rows(root, size, given.queries)
    rows += growth_rows(given.folder, given.sizes[0], given.sizes[-1], given.queries)
    rows += append_rows(workspace(given.folder, given.sizes[0]))
    rows.append(cold_row(workspace(given.folder, 6_000)))
    print_rows(rows)


def print_rows(rows: list[Row]) -> None:
    """Print rows as a Markdown table."""
    print("| | ours | peer | ratio | must hold |\n|---|---|---|---|---|")
    for name, ours, peer, ratio, target in rows:
        print(f"| {name} | {ours} | {peer} | {ratio:.3g} | {target} |")


def heading() -> str:
    """Return the machine, the date and the commit."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}\n"
    )


def clock() -> float:
    """Return the seconds of processor time that this process and its ended children have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def workspace(folder: Path, messages: int) -> Path:
    """Return a made-up workspace of that size, made where it is not there yet."""
    root = folder / f"m{messages}"
    if not (root / "fsagent.yaml").exists():
        days = max(7, 1_095 * messages // 1_000_000)
        write(root, messages, days, 1_905 * messages // 1_000_000)
    return root


def texts(root: Path) -> Iterator[str]:
    """Yield the words of every message."""
    for path in sorted((root / "recall").rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            yield decode(line).content


def build_rows(root: Path, size: int) -> list[Row]:
    """Build the index and the peers' over the same texts."""
    with Workspace.open(root) as memory:
        remove_index(memory.tree)
        started = clock()
        documents = rebuild(memory.tree, "en")
        ours = clock() - started
    logs = sum(path.stat().st_size for path in (root / "recall").rglob("*.jsonl"))
    index = sum(p.stat().st_size for p in (root / ".fsagent").glob("index*/**/*") if p.is_file())
    peer = build_tantivy(root)
    build_fts5(root)
    return [
        (
            f"rebuild, {size:,}, documents a second (peer: tantivy)",
            f"{documents / ours:,.0f}",
            f"{size / peer:,.0f}",
            size / peer / (documents / ours),
            "30,000, aim 60,000",
        ),
        (
            f"index on disk, {size:,} (peer: the logs)",
            f"{index / 1e6:.0f} MB",
            f"{logs / 1e6:.0f} MB",
            index / logs,
            ".7, aim .5",
        ),
    ]


def build_tantivy(root: Path) -> float:
    """Index the texts as a user of tantivy would; return the seconds."""
    import shutil

    import tantivy

    folder = root / ".fsagent" / "peer-tantivy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    schema = tantivy.SchemaBuilder().add_text_field("body", tokenizer_name="en_stem").build()
    lines = list(texts(root))
    started = clock()
    writer = tantivy.Index(schema, path=str(folder)).writer(120_000_000, 1)
    for text in lines:
        writer.add_document(tantivy.Document(body=text))
    writer.commit()
    writer.wait_merging_threads()
    return clock() - started


def build_fts5(root: Path) -> None:
    """Index the texts in SQLite."""
    path = root / ".fsagent" / "peer-fts5.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as base:
        base.execute(
            "CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61', detail=column)"
        )
        base.executemany("INSERT INTO t VALUES (?)", ((text,) for text in texts(root)))


def query_rows(root: Path, size: int, count: int) -> list[Row]:
    """Ask whole questions of the search and of its peers in turns."""
    import tantivy

    speech = Speech(5)
    questions = [speech.question() for _ in range(count)]
    index = tantivy.Index.open(str(root / ".fsagent" / "peer-tantivy"))
    searcher = index.searcher()
    base = sqlite3.connect(root / ".fsagent" / "peer-fts5.db")
    memory = Workspace.open(root)
    finder = Search(memory.tree, memory.settings, memory.clock)
    finder.search("warm up")

    def raw(text: str) -> None:
        searcher.search(index.parse_query(text.replace("?", ""), ["body"]), 10)

    def few(text: str) -> None:
        searcher.search(index.parse_query(" ".join(content(text)), ["body"]), 10, count=False)

    def fts5(text: str) -> None:
        words = " OR ".join(f'"{word}"' for word in content(text))
        base.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (words,)
        ).fetchall()

    asked: dict[str, Callable[[str], object]] = {
        "ours": finder.search,
        "tantivy": raw,
        "tantivy without stop words": few,
        "FTS5 without stop words": fts5,
        "BM25": _Bm25(root).rank,
    }
    times = timed(asked, questions)
    memory.close()
    base.close()
    rows = []
    for peer, target in (
        ("tantivy", "12, aim 6"),
        ("tantivy without stop words", ""),
        ("FTS5 without stop words", ""),
        ("BM25", ""),
    ):
        for share, label in ((0.5, "p50"), (0.95, "p95")):
            ours, theirs = quantile(times["ours"], share), quantile(times[peer], share)
            rows.append(
                (
                    f"question, {size:,}, {label} (peer: {peer})",
                    f"{1e3 * ours:.2f} ms",
                    f"{1e3 * theirs:.2f} ms",
                    ours / theirs,
                    target if label == "p95" and size >= 1_000_000 else "",
                )
            )
    return rows


class _Bm25:
    """The baseline of `bench` over the same texts."""

    def __init__(self, root: Path) -> None:
        self._index = BM25({str(n): terms(text) for n, text in enumerate(texts(root))})

    def rank(self, question: str) -> list[str]:
        """Return the messages that hold a word, best first."""
        return self._index.rank(terms(question))


def growth_rows(folder: Path, first: int, last: int, count: int) -> list[Row]:
    """Ask the same questions in the smallest and in the largest workspace, in turns."""
    speech = Speech(6)
    questions = [speech.question() for _ in range(count)]
    with (
        Workspace.open(workspace(folder, first)) as small,
        Workspace.open(workspace(folder, last)) as large,
    ):
        asked: dict[str, Callable[[str], object]] = {}
        for name, memory in (("small", small), ("large", large)):
            finder = Search(memory.tree, memory.settings, memory.clock)
            finder.search("warm up")
            asked[name] = finder.search
        times = timed(asked, questions)
    return [
        (
            f"growth of {label}, {first:,} to {last:,}",
            f"{1e3 * quantile(times['large'], share):.1f} ms",
            f"{1e3 * quantile(times['small'], share):.1f} ms",
            quantile(times["large"], share) / quantile(times["small"], share),
            "4, aim 2" if share > 0.5 else "",
        )
        for share, label in ((0.5, "p50"), (0.95, "p95"))
    ]


def timed(
    asked: dict[str, Callable[[str], object]], questions: list[str]
) -> dict[str, list[float]]:
    """Ask each question of each engine and return the seconds."""
    times: dict[str, list[float]] = {name: [] for name in asked}
    for question in questions:
        for name, ask in asked.items():
            started = clock()
            ask(question)
            times[name].append(clock() - started)
    return times


def content(text: str) -> list[str]:
    """Return the words of a question that are no stop words."""
    return [word for word in re.findall(r"\w+", text.lower()) if not is_stop_word(word)]


def append_rows(root: Path) -> list[Row]:
    """Append and keep the index up as often as a search would, against a write with its sync alone."""
    memory = Workspace.open(root, settings=Settings(timezone="UTC"))
    finder = Search(memory.tree, memory.settings, memory.clock)
    finder.search("warm up")
    with_index, alone, bare, found = [], [], [], []
    plain = os.open(root / ".fsagent" / "plain", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in range(500):
        draft = Draft("user", "Alva", f"We met at the lake, mark{number}.", turn="t")
        line = encode(
            Record(number, "2026-11-30T09:00:00+00:00", "t", "user", "Alva", draft.content)
        )
        started = time.perf_counter()
        os.write(plain, line)
        getattr(os, "fdatasync", os.fsync)(plain)
        bare.append(time.perf_counter() - started)
        started = time.perf_counter()
        memory.recall.append(draft)
        taken = time.perf_counter() - started
        alone.append(taken)
        started = time.perf_counter()
        if number % MAX_TAIL == MAX_TAIL - 1:
            finder.catch_up()
        with_index.append(taken + time.perf_counter() - started)
        if number % 10 == 0:
            started = time.perf_counter()
            page = finder.search(f"mark{number}")
            found.append(time.perf_counter() - started)
            assert page.hits[0].text.endswith(f"mark{number}."), number
    memory.close()
    os.close(plain)
    whole, written, peer = map(statistics.mean, (with_index, alone, bare))
    rows = (
        (
            "append with index and sync, mean of 500 (peer: a write and its sync)",
            whole,
            "2, aim 1.3",
        ),
        ("append without index (peer: a write and its sync)", written, ""),
        (
            "search right after, found every time, p95 (peer: a write and its sync)",
            quantile(found, 0.95),
            "",
        ),
    )
    return [
        (name, f"{1e3 * ours:.2f} ms", f"{1e3 * peer:.2f} ms", ours / peer, target)
        for name, ours, target in rows
    ]


def cold_row(root: Path) -> Row:
    """Time the first search of a new process over 6k messages, against an empty Python."""
    with Workspace.open(root) as memory:
        rebuild(memory.tree, "en")
    words = sorted(content(" ".join(list(texts(root))[:50])), key=len)[-4:]
    start = "from fsagent.cli.main import main; main()"
    command = [sys.executable, "-c", start, "search", "-w", str(root), " ".join(words)]
    ours, empty = [], []
    with tempfile.TemporaryDirectory() as compiled:
        # As installed: compiled once, not at every start.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run(command, capture_output=True, check=True, env=env)
        for _ in range(15):
            for times, run in ((ours, command), (empty, [sys.executable, "-c", "pass"])):
                started = clock()
                subprocess.run(run, capture_output=True, check=False, env=env)
                times.append(clock() - started)
    mine, bare = statistics.median(ours), statistics.median(empty)
    return (
        "first search of a process, 6,000 (peer: python -c pass)",
        f"{1e3 * mine:.1f} ms",
        f"{1e3 * bare:.1f} ms",
        mine / bare,
        "12, aim 8",
    )


def quantile(times: list[float], share: float) -> float:
    """Return the time below which `share` of them lie."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


if __name__ == "__main__":
    main()
