"""Fail or kill a scenario at its n-th storage call, for every n; print what the next start finds.

    python crash_driver.py SCENARIO FOLDER [naive]

`naive` is the control: files written as most programs write them.

A child process is forked for every n: it runs the scenario with a shim over `os`, writes what was
acknowledged into a pipe, and the parent looks at the files. One JSON line on standard output.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fsagent.config import Settings
from fsagent.errors import FsagentError
from fsagent.memory.recall import BadLine, Draft, Recall
from fsagent.memory.workspace import Workspace
from fsagent.workspace import durable

CALLS = (
    *("write", "pwrite", "fdatasync", "fsync", "ftruncate"),
    *("replace", "mkdir", "unlink"),
)
MODES = ("kill", "eio", "enospc")
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
Ack = Callable[[str], None]


class Clock:
    """A clock that the scenario sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


CLOCK = Clock()


def opened(root: Path) -> Workspace:
    return Workspace.open(root, settings=Settings(timezone="UTC"), clock=CLOCK)


def said(text: str, ts: datetime | None = None) -> Draft:
    return Draft(role="user", name="Ann", content=text, ts=ts)


def turn(memory: Workspace, ack: Ack) -> None:
    """Three lines of one day."""
    for number in range(3):
        memory.recall.append(said(f"line {number}"))
        ack(f"line {number}")


def day_change(memory: Workspace, ack: Ack) -> None:
    """A line before midnight, two after it."""
    for number, hours in enumerate((0, 20, 21)):
        CLOCK.now = NOW + timedelta(hours=hours)
        memory.recall.append(said(f"line {number}"))
        ack(f"line {number}")


def imported(memory: Workspace, ack: Ack) -> None:
    """Lines of an older day that has a file already, then one of today."""
    past = NOW - timedelta(days=3)
    memory.recall.append_many([said(f"line {number}", past) for number in range(2)])
    ack("line 0")
    ack("line 1")
    memory.recall.append(said("line 2"))
    ack("line 2")


def edit(memory: Workspace, ack: Ack) -> None:
    """A fact added to a block, then corrected."""
    memory.core.append("human", "- edit 0")
    ack("edit 0")
    memory.core.replace("human", "- edit 0", "- edit 1")
    ack("edit 1")


def insert(memory: Workspace, ack: Ack) -> None:
    """Two notes of one title."""
    for number in range(2):
        memory.archival.insert("A note", f"note {number}")
        ack(f"note {number}")


def torn(root: Path) -> None:
    with (root / "recall/2026/2026-11-30.jsonl").open("ab") as file:
        file.write(b'{"crc":"12345678","seq":3,"ts":"2026-')


SCENARIOS: dict[str, tuple[Callable[[Workspace, Ack], None], Callable[[Path], None] | None]] = {
    "turn": (turn, None),
    "day change": (day_change, None),
    "import": (imported, None),
    "edit": (edit, None),
    "insert": (insert, None),
    "mend": (turn, torn),
}


