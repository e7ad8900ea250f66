"""What fills an agent's context window, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsagent.agent.context import Section
from fsagent.agent.loop import Agent


@dataclass(frozen=True, slots=True)
class ContextReport:
    """The window's sections in estimated tokens, and how these compare with what servers reported.

    `limit_tokens` is the window less the room kept for a reply; `scale` corrects the estimates.
    """

    sections: tuple[Section, ...]
    used_tokens: int
    limit_tokens: int
    context_tokens: int
    scale: float

    @property
    def free_tokens(self) -> int:
        """What is left before the oldest messages are evicted."""
        return max(0, self.limit_tokens - self.used_tokens)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "sections": {section.name: section.tokens for section in self.sections},
            "used_tokens": self.used_tokens,
            "free_tokens": self.free_tokens,
            "limit_tokens": self.limit_tokens,
            "context_tokens": self.context_tokens,
            "scale": round(self.scale, 3),
        }


def context_report(agent: Agent) -> ContextReport:
    """Return how full the window of an agent's next request is."""
    context = agent.session.context
    return ContextReport(
        sections=context.sections(),
        used_tokens=context.tokens(),
        limit_tokens=context.limit_tokens,
        context_tokens=context.context_tokens,
        scale=context.scale,
    )
