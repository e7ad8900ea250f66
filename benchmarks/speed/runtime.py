"""Measure the runtime without the model: overhead a step as recall grows, and the stable prefix.

    python benchmarks/speed/runtime.py [FOLDER]

Each step assembles the context, takes a reply apart, runs a `list_files` of an empty folder and
keeps everything in recall, with its syncs; the model is a script. FOLDER should lie on the disk to
be measured (default: a temporary folder).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from fsagent.agent.loop import Agent
from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted, call
from fsagent.types import Completion

SIZES = (10, 1_000, 100_000)
A_DAY = 1_000
TURNS = 60
CHAT_TURNS = 50
START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        steps = {size: step_ms(Path(folder) / f"recall-{size}", size) for size in SIZES}
        print("| messages in recall | ms a step, median | ratio |\n|---|---|---|")
        for size, ms in steps.items():
            print(f"| {size:,} | {ms:.2f} | {ms / steps[SIZES[0]]:.2f} |")
        shares = unchanged_shares(Path(folder) / "chat")
        print(
            f"\nprompt unchanged from turn to turn over {CHAT_TURNS} turns: "
            f"mean {statistics.mean(shares):.1%}, least {min(shares):.1%}"
        )


def step_ms(root: Path, messages: int) -> float:
    """Return the median time of a step in a workspace with so many messages, in ms."""
    settings = Settings(timezone="UTC")
    with Workspace.init(root, settings=settings) as workspace:
        fill(workspace, messages)
        agent = Agent(workspace, Scripted(replies()), history=False)
        times = []
        for number in range(TURNS):
            begun = time.perf_counter()
            steps = agent.run(f"Message {number}: what is in the notes?").steps
            times.append((time.perf_counter() - begun) * 1000 / steps)
    return statistics.median(times[TURNS // 6 :])


def fill(workspace: Workspace, messages: int) -> None:
    """Write so many messages, a thousand a day."""
    workspace.recall.append_many(
        Draft(
            "user",
            "Ann",
            f"Message {number}: I went to the market and bought {number % 17} apples.",
            turn=f"t{number}",
            ts=START + timedelta(days=number // A_DAY, seconds=number % A_DAY),
        )
        for number in range(messages)
    )


def replies() -> Iterator[Completion | str]:
    """Yield a call and an answer by turns."""
    while True:
        yield call("list_files", path="archival/notes")
        yield "There is nothing in the notes yet, as far as I can see."


def unchanged_shares(root: Path) -> list[float]:
    """Return what share of each turn's first prompt stood at the head of the turn before's."""
    model = Scripted(replies())
    with Workspace.init(root, settings=Settings(timezone="UTC")) as workspace:
        agent = Agent(workspace, model, history=False)
        firsts = []
        for number in range(CHAT_TURNS):
            at = len(model.requests)
            agent.run(f"Turn {number}: I went to the market and bought {number} apples. And now?")
            firsts.append(model.requests[at])
    texts = [repr(request.tools) + "".join(map(repr, request.messages)) for request in firsts]
    return [common(before, after) / len(before) for before, after in pairwise(texts)]


def common(before: str, after: str) -> int:
    """Return how many characters two texts share at their head."""
    pairs = zip(before, after, strict=False)
    return next(
        (place for place, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after))
    )


if __name__ == "__main__":
    main()
