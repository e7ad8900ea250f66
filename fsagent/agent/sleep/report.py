"""What a sleep did, and what one would read."""

from __future__ import annotations

from dataclasses import dataclass, field

from fsagent.agent.sleep.gates import Verdict
from fsagent.types import Usage


@dataclass(frozen=True, slots=True)
class SleepReport:
    """What a sleep did.

    `stop` is one of landed, nothing, proposed, deferred, cancelled, failed, max_sleep_tokens,
    max_sleep_usd, max_day_tokens, max_day_usd; `text` says it in a sentence. `commits` are their
    names, `verdicts` one for each edit proposed, `lines` how many lines were read.
    """

    stop: str
    text: str
    lines: int = 0
    commits: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    diff: str = ""
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    model: str = ""

    @property
    def landed(self) -> int:
        """How many edits passed the gates."""
        return sum(one.outcome == "pass" for one in self.verdicts)

    @property
    def kept(self) -> int:
        """How many edits wait for review."""
        return sum(one.outcome == "keep" for one in self.verdicts)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a sleep would read, without asking a model. `requests` is how often it would ask."""

    lines: int
    requests: int
    prompt_tokens: int
    model: str
    usd: float | None
