"""What the tests of sleep share: things said, patches, and recall's hash."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import call
from fsagent.types import Completion

DAY = "2026-11-29"
"""The day on which the workspace's clock stands."""


def say(workspace: Workspace, *texts: str, name: str = "Anna") -> list[str]:
    """Put a person's messages into recall, each a finished turn; return their citations."""
    cites = []
    for text in texts:
        turn = f"turn-{len(workspace.recall.tail(10_000))}"
        drafts = [
            Draft("system", "fsagent", "", turn=turn, session="s", kind="begin"),
            Draft("user", name, text, turn=turn, session="s"),
            Draft("assistant", "assistant", "Noted.", turn=turn, session="s"),
            Draft("system", "fsagent", "", turn=turn, session="s", kind="end"),
        ]
        cites.append(workspace.recall.append_many(drafts)[1].citation().strip("[]"))
    return cites


def edit(
    op: str, new: str = "", *cites: str, old: str = "", block: str = "human"
) -> dict[str, Any]:
    """Return one edit as a model writes it."""
    return {"op": op, "block": block, "old": old, "new": new, "cites": list(cites)}


def patch(*edits: Any) -> Completion:
    """Return the reply of a model that proposes these edits."""
    return call("memory_patch", edits=list(edits))


def human(workspace: Workspace, *lines: str) -> str:
    """Write the block `human` as the agent would have long ago; return its value."""
    value = "\n".join(lines)
    workspace.core.write("human", value, base=workspace.core.block("human").value)
    age(workspace, "core/human.md")
    return value


def age(workspace: Workspace, path: str, *, seconds: float = 3600) -> None:
    """Make a file look written a while ago."""
    target = workspace.root / path
    then = target.stat().st_mtime - seconds
    os.utime(target, (then, then))


def recall_hash(workspace: Workspace) -> str:
    """Return a hash over every recall file's name and bytes, read from the tree."""
    digest = hashlib.sha256()
    for path in sorted((workspace.root / "recall").rglob("*.jsonl")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def value_of(workspace: Workspace, label: str = "human") -> str:
    """Return a block's value."""
    return workspace.core.block(label).value


def reasons(workspace: Workspace) -> list[str]:
    """Return why edits wait for review."""
    return [reason for one in workspace.review.all() for reason in one.reasons]


def filler(count: int, *, width: int = 60) -> Sequence[str]:
    """Return cited lines that have nothing in common."""
    words = (
        "amber",
        "birch",
        "cedar",
        "dunes",
        "ember",
        "fjord",
        "grove",
        "haven",
        "islet",
        "jetty",
    )
    return [
        f"- Keeps {words[n % 10]}{n} {'x' * (width - 40)}{n} in box {n}. [{DAY}:{n + 1}]"
        for n in range(count)
    ]
