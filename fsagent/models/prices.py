"""What tokens cost: a dated table, to be overridden where it is out of date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsagent.errors import ConfigError
from fsagent.types import Usage

PRICES_OF = "2026-03-21"
"""The day the table was written. A provider's own page is right where it differs."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    cached: float
    completion: float


PRICES: Mapping[str, Price] = {
    "gpt-4o": Price(2.50, 1.25, 10.00),
    "gpt-4o-mini": Price(0.15, 0.075, 0.60),
    "gpt-4.1": Price(2.00, 0.50, 8.00),
    "gpt-4.1-mini": Price(0.40, 0.10, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.025, 0.40),
    "gpt-5": Price(1.25, 0.125, 10.00),
    "gpt-5-mini": Price(0.25, 0.025, 2.00),
    "gpt-5-nano": Price(0.05, 0.005, 0.40),
    "gpt-5.1": Price(1.25, 0.125, 10.00),
    "gpt-5.4": Price(2.50, 0.25, 15.00),
    "o3": Price(2.00, 0.50, 8.00),
    "o4-mini": Price(1.10, 0.275, 4.40),
    "offline": Price(0.0, 0.0, 0.0),
}


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices that come before the table's, and the day they are of."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    of: str = PRICES_OF


_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest|preview)$")


def cost_usd(
    usage: Usage, model: str, *, prices: Mapping[str, Price] | None = None
) -> float | None:
    """Return the cost of a usage in US dollars, None where the price or the usage is unknown.

    `prices` come before the table. A model is known by its name, without the date behind it and
    without the provider before it.
    """
    price = price_of(model, prices=prices)
    if price is None:
        return None
    if price == Price(0.0, 0.0, 0.0):
        return 0.0
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    cached = min(usage.cached_tokens or 0, prompt)
    return (
        (prompt - cached) * price.prompt + cached * price.cached + completion * price.completion
    ) / 1e6


def load_prices(path: Path) -> PriceList:
    """Read a YAML file of prices, in US dollars per million tokens; `cached` may be left out.

    date: 2026-11-01
    models:
      my-model: {prompt: 0.20, cached: 0.05, completion: 0.80}
    """
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as err:
        raise ConfigError(f"cannot read the prices {path}: {err}") from err
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, dict) or not content.get("date"):
        raise ConfigError(
            f"{path} is no list of prices; write `date: 2026-11-01`, then `models:` with lines such "
            "as `my-model: {prompt: 0.20, completion: 0.80}`, in US dollars per million tokens"
        )
    prices = {str(name): _price(entry, f"{path}: {name}") for name, entry in models.items()}
    return PriceList(prices, str(content["date"]))


def _price(entry: Any, where: str) -> Price:
    try:
        prompt, completion = float(entry["prompt"]), float(entry["completion"])
        cached = float(entry.get("cached", prompt))
    except (AttributeError, KeyError, TypeError, ValueError) as err:
        raise ConfigError(
            f"{where} is {entry!r}; write {{prompt: 0.20, completion: 0.80}}"
        ) from err
    if not all(0 <= value < float("inf") for value in (prompt, cached, completion)):
        raise ConfigError(f"{where} is {entry!r}; a price is 0 or more")
    return Price(prompt, cached, completion)


def price_of(model: str, *, prices: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of a model, None where it is unknown."""
    known = {**PRICES, **(prices or {})}
    bare = model.rpartition("/")[2]
    for name in (model, bare, _DATE.sub("", bare)):
        if name in known:
            return known[name]
    return None
