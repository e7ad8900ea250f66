"""Costs come from a dated table that can be overridden."""

import re

import pytest

from fsagent.models.prices import PRICES_OF, Price, cost_usd
from fsagent.types import Usage


@pytest.mark.parametrize(
    ("usage", "model", "cost"),
    [
        (Usage(1_000_000, 0), "gpt-4o-mini", 0.15),
        (Usage(1_000_000, 1_000_000), "gpt-4o-mini-2024-07-18", 0.75),
        (Usage(1_000_000, None, 1_000_000), "openai/gpt-4o", 1.25),
        (Usage(10, 10, 50), "gpt-4o", (10 * 1.25 + 10 * 10) / 1e6),
        (Usage(), "gpt-4o", None),
        (Usage(5, 5), "a-model-nobody-knows", None),
        (Usage(), "offline", 0.0),
    ],
)
def test_cost(usage: Usage, model: str, cost: float | None) -> None:
    assert cost_usd(usage, model) == (None if cost is None else pytest.approx(cost))


def test_a_price_of_ones_own_comes_first() -> None:
    prices = {"gpt-4o": Price(1.0, 1.0, 1.0), "mine": Price(2.0, 2.0, 2.0)}
    assert cost_usd(Usage(1_000_000, 0), "gpt-4o", prices=prices) == 1.0
    assert cost_usd(Usage(1_000_000, 0), "mine", prices=prices) == 2.0


def test_the_table_is_dated() -> None:
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", PRICES_OF)
