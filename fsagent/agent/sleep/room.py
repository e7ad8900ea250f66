"""Make room in core memory by rules: merge what says the same, move the oldest facts to archival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fsagent.memory.accepting import with_pointer
from fsagent.memory.core import Block
from fsagent.memory.facts import Fact, fact_of, facts_of, near_duplicates
from fsagent.tokens import estimate_text
from fsagent.workspace.references import citation_name

MOST_MERGED_CITES = 6
"""How many citations a merged line keeps, the newest."""


@dataclass
class Room:
    """Blocks' values on their way to fit. `moved` maps a label to the lines that leave for archival."""

    blocks: Mapping[str, Block]
    values: dict[str, str]
    core_tokens: int
    moved: dict[str, list[str]] = field(default_factory=dict)

    def fit(self) -> list[str]:
        """Merge and move until every limit holds; return the blocks whose edits find no room.

        What was too large before and has not grown is a person's to shorten, and hinders nothing.
        """
        for label in self._editable():
            self.values[label] = merged(self.values[label])
            if label in self.moved:
                self.values[label] = with_pointer(self.values[label], label)
        full: list[str] = []
        while (large := self._too_large(full)) is not None:
            oldest = self._oldest(large)
            if oldest is not None:
                self._move(large, oldest)
            else:
                full.append(large)
                self.values[large] = self.blocks[large].value
                self.moved.pop(large, None)
        return full

    def _editable(self) -> list[str]:
        return [label for label, block in self.blocks.items() if not block.read_only]

    def _too_large(self, full: list[str]) -> str | None:
        """Return a block that something has to leave, None where all fit as well as they can."""
        open_to = [label for label in self._editable() if label not in full]
        for label in open_to:
            size, block = len(self.values[label]), self.blocks[label]
            if size > block.limit and (size > block.size or self._oldest(label) is not None):
                return label
        if self._tokens(self.values) <= self.core_tokens:
            return None
        movable = [label for label in open_to if self._oldest(label) is not None]
        before = {label: block.value for label, block in self.blocks.items()}
        grown = [label for label in open_to if self._growth(label) > 0]
        if not movable and self._tokens(self.values) <= self._tokens(before):
            return None
        return max(movable or grown, key=lambda label: len(self.values[label]), default=None)

    def _growth(self, label: str) -> int:
        return estimate_text(self.values[label]) - estimate_text(self.blocks[label].value)

    def _tokens(self, values: Mapping[str, str]) -> int:
        return sum(map(estimate_text, values.values()))

    def _oldest(self, label: str) -> Fact | None:
        """Return the fact with the oldest newest citation; a line without citations is a person's own.

        None of a shared block: others would lose what went into one workspace's archival.
        """
        if self.blocks[label].shared:
            return None
        cited = [
            fact
            for fact in facts_of(self.values[label])
            if fact.citations and not fact.leads and not fact.fixed
        ]
        return min(cited, key=lambda fact: (max(fact.citations), fact.line), default=None)

    def _move(self, label: str, fact: Fact) -> None:
        lines = self.values[label].split("\n")
        del lines[fact.line - 1]
        self.values[label] = with_pointer("\n".join(lines), label)
        self.moved.setdefault(label, []).append(fact.text)


def merged(value: str) -> str:
    """Return a block's value with lines that say the same merged into the later one's place.

    The longer wording stays, with the citations of both. Lines under different headings or list
    items are about different things, whatever they say.
    """
    facts = [fact for fact in facts_of(value) if not fact.leads and not fact.fixed]
    lines = value.split("\n")
    gone: set[int] = set()
    for place, fact in enumerate(facts):
        later = next(
            (
                other
                for other in facts[place + 1 :]
                if fact.citations
                and other.citations
                and fact.under == other.under
                and near_duplicates(fact.words, other.words)
            ),
            None,
        )
        if later is not None:
            lines[later.line - 1] = _both(lines[fact.line - 1], lines[later.line - 1])
            gone.add(fact.line - 1)
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _both(first: str, second: str) -> str:
    """Return the longer of two lines with both lines' citations, where the second stands."""
    a, b = fact_of(first), fact_of(second)
    words = max((b.words, a.words), key=len)
    names = [citation_name(*place) for place in dict.fromkeys([*a.citations, *b.citations])]
    bullet = second[: len(second) - len(second.lstrip())] + "- "
    return f"{bullet}{words} [{', '.join(names[-MOST_MERGED_CITES:])}]"
