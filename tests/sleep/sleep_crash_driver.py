"""Fail or kill a sleep at its n-th storage call, for every n; then sleep again and look.

    python sleep_crash_driver.py FOLDER MODE [naive]

`naive` is the control: files written in place, blocks before archival, the cursor first.

One JSON line on standard output: how many points there were, and what was wrong.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from crash_driver import Shim, opened, write_as_most_programs_do
from sleep_kit import age, edit, human, patch, recall_hash, say

from fsagent.agent.sleep.sleep import sleep
from fsagent.config import Settings
from fsagent.errors import FsagentError
from fsagent.memory.history.log import read_log
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted

KEPT, OUTDATED, RARE = "- Has a dog.", "- Lives in Beijing.", "- Had a boat in 2001."
NEW = ("- Lives in Porto.", "- Sister Maria is a nurse.", "- Call the person Captain.")


def model(day: str) -> Scripted:
    """Return the model that proposes the same patch each time it is asked."""
    step = patch(
        edit("replace", NEW[0], f"{day}:2", old=OUTDATED),
        edit("add", NEW[1], f"{day}:6"),
        edit("add", NEW[2], f"{day}:10", block="persona"),
        edit("archive", old=RARE),
    )
    return Scripted([step] * 3)


def prepare(root: Path) -> str:
    """Lay the workspace that every run starts from; return the day."""
    with Workspace.init(root, settings=Settings(timezone="UTC")) as memory:
        say(memory, "I live in Porto now.", "My sister Maria is a nurse.", "Call me Captain, you.")
        day = memory.recall.days()[-1].rpartition("/")[2].removesuffix(".jsonl")
        human(memory, *[f"{line} [{day}:2]" for line in (KEPT, OUTDATED, RARE)])
        age(memory, "core/persona.md")
        memory.history.look()
        memory.recall.append(say_more())
        return day


def say_more():  # type: ignore[no-untyped-def]
    from fsagent.memory.recall import Draft

    return Draft("system", "fsagent", "", turn="last", session="s", kind="end")


def run(root: Path, day: str, fail_at: int, mode: str) -> str:
    """Sleep in a child under the shim; return how it ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        write, ending = os.write, "done"
        with_memory = Workspace.open(root, settings=Settings(timezone="UTC"))
        broken = Shim(fail_at, mode)
        try:
            report = sleep(with_memory, model(day))
            ending = report.stop
        except FsagentError:
            ending = "told"
        except BaseException as err:
            ending = f"crash {type(err).__name__}: {err}"
        write(writing, f"{ending if broken.fired else 'not reached'}\n".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        ending = pipe.read().strip()
    os.waitpid(pid, 0)
    return ending or "killed"


def wrong_after(root: Path, day: str, ending: str, before: str) -> list[str]:
    """Return what is wrong with the files a run left, and after the sleep that follows it."""
    wrong = [ending] if ending.startswith("crash") else []
    with Workspace.open(root, settings=Settings(timezone="UTC")) as memory:
        wrong += checked(memory, before, whole=ending == "landed")
        for path in ("core/human.md", "core/persona.md"):
            age(memory, path)
        sleep(memory, model(day))
        wrong += [f"later: {text}" for text in checked(memory, before, whole=True)]
        if sleep(memory, Scripted([])).lines:
            wrong.append("the cursor did not move")
        by = {commit.by for commit in read_log(memory.history.repository.git, "HEAD")[:-1]}
        if "outside" in by:
            wrong.append("a sleep's edit was taken for a person's")
        wrong += [f"waits for review: {one.reasons}" for one in memory.review.all()]
    return wrong


def checked(memory: Workspace, before: str, *, whole: bool) -> list[str]:
    """Return which lines are lost or stand twice; with `whole`, what of the patch is missing."""
    core = [
        line.partition(" [")[0]
        for block in memory.core.blocks()
        for line in block.value.split("\n")
    ]
    note = "archival/notes/about-human.md"
    moved = memory.tree.read_text(note).split("\n") if memory.tree.exists(note) else []
    archived = [line.partition(" [")[0] for line in moved]
    wrong = ["recall changed"] if recall_hash(memory) != before else []
    wrong += [f"twice: {line}" for line in (KEPT, OUTDATED, RARE, *NEW) if core.count(line) > 1]
    wrong += [f"twice in archival: {line}" for line in {*archived} if archived.count(RARE) > 1]
    wrong += ["lost: the dog"] if KEPT not in core else []
    wrong += ["lost: the boat"] if RARE not in core and RARE not in archived else []
    wrong += ["lost: the home"] if OUTDATED not in core and NEW[0] not in core else []
    if whole:
        wrong += [f"missing: {line}" for line in NEW if line not in core]
        wrong += [f"still there: {line}" for line in (OUTDATED, RARE) if line in core]
    return wrong


def land_carelessly() -> None:
    """The control: note the cursor, then write the blocks, then what left them."""
    from fsagent.agent.sleep import sleep as module
    from fsagent.agent.sleep.cursor import Cursor, write_cursor
    from fsagent.agent.sleep.patch import Patch

    def land(memory: Workspace, made: Patch, *, model: str, cost: str) -> None:
        write_cursor(memory, Cursor(made.seq))
        for label in made.changed:
            memory.core.write(label, made.values[label], base=made.base[label])
        for label, lines in made.moved.items():
            memory.archival.extend(f"archival/notes/about-{label}.md", label, lines)

    module.land = land  # type: ignore[assignment]


def main() -> None:
    """Run one mode at every point and print the tally."""
    folder, mode = Path(sys.argv[1]), sys.argv[2]
    base = folder / "base"
    day = prepare(base)
    with opened(base) as memory:
        before = recall_hash(memory)
    if sys.argv[3:] == ["naive"]:
        write_as_most_programs_do()
        land_carelessly()
    points, wrong = 0, []
    for fail_at in range(1, 1000):
        root = folder / "run"
        shutil.copytree(base, root)
        ending = run(root, day, fail_at, mode)
        if ending == "not reached":
            break
        points += 1
        wrong += [f"{mode} {fail_at}: {text}" for text in wrong_after(root, day, ending, before)]
        shutil.rmtree(root)
    print(json.dumps({"points": points, "wrong": wrong}))


if __name__ == "__main__":
    main()
