"""What recall costs: an append against append+fdatasync alone, the tail against `tail -n 50`.

    python benchmarks/speed/append.py [--folder DIR] [--rounds 400] [--days 1095]

Prints Markdown tables with the machine, the date and the commit. The peers alternate within one
run; figures are medians.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fsagent import Workspace
from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.workspace.records import Record, encode

TEXT = "I went to the lake with Biscuit, it was windy and he chased the ducks. " * 3
TODAY = datetime(2026, 11, 30, 9, tzinfo=UTC)


def main() -> None:
    """Run everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to write; the disk is what is measured")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--days", type=int, default=1095)
    parser.add_argument("--lines", type=int, default=900, help="lines a day")
    given = parser.parse_args()
    revision = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {revision}\n"
    )
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        append_table(Path(folder), given.rounds)
        tail_table(Path(folder), given.days, given.lines)


def append_table(folder: Path, rounds: int) -> None:
    """Print an append's time and that of its parts done alone."""
    with Workspace.init(folder / "a", settings=Settings(timezone="UTC")) as memory:
        line = encode(Record(1, "2026-11-30T09:00:00+00:00", "t1", "user", "Ann", TEXT))
        fd = os.open(folder / "alone.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def alone() -> None:
            os.write(fd, line)
            os.fdatasync(fd)

        def unsynced() -> None:
            os.write(fd, line)

        def append() -> None:
            memory.recall.append(Draft("user", "Ann", TEXT, turn="t1"))

        times = alternating({"alone": alone, "append": append, "unsynced": unsynced}, rounds)
        os.close(fd)
    ratio = times["append"] / times["alone"]
    print("| one line | us | ratio |\n|---|---:|---:|")
    print(f"| write, no sync | {times['unsynced'] * 1e6:.0f} | |")
    print(f"| write + fdatasync alone | {times['alone'] * 1e6:.0f} | 1 |")
    print(f"| `Recall.append` | {times['append'] * 1e6:.0f} | {ratio:.2f} |\n")


def tail_table(folder: Path, days: int, lines: int) -> None:
    """Print the time of the last 50 messages, of many days and of one large day."""
    print("| the last 50 | lines | ms | `tail -n 50` ms | ratio |\n|---|---:|---:|---:|---:|")
    for label, count, size in (("many days", days, lines), ("one day", 1, days * lines // 4)):
        root = folder / label
        with Workspace.init(root, settings=Settings(timezone="UTC"), clock=lambda: TODAY) as memory:
            newest = root / filled(memory, count, size)
            memory.recall.append(Draft("user", "Ann", TEXT))
            peer = ["tail", "-n", "50", str(newest)]
            times = alternating(
                {
                    "ours": lambda memory=memory: memory.recall.tail(50),
                    "tail": lambda peer=peer: subprocess.run(
                        peer, stdout=subprocess.DEVNULL, check=True
                    ),
                },
                101,
            )
        ratio = times["ours"] / times["tail"]
        print(
            f"| {label} | {count * size} | {times['ours'] * 1e3:.2f} | "
            f"{times['tail'] * 1e3:.2f} | {ratio:.2f} |"
        )


def filled(memory: Workspace, days: int, lines: int) -> str:
    """Write day files of so many lines each, the last being today's; return the newest's path."""
    path = ""
    for back in range(days - 1, -1, -1):
        day = TODAY - timedelta(days=back)
        path = memory.recall.path_of(day)
        target = memory.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        ts = day.isoformat()
        target.write_bytes(
            b"".join(
                encode(Record(n, ts, "t1", "user", "Ann", f"{n} {TEXT}")) for n in range(lines)
            )
        )
    return path


def alternating(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each, run in turn."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 5):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            if number >= 5:
                taken[name].append(time.perf_counter() - started)
    return {name: statistics.median(times) for name, times in taken.items()}


if __name__ == "__main__":
    main()
