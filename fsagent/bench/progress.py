"""How far a run is, what it has cost, and when going on would measure a fault."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fsagent.bench.rundir import Row
from fsagent.errors import FsagentError
from fsagent.models.prices import PriceList, cost_usd
from fsagent.types import Usage

EMPTY_SHARE = 0.05
"""With more empty contexts than this the run stops: the store or the search is broken."""

EMPTY_ALLOWED = 3
"""So many empty contexts are no sign yet, however few the questions."""

ERRORS_IN_A_ROW = 8
"""So many failures one after another mean an outage; the run stops and can be resumed."""

NAMED = 12
"""Failing questions that a sentence names before it says how many more there are."""


class RunStopped(FsagentError):
    """The run stopped itself; what was answered is kept and `--resume` goes on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `row` is the newest prediction, None at the start and for verdicts.

    `usd` is what the tokens so far cost, None where the model's price is unknown.
    """

    done: int
    total: int
    errors: int
    usage: Usage
    usd: float | None
    row: Row | None = None
    stage: Literal["questions", "verdicts"] = "questions"


OnProgress = Callable[[Progress], None]


class Watch:
    """Counts what has come in, and stops a run that measures a fault.

    `chooses`: the system looks only where its model asks to, so that an empty context without a
    tool call is the model's doing and no fault.
    """

    def __init__(
        self,
        total: int,
        rows: Sequence[Row],
        *,
        model: str | None,
        prices: PriceList,
        watching: bool,
        chooses: bool,
    ) -> None:
        self._total, self._model, self._prices = total, model, prices
        self._chooses, self._watching = chooses, watching
        self._done = self._empty = 0
        self._usage = Usage()
        self._failed: list[Row] = []
        self._in_a_row: list[Row] = []
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        """Count a prediction."""
        self._done += 1
        failed = row["error"] is not None
        if failed:
            self._failed.append(row)
        self._in_a_row = [*self._in_a_row, row] if failed else []
        looked = bool(row["tool_calls"]) or not self._chooses
        self._empty += looked and not failed and not row["shown_tokens"]
        self._usage += Usage(**row["usage"])

    def progress(self, row: Row | None) -> Progress:
        """Return how far the run is."""
        usd = cost_of(self._usage, self._model, self._prices) if self._done else 0.0
        return Progress(self._done, self._total, len(self._failed), self._usage, usd, row)

    def check(self) -> None:
        """Raise `RunStopped` for an outage, or for a context that stays empty too often."""
        if len(self._in_a_row) >= ERRORS_IN_A_ROW:
            raise RunStopped(
                f"stopped: {len(self._in_a_row)} questions in a row failed "
                f"({named(self._in_a_row)}), the last with: {self._in_a_row[-1]['error']}. "
                "What was answered is kept; add --resume when the cause is gone"
            )
        allowed = max(EMPTY_ALLOWED, math.ceil(EMPTY_SHARE * self._total))
        if self._watching and self._empty > allowed:
            raise RunStopped(
                f"stopped: the context was empty for {self._empty} of {self._done} questions; "
                "the figures would measure a broken store or search, not a memory"
            )


def named(rows: Sequence[Row]) -> str:
    """Return the questions of rows as a person finds them: `conv-26 #3, #4; conv-30 #0`."""
    by_sample: dict[str, list[str]] = {}
    for row in rows[:NAMED]:
        by_sample.setdefault(row["sample_id"], []).append(f"#{row['qa_index']}")
    text = "; ".join(f"{sample} {', '.join(places)}" for sample, places in by_sample.items())
    more = len(rows) - NAMED
    return f"{text} and {more} more" if more > 0 else text


def cost_of(usage: Usage, model: str | None, prices: PriceList) -> float | None:
    """Return what a run's tokens cost in US dollars, None where the price is unknown.

    No model and a scripted one cost nothing.
    """
    if model is None or model.startswith("scripted:"):
        return 0.0
    return cost_usd(usage, model, prices=prices.prices)