class Shim:
    """Lets the n-th storage call of this process fail; a full disk stays full."""

    def __init__(self, fail_at: int, mode: str) -> None:
        self.fail_at, self.mode, self.count = fail_at, mode, 0
        for name in CALLS:
            setattr(os, name, self.wrapped(name, getattr(os, name)))

    @property
    def fired(self) -> bool:
        return self.count >= self.fail_at

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count == self.fail_at:
                return self.fail(name, real, args)
            if self.fired and self.mode == "enospc" and name in GROWS:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args, **kwargs)

        return call

    def fail(self, name: str, real: Callable[..., Any], args: Any) -> Any:
        """Die, or fail; half of what was to be written is on the disk, unless it was an EIO."""
        if name in ("write", "pwrite") and self.mode != "eio":
            half = bytes(args[1])[: len(args[1]) // 2]
            written = real(args[0], half, *args[2:])
            if self.mode == "enospc":
                return written
        if self.mode == "kill":
            os._exit(137)
        code = errno.EIO if self.mode == "eio" else errno.ENOSPC
        raise OSError(code, os.strerror(code))


GROWS = ("write", "pwrite", "mkdir")


def write_as_most_programs_do() -> None:
    """The control: no sync, no cutting back, a file rewritten in place, a torn tail not mended."""

    def append(fd: int, data: bytes, *, new_in: int | None = None) -> int:
        del new_in
        return os.write(fd, data)

    def replace_at(folder_fd: int, leaf: str, data: bytes, *, mode: int = 0o644) -> None:
        fd = os.open(leaf, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode, dir_fd=folder_fd)
        os.write(fd, data)
        os.close(fd)

    durable.append, durable.replace_at = append, replace_at
    Recall._mend = lambda self, path, size: None  # type: ignore[method-assign]


def child(scenario: str, root: Path, fail_at: int, mode: str, pipe: int) -> None:
    """Run a scenario under the shim; the pipe tells what was acknowledged and how it ended."""
    write = os.write
    memory = opened(root)
    broken = Shim(fail_at, mode)
    ending = "done"
    try:
        SCENARIOS[scenario][0](memory, lambda text: write(pipe, f"ack {text}\n".encode()) and None)
    except FsagentError as err:
        ending = "unsettled" if isinstance(err.__cause__, durable.NotSettled) else "told"
    except BaseException as err:
        ending = f"crash {type(err).__name__}: {err}"
    write(pipe, f"{ending if broken.fired else 'not reached'}\n".encode())
    os._exit(0)


def run(scenario: str, root: Path, fail_at: int, mode: str) -> tuple[list[str], str]:
    """Return what a child acknowledged, and how it ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(scenario, root, fail_at, mode, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    os.waitpid(pid, 0)
    acked = [line[4:] for line in lines if line.startswith("ack ")]
    ending = next((line for line in lines if not line.startswith("ack ")), "killed")
    return acked, ending


def looked_at(root: Path, acked: list[str], ending: str) -> list[str]:
    """Return the verdict, or that the next start could not even read the files."""
    try:
        return verdict(root, acked, ending)
    except Exception as err:
        return [f"unreadable: {type(err).__name__}: {err}"]


def verdict(root: Path, acked: list[str], ending: str) -> list[str]:
    """Return what is wrong with the files a run left, nothing where all is well."""
    wrong = [ending] if ending.startswith("crash") else []
    CLOCK.now = NOW + timedelta(hours=1)
    with opened(root) as memory:
        texts = words(memory)
        for text in acked:
            superseded = text == "edit 0" and "edit 1" in texts
            if not superseded and texts.count(text) != 1:
                wrong.append(f"lost: {text} stands {texts.count(text)} times")
        wrong += [f"twice: {text}" for text in set(texts) if texts.count(text) > 1]
        if ending == "told":
            wrong += [f"told unsaved, yet saved: {text}" for text in set(texts) - set(acked) - OLD]
        memory.recall.append(said("after"))
        memory.core.append("persona", "- after")
        bad: list[BadLine] = []
        found = [
            record for day in memory.recall.days() for _, record in memory.recall.read(day, bad)
        ]
        seqs = [record.seq for record in found]
        if len(set(seqs)) != len(seqs):
            wrong.append(f"seq given twice: {sorted(seqs)}")
        if found and max(seqs) != next((r.seq for r in found if r.content == "after"), 0):
            wrong.append("seq does not order")
        today = memory.recall.path_of(CLOCK.now)
        wrong += [f"unreadable: {item}" for item in bad if item.path == today]
    return wrong


OLD = {"old", "before", "edit 0"}


def words(memory: Workspace) -> list[str]:
    """Return the scenario's words wherever they stand."""
    texts = [r.content for day in memory.recall.days() for _, r in memory.recall.read(day)]
    texts += [line[2:] for line in memory.core.block("human").value.splitlines()]
    for entry in memory.archival.entries():
        texts += [
            line
            for line in memory.tree.read_text(entry.path).splitlines()
            if line.startswith("note ")
        ]
    return texts


def main() -> None:
    """Run one scenario at every point and print the tally."""
    scenario, folder = sys.argv[1], Path(sys.argv[2])
    base = folder / "base"
    with Workspace.init(base, settings=Settings(timezone="UTC"), clock=CLOCK) as memory:
        memory.recall.append_many([said("old", NOW - timedelta(days=3)), said("before")])
    prepare = SCENARIOS[scenario][1]
    if prepare:
        prepare(base)
    if sys.argv[3:] == ["naive"]:
        write_as_most_programs_do()
    points, wrong = 0, []
    for mode in MODES:
        for fail_at in range(1, 500):
            root = folder / "run"
            shutil.copytree(base, root)
            acked, ending = run(scenario, root, fail_at, mode)
            if ending != "not reached":
                points += 1
                wrong += [f"{mode} at {fail_at}: {text}" for text in looked_at(root, acked, ending)]
            shutil.rmtree(root)
            if ending == "not reached":
                break
    print(json.dumps({"scenario": scenario, "points": points, "wrong": wrong}))


if __name__ == "__main__":
    main()
