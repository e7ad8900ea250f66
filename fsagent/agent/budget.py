"""Count what turns spend, and stop a turn whose tokens or money are used up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fsagent.agent.limits import TurnStopped
from fsagent.config import Settings
from fsagent.types import Usage

Price = Callable[[str, Usage], float | None]
"""Returns what a usage of a model costs in USD, None where its price is unknown."""


def no_price(model: str, usage: Usage) -> float | None:
    """Know no price."""
    return None


@dataclass(slots=True)
class Spent:
    """Tokens and money used so far."""

    tokens: int = 0
    usd: float = 0.0

    def add(self, usage: Usage, usd: float | None) -> None:
        """Add one step."""
        self.tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        self.usd += usd or 0.0


@dataclass(slots=True)
class Budget:
    """The budgets of a turn and of a day. `day` begins with what all have used of it so far."""

    settings: Settings
    price: Price = no_price
    turn: Spent = field(default_factory=Spent)
    day: Spent = field(default_factory=Spent)

    def begin_turn(self, spent_today: Callable[[], Spent]) -> None:
        """Start a turn's count; count the day anew where a day's budget is set."""
        self.turn = Spent()
        limits = (self.settings.max_day_tokens, self.settings.max_day_usd)
        if any(limit is not None for limit in limits):
            self.day = spent_today()

    def add(self, model: str, usage: Usage) -> None:
        """Count one step; `usage` is estimated where the server reported none."""
        usd = self.price(model, usage)
        self.turn.add(usage, usd)
        self.day.add(usage, usd)

    def check(self) -> None:
        """Raise `TurnStopped` where a budget is used up; each stop has the setting's name."""
        settings = self.settings
        for stop, used, limit, unit in (
            ("max_turn_tokens", self.turn.tokens, settings.max_turn_tokens, "tokens"),
            ("max_day_tokens", self.day.tokens, settings.max_day_tokens, "tokens"),
            ("max_turn_usd", self.turn.usd, settings.max_turn_usd, "USD"),
            ("max_day_usd", self.day.usd, settings.max_day_usd, "USD"),
        ):
            if limit is not None and used >= limit:
                span = "today" if "day" in stop else "in this turn"
                raise TurnStopped(
                    stop,
                    f"I stopped: {used:.6g} of {limit:.6g} {unit} are used {span} "
                    f"(setting {stop}).",
                )
