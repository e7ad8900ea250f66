"""Several processes and threads on one workspace: nothing lost, nothing mixed."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace

APPENDER = """
import sys
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Workspace.open(root) as memory:
    print("ready", flush=True); sys.stdin.readline()
    for number in range(count):
        text = f"{name} {number} " + "x" * (number % 7 * 300)
        reference = memory.recall.append(Draft("user", name, text))
        print(reference.path, reference.line, reference.seq, text, flush=True)
"""

EDITOR = """
import sys
from fsagent.memory.workspace import Workspace
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Workspace.open(root) as memory:
    print("ready", flush=True); sys.stdin.readline()
    for number in range(count):
        memory.core.append("human", f"- {name} {number}!")
        memory.core.replace("human", f"- {name} {number}!", f"- {name} {number}.")
"""

NAIVE = """
import sys
from pathlib import Path
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = Path(root) / "core" / "human.md"
print("ready", flush=True); sys.stdin.readline()
for number in range(count):
    text = path.read_text()
    path.write_text(text + f"- {name} {number}.\\n")
"""

WRITERS = ("ann", "bob", "cem", "dee")


def together(program: str, root: Path, count: int) -> list[list[str]]:
    """Run four writers at once; return the lines each printed."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(root), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in WRITERS
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs: list[list[str]] = []
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        out, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        outputs.append(out.splitlines())
    return outputs


@pytest.fixture
def shared(fast_folder: Path) -> Path:
    root = fast_folder / "mem"
    Workspace.init(root, settings=Settings(timezone="UTC", core_tokens=100_000)).close()
    (root / "fsagent.yaml").write_text("core_tokens: 100000\n", encoding="utf-8")
    block = root / "core" / "human.md"
    block.write_text("---\nlimit: 1000000\n---\n", encoding="utf-8")
    return root


def test_four_processes_append_without_losing_a_line(
    shared: Path, nightly: bool, suite_line: list[str]
) -> None:
    count = 1000 if nightly else 60
    acknowledged = [line.split(" ", 3) for out in together(APPENDER, shared, count) for line in out]
    with Workspace.open(shared) as memory:
        found = {
            (path, number): record
            for path in memory.recall.days()
            for number, record in memory.recall.read(path)
        }
    lost = [
        line
        for line in acknowledged
        if (record := found.get((line[0], int(line[1])))) is None
        or (str(record.seq), record.content) != (line[2], line[3])
    ]
    seqs = [record.seq for record in found.values()]
    suite_line.append(
        f"concurrent appends: {len(acknowledged)} lines of 4 writers: {len(lost)} lost, "
        f"{len(seqs) - len(set(seqs))} seq given twice"
    )
    assert lost == []
    assert sorted(seqs) == list(range(1, len(WRITERS) * count + 1))


def test_four_processes_edit_one_block_without_losing_an_edit(
    shared: Path, nightly: bool, suite_line: list[str]
) -> None:
    count = 200 if nightly else 25
    together(EDITOR, shared, count)
    with Workspace.open(shared) as memory:
        lines = memory.core.block("human").value.splitlines()
    wanted = {f"- {name} {number}." for name in WRITERS for number in range(count)}
    lost = len(wanted) - len(wanted & set(lines))
    suite_line.append(f"concurrency: {2 * len(wanted)} edits: {lost} lost")
    assert lost == 0
    assert len(lines) == len(wanted)


def test_the_writers_bite_a_block_written_without_a_lock(shared: Path) -> None:
    """The control."""
    together(NAIVE, shared, 200)
    text = (shared / "core" / "human.md").read_text(encoding="utf-8")
    assert text.count("\n- ") < len(WRITERS) * 200


def test_threads_and_a_second_opening_of_one_process_append_in_turn(shared: Path) -> None:
    first, second = Workspace.open(shared), Workspace.open(shared)

    def write(memory: Workspace, name: str) -> None:
        for number in range(30):
            memory.recall.append(Draft("user", name, f"{name} {number}"))

    threads = [
        threading.Thread(target=write, args=(memory, f"w{index}"))
        for index, memory in enumerate((first, first, second, second))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [record for path in first.recall.days() for _, record in first.recall.read(path)]
    assert [record.seq for record in records] == list(range(1, 121))
    first.close()
    second.close()


def test_two_openings_write_to_two_old_days_in_turn(shared: Path) -> None:
    """An append to an older file leaves the newest one as it was: seq must go on all the same."""
    from datetime import UTC, datetime

    first, second = Workspace.open(shared), Workspace.open(shared)
    days = [datetime(2026, 1, day, 9, tzinfo=UTC) for day in (1, 2)]
    seqs = []
    for _ in range(3):
        for memory, day in ((first, days[0]), (second, days[1]), (first, days[1])):
            seqs.append(memory.recall.append(Draft("user", "Ann", "x", ts=day)).seq)
    assert seqs == list(range(1, 10))
    first.close()
    second.close()
