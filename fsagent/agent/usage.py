"""What turns and sleeps cost: tokens and money by role and day, as recall and the sleep log hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fsagent.agent.budget import Price, Spent
from fsagent.agent.sleep.log import spent_asleep, usages_asleep
from fsagent.errors import PathRejected
from fsagent.memory.recall import Recall
from fsagent.memory.workspace import Workspace
from fsagent.types import Usage
from fsagent.workspace.records import Record


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What one role used of one model on one day. `usd` is None where the price is unknown.

    `estimated` says that the server did not report all of it.
    """

    day: str
    role: str
    model: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    usd: float | None
    estimated: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}


def usage_report(workspace: Workspace, *, since: str = "") -> tuple[UsageRow, ...]:
    """Return what was used from day `since` (`2026-11-01`) on, by day, role and model."""
    sums: dict[tuple[str, str, str], list[Usage]] = {}
    for path in workspace.recall.days():
        day = path.rpartition("/")[2].removesuffix(".jsonl")
        if day < since:
            continue
        for _, (role, model, usage) in _usages(workspace.recall, path):
            sums.setdefault((day, role, model), []).append(usage)
    for day, model, usage in usages_asleep(workspace):
        if day >= since:
            sums.setdefault((day, "sleep", model), []).append(usage)
    return tuple(_row(*key, usages) for key, usages in sorted(sums.items()))


def spent_in(recall: Recall, path: str, price: Price) -> Spent:
    """Return what one day's file says was used."""
    spent = Spent()
    for _, (_, model, usage) in _usages(recall, path):
        spent.add(usage, price(model, usage))
    return spent


@dataclass(slots=True)
class DaySpent:
    """What a day has used so far, by all processes and asleep too; reads only what was added since."""

    workspace: Workspace
    price: Price
    path: str = ""
    line: int = 0
    awake: Spent = field(default_factory=Spent)

    def until_now(self, path: str) -> Spent:
        """Return what the day of this file has used."""
        if path != self.path:
            self.path, self.line, self.awake = path, 0, Spent()
        for line, (_, model, usage) in _usages(self.workspace.recall, path, after=self.line):
            self.line = line
            self.awake.add(usage, self.price(model, usage))
        spent = spent_asleep(self.workspace, path)
        spent.tokens, spent.usd = spent.tokens + self.awake.tokens, spent.usd + self.awake.usd
        return spent


def known_price(model: str, usage: Usage) -> float | None:
    """Return what a usage costs in USD by the dated price table, None for a model not in it."""
    from fsagent.models import prices

    return prices.cost_usd(usage, model)


def _usages(
    recall: Recall, path: str, *, after: int = 0
) -> Iterator[tuple[int, tuple[str, str, Usage]]]:
    """Yield the lines behind line `after` that hold a usage, with its role and model."""
    try:
        for line, record in recall.read(path, after=after):
            if record.usage:
                yield line, (_role(record), record.model or "", Usage.from_dict(record.usage))
    except PathRejected as err:
        if err.code != "MISSING":
            raise


def _role(record: Record) -> str:
    return record.kind if record.kind in ("compaction", "sleep", "judge") else "chat"


def _row(day: str, role: str, model: str, usages: list[Usage]) -> UsageRow:
    total = Usage()
    for usage in usages:
        total += usage
    return UsageRow(
        day,
        role,
        model,
        len(usages),
        total.prompt_tokens or 0,
        total.completion_tokens or 0,
        total.cached_tokens or 0,
        known_price(model, total),
        total.estimated,
    )
