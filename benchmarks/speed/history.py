"""What the history costs: a commit against `git commit --allow-empty`, and the growth of `.git`.

    python benchmarks/speed/history.py [--lines 10000] [--commits 10000] [--files 3000]

Prints a Markdown table with the machine, the date and the commit. Ratios are taken within one run,
each command alternating with its peer in a copy of the workspace, medians of 31.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fsagent import Workspace
from fsagent.config import Settings
from fsagent.memory.history.messages import TurnNote
from fsagent.memory.recall import Draft

ROUNDS = 31
WORDS = (
    "I went to the lake with Biscuit on {day}, it was windy and he chased {n} ducks",
    "Remind me that the appointment with Dr. Meyer moved to {n} o'clock",
    "We talked about the trip to Kyoto again, flight {n} looks cheapest",
    "Noted. You mentioned {n} of these before, the last time in spring",
)


def main() -> None:
    """Run everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000, help="0: no growth table")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=3_000)
    given = parser.parse_args()
    revision = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {revision}\n"
    )
    print(
        "| one edited block | commit ms | allow-empty ms | ratio | `begin_turn` ms | `end_turn` ms |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for commits in (10, given.commits):
        print(cost_row(commits, given.files))
    print("\n| recall lines | sessions | logs kB | .git kB | ratio | after gc | commits | s |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for days, every, label in (
        ()
        if given.lines == 0
        else (
            (1, given.lines, "one, all day"),
            (1, 1, "one a line (`ask`)"),
            (30, given.lines, "one a day"),
            (30, 5, "one every 5 lines"),
            (30, 1, "one a line (`ask`)"),
        )
    ):
        print(growth_row(given.lines, days, every, label))


def cost_row(commits: int, files: int) -> str:
    """Measure one commit in a workspace with that many commits and files."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.init(Path(folder) / "ws", settings=Settings(timezone="UTC"))
        for number in range(files):
            path = workspace.root / "archival" / f"d{number % 60}" / f"note-{number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# Note {number}\n\nSome words of a note, {number * 7919}.\n")
        history = workspace.history
        history.begin_turn("t-0")
        history.commit_turn(TurnNote("t-0"))
        add_commits(workspace.root, commits)
        twin = Path(folder) / "twin"
        shutil.copytree(workspace.root, twin)
        run(twin, "status")
        history.begin_turn("t-00")
        ours, peer, begin, reply = [], [], [], []
        for number in range(ROUNDS):
            turn = f"t-{number + 1}"
            time.sleep(0.1)  # A person types; the last turn's commit is made meanwhile.
            begin.append(timed(lambda turn=turn: history.begin_turn(turn)))
            edit(workspace, number)
            ours.append(timed(lambda turn=turn: history.commit_turn(TurnNote(turn))))
            peer.append(timed(lambda: allow_empty(twin)))
            history.begin_turn(turn + "b")
            edit(workspace, number + 1000)
            reply.append(timed(lambda turn=turn: history.end_turn(TurnNote(turn + "b"))))
        workspace.close()
    ratio = statistics.median(a / b for a, b in zip(ours, peer, strict=True))
    cells = [statistics.median(values) * 1e3 for values in (ours, peer)]
    return (
        f"| {commits} commits, {files} files | {cells[0]:.1f} | {cells[1]:.1f} | {ratio:.2f} "
        f"| {statistics.median(begin) * 1e3:.1f} | {statistics.median(reply) * 1e3:.1f} |"
    )


def growth_row(lines: int, days: int, every: int, label: str) -> str:
    """Append lines over days with a session every so many, and compare `.git` with the logs."""
    now = [datetime(2026, 11, 1, 8, tzinfo=UTC)]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(timezone="UTC")
        root = Path(folder) / "ws"
        start = time.perf_counter()
        workspace = Workspace.init(root, settings=settings, clock=lambda: now[0])
        for number in range(lines):
            if number and number % (lines // days) == 0:
                now[0] = (now[0] + timedelta(days=1)).replace(hour=8, minute=0)
            now[0] += timedelta(seconds=2)
            text = WORDS[number % len(WORDS)].format(n=number, day=now[0].strftime("%A"))
            workspace.recall.append(Draft("user", "Ann", text, turn=f"t-{number}"))
            if number % every == every - 1:
                workspace.history.commit_recall(closing=True)
            elif number % 32 == 0:
                workspace.history.commit_recall(closing=False)
        now[0] += timedelta(days=1)
        workspace.history.commit_recall(closing=True)
        seconds = time.perf_counter() - start
        workspace.close()
        logs = size(root / "recall")
        before = size(root / ".git")
        count = run(root, "rev-list", "--count", "HEAD")
        run(root, "gc", "-q")
        after = size(root / ".git")
    return (
        f"| {lines} over {days} d | {label} | {logs / 1e3:.0f} | {before / 1e3:.0f} "
        f"| {before / logs:.2f} | {after / logs:.2f} | {count} | {seconds:.0f} |"
    )


def edit(workspace: Workspace, number: int) -> None:
    """Change one line of the block `human`."""
    head = "---\ndescription: The person.\n---\n"
    workspace.tree.replace("core/human.md", f"{head}- Has {number} ducks.\n".encode())


def add_commits(root: Path, count: int) -> None:
    """Add commits that each change one line, by git's own importer."""
    tip = run(root, "rev-parse", "HEAD")
    stream = []
    for number in range(count):
        text = f"- Fact {number}.\n"
        start = f"from {tip}\n" if number == 0 else ""
        stream.append(
            f"commit refs/heads/main\ncommitter A <a@b> {1793500000 + number} +0000\n"
            f"data 2\nx\n{start}M 100644 inline core/facts.md\ndata {len(text)}\n{text}\n"
        )
    run(root, "fast-import", "--quiet", feed="".join(stream))
    run(root, "reset", "-q", "--hard")


def allow_empty(root: Path) -> None:
    """The peer."""
    run(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x")


def timed(action: Callable[[], object]) -> float:
    """Return the seconds an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def run(root: Path, *args: str, feed: str = "") -> str:
    """Run git in the workspace and return its output."""
    done = subprocess.run(
        ["git", "-C", str(root), *args], input=feed, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
