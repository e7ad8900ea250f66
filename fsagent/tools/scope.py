"""What the tools of one agent share: the workspace, the search, the windows, the turn under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from fsagent.memory.trust import Lineage
from fsagent.memory.workspace import Workspace
from fsagent.tokens import BYTES_PER_TOKEN
from fsagent.tools.taint import Taint
from fsagent.tools.windows import Windows
from fsagent.types import HitPage

RESULT_SHARE = 0.15
"""The share of the context that one tool result may fill."""

MIN_RESULT_BYTES, MAX_RESULT_BYTES = 1_500, 16_000


class Finder(Protocol):
    """The ranked search, as the tools use it."""

    def search(
        self,
        query: str,
        *,
        path: str = ".",
        speaker: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[str] | None = None,
        limit: int = 10,
        offset: int = 0,
        exclude_turn: str | None = None,
    ) -> HitPage:
        """Return a page of hits, best first."""
        ...


@dataclass(slots=True)
class Scope:
    """The state that the file and memory tools work on.

    `turn` is the id of the turn under way, so that no search finds the question it answers;
    `turn_start` is the path and line where that turn begins in recall, None where it is not kept.
    """

    workspace: Workspace
    search: Finder
    windows: Windows
    context_tokens: int
    turn: str | None = None
    turn_start: tuple[str, int] | None = None
    writes: list[str] = field(default_factory=list)
    """The paths this turn has written, in order."""
    taint: Taint = field(init=False)
    """The untrusted text in front of the model."""

    def __post_init__(self) -> None:
        self.taint = Taint(Lineage(self.workspace.tree))

    @property
    def result_bytes(self) -> int:
        """How large one tool result may be."""
        share = int(self.context_tokens * RESULT_SHARE) * BYTES_PER_TOKEN
        return max(MIN_RESULT_BYTES, min(MAX_RESULT_BYTES, share))


def clip_bytes(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` UTF-8 bytes, at a character."""
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
