"""What an audit finds: a kind, a place, what is wrong, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsagent.memory.blocks import Block
from fsagent.memory.facts import Fact

KINDS = {
    "unreadable": "a block or a waiting patch that cannot be read",
    "over-budget": "a block over its limit, or all blocks over core_tokens",
    "duplicate": "two facts in the same words",
    "near-duplicate": "two facts that say the same in nearly the same words",
    "contradiction": "two values of one attribute of one person",
    "stale": "a plan or task whose day is over, a relative date, an age of long ago",
    "uncited": "a fact that names no line it rests on",
    "broken-citation": "a citation of a line that is not there, or whose words do not support the fact",
    "secret": "what looks like a password, key or token, anywhere in memory",
    "index-drift": "an index that does not hold what the files hold",
}
"""Every kind of finding, in the order in which an audit tells them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `line` is the file's own, 1-based; `advice` says what to do."""

    kind: str
    path: str
    line: int
    text: str
    advice: str

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a finding."""
        return {
            "kind": self.kind,
            "path": self.path,
            "line": self.line,
            "text": self.text,
            "advice": self.advice,
        }


@dataclass(frozen=True, slots=True)
class Placed:
    """A fact with its block and its line in the block's file."""

    block: Block
    fact: Fact
    line: int

    @property
    def where(self) -> str:
        """How to name the fact's place: `core/human.md:7`."""
        return f"{self.block.path}:{self.line}"

    def finding(self, kind: str, text: str, advice: str) -> Finding:
        """Return a finding at this fact."""
        return Finding(kind, self.block.path, self.line, text, advice)
