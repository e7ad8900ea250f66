"""The log of sleeps beside recall: what each cost and did. Recall itself is never touched by a sleep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fsagent.agent.budget import Spent
from fsagent.memory.workspace import Workspace
from fsagent.types import Usage
from fsagent.workspace.derived import MAX_KEPT_BYTES

if TYPE_CHECKING:
    from fsagent.agent.sleep.report import SleepReport

LOG = "sleep.jsonl"
_LOCK = "sleep"


def write_log(workspace: Workspace, report: SleepReport) -> None:
    """Add a sleep that asked a model to the log."""
    if not report.usage.prompt_tokens:
        return
    recall = workspace.recall
    now = recall.now()
    row = {
        "ts": now.isoformat(),
        "day": recall.path_of(now).rpartition("/")[2].removesuffix(".jsonl"),
        "stop": report.stop,
        "lines": report.lines,
        "landed": report.landed,
        "kept": report.kept,
        "commits": list(report.commits),
        "model": report.model,
        "usage": report.usage.as_dict(),
        "usd": round(report.usd, 6),
    }
    with workspace.tree.lock(_LOCK):
        data = json.dumps(row, ensure_ascii=False).encode()
        workspace.tree.state.append(LOG, data + b"\n")


def sleeps(workspace: Workspace, *, day: str = "") -> Iterator[dict[str, Any]]:
    """Yield the log's rows, those of one day where it is named; lines that cannot be read are left out."""
    data = workspace.tree.state.read(LOG, limit=MAX_KEPT_BYTES) or b""
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and (not day or row.get("day") == day):
            yield row


def usages_asleep(workspace: Workspace) -> Iterator[tuple[str, str, Usage]]:
    """Yield the day, the model and the usage of each sleep."""
    for row in sleeps(workspace):
        usage = Usage.from_dict(row.get("usage") or {})
        yield str(row.get("day")), str(row.get("model")), usage


def spent_asleep(workspace: Workspace, day_path: str) -> Spent:
    """Return what the sleeps of a day used."""
    spent = Spent()
    for row in sleeps(workspace, day=day_path.rpartition("/")[2].removesuffix(".jsonl")):
        usage = row.get("usage") or {}
        spent.tokens += (usage.get("prompt_tokens") or 0) + (usage.get("completion_tokens") or 0)
        spent.usd += row.get("usd") or 0.0
    return spent
