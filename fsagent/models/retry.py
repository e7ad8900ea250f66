"""How long to wait before a request is sent again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRIES = 4
MAX_REFUSED_RETRIES = 2
BACKOFF_S = 0.5
MAX_WAIT_S = 60.0


def wait_s(attempt: int, retry_after_s: float | None, *, dice: random.Random) -> float:
    """Return the seconds to wait before retry number `attempt` (0 is the first).

    What the server asks for is a lower bound, up to `MAX_WAIT_S`; without it the wait doubles.
    Both carry jitter, so that clients which failed together do not come back together.
    """
    if retry_after_s is not None:
        asked = min(max(retry_after_s, 0.0), MAX_WAIT_S)
        return asked + dice.uniform(0.0, 0.1 * asked + 0.1)
    return min(BACKOFF_S * 2.0**attempt, MAX_WAIT_S) * dice.uniform(0.5, 1.0)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that `Retry-After` (seconds or an HTTP date) or `Retry-After-Ms` asks for."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is not None and (seconds := _number(text)) is not None:
            return max(seconds / unit, 0.0)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:  # a date in "-0000" is UTC by RFC 5322
        moment = moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)


def _number(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
