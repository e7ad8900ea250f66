"""Make room in core memory by rules: merge what says the same, move the oldest facts to archival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fsagent.memory.accepting import with_pointer
from fsagent.memory.core import Block
from fsagent.memory.facts import Fact, fact_of, facts_of, near_duplicates
from fsagent.tokens import estimate_text
from fsagent.workspace.references import citation_name


@dataclass
class Room:
    """Blocks' values on their way to fit. `moved` maps a label to the lines that leave for archival."""

    blocks: Mapping[str, Block]
    values: dict[str, str]
    core_tokens: int
    moved: dict[str, list[str]] = field(default_factory=dict)

    def fit(self) -> bool:
        """Merge and move until every limit holds; False where that is not possible."""
        for label in self._editable():
            self.values[label] = merged(self.values[label])
            if label in self.moved:
                self.values[label] = with_pointer(self.values[label], label)
        while (full := self._too_large()) is not None:
            oldest = self._oldest(full)
            if oldest is None:
                return False
            self._move(full, oldest)
        return True

    def _editable(self) -> list[str]:
        return [label for label, block in self.blocks.items() if not block.read_only]

    def _too_large(self) -> str | None:
        """Return the block that something has to leave, None where all fit."""
        for label in self._editable():
            if len(self.values[label]) > self.blocks[label].limit and self._is_ours(label):
                return label
        if sum(map(estimate_text, self.values.values())) <= self.core_tokens:
            return None
        return max(self._editable(), key=self._age, default=None)

    def _is_ours(self, label: str) -> bool:
        """Say whether a block's size is this sleep's to mend: a shared one only where it wrote."""
        block = self.blocks[label]
        return not block.shared or self.values[label] != block.value

    def _age(self, label: str) -> tuple[bool, int]:
        """Order blocks by what can leave them: first those with something, the largest first."""
        return self._oldest(label) is not None, len(self.values[label])

    def _oldest(self, label: str) -> Fact | None:
        """Return the fact with the oldest newest citation; a line without citations is a person's own.

        None of a shared block: others would lose what went into one workspace's archival.
        """
        if self.blocks[label].shared:
            return None
        cited = [fact for fact in facts_of(self.values[label]) if fact.citations]
        return min(cited, key=lambda fact: (max(fact.citations), fact.line), default=None)

    def _move(self, label: str, fact: Fact) -> None:
        lines = self.values[label].split("\n")
        del lines[fact.line - 1]
        self.values[label] = with_pointer("\n".join(lines), label)
        self.moved.setdefault(label, []).append(fact.text)


def merged(value: str) -> str:
    """Return a block's value with lines that say the same merged into the later one's place.

    The longer wording stays, with the citations of both.
    """
    facts = list(facts_of(value))
    lines = value.split("\n")
    gone: set[int] = set()
    for place, fact in enumerate(facts):
        later = next(
            (
                other
                for other in facts[place + 1 :]
                if fact.citations and other.citations and near_duplicates(fact.words, other.words)
            ),
            None,
        )
        if later is not None:
            lines[later.line - 1] = _both(lines[fact.line - 1], lines[later.line - 1])
            gone.add(fact.line - 1)
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _both(first: str, second: str) -> str:
    """Return the longer of two lines with both lines' citations."""
    a, b = fact_of(first), fact_of(second)
    words = max((b.words, a.words), key=len)
    names = [citation_name(*place) for place in dict.fromkeys([*a.citations, *b.citations])]
    return f"- {words} [{', '.join(names)}]"
