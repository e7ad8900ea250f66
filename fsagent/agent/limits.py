"""Hold a turn to its budgets: steps, tokens, money, and the same call again and again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fsagent.types import ToolCall

WARN_CALLS, STOP_CALLS = 3, 5
"""An identical call is warned of at the third time and ends the turn at the fifth."""

CUT: Mapping[str, str] = {
    "length": "The reply was cut at its token limit; the rest is missing (setting max_tokens).",
    "content_filter": "The reply was cut by the server's content filter.",
}
"""The stops of a reply that is not whole, as the person is told."""

MAX_NUDGES = 2
"""How often an empty reply is asked for again."""


class TurnStopped(Exception):
    """The turn ends here. `stop` names why; the text is for the person."""

    def __init__(self, stop: str, text: str) -> None:
        self.stop = stop
        super().__init__(text)


@dataclass(slots=True)
class Repeats:
    """Count identical calls of one turn."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def check(self, call: ToolCall) -> str | None:
        """Count a call; return a warning that takes the place of its result, None to run it.

        Raises `TurnStopped` at the fifth identical call.
        """
        key = (call.name, _canonical(call.arguments))
        self.counts[key] += 1
        count = self.counts[key]
        if count >= STOP_CALLS:
            raise TurnStopped(
                "repeated_call",
                f"I stopped: {call.name} was called {count} times with the same arguments.",
            )
        if count >= WARN_CALLS:
            return (
                f"Not run: this is call number {count} of {call.name} with the same arguments in "
                "this turn, and its result does not change. Use what it gave, try other words or "
                "another tool, or answer."
            )
        return None


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
