"""Prices of models, US dollars per million tokens, with the day they were read."""

from __future__ import annotations

from dataclasses import dataclass

DATED = "2025-06-01"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    prompt: float
    cached: float
    completion: float


PRICES = {
    "gpt-4o-mini": Price(0.15, 0.075, 0.60),
    "gpt-4o": Price(2.50, 1.25, 10.00),
    "gpt-4.1": Price(2.00, 0.50, 8.00),
    "gpt-4.1-mini": Price(0.40, 0.10, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.025, 0.40),
}


def dollars(
    model: str | None, *, prompt_tokens: int, cached_tokens: int, completion_tokens: int
) -> float | None:
    """Return what the tokens cost, 0 for models of this machine, None for an unknown price."""
    if model is None or model == "offline" or model.startswith("scripted:"):
        return 0.0
    price = PRICES.get(model)
    if price is None:
        return None
    fresh = prompt_tokens - cached_tokens
    return (
        fresh * price.prompt + cached_tokens * price.cached + completion_tokens * price.completion
    ) / 1_000_000
