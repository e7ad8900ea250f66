"""Join hits whose lines around them meet, so that a reply prints no line twice and reads as it was said.

Bare hits stay in their rank, neighbours too: in the order of the file a reader that goes by the order
finds the best one later (of the offline agent: MRR .68 -> .43, F1 41 -> 36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fsagent.types import Hit


@dataclass(slots=True)
class Passage:
    """Lines of one file without a gap: each with its number, its text, and its hit if it is one."""

    path: str
    lines: dict[int, tuple[str, Hit | None]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[int, str, Hit | None]]:
        """Yield the lines in their order."""
        for number in sorted(self.lines):
            yield number, *self.lines[number]

    def add(self, hit: Hit) -> None:
        """Take in a hit and the lines around it; a hit's own line stays one."""
        for number, text in (*hit.before, *hit.after):
            self.lines.setdefault(number, (text, None))
        self.lines[hit.line] = (hit.text, hit)

    def join(self, other: Passage) -> None:
        """Take in another passage's lines; what is a hit in either is one."""
        for number, line in other.lines.items():
            if line[1] is not None or number not in self.lines:
                self.lines[number] = line

    @property
    def is_bare(self) -> bool:
        """Whether there are no lines but hits."""
        return all(hit is not None for _, hit in self.lines.values())

    def touches(self, other: Passage) -> bool:
        """Say whether the two share a line or stand side by side, lines around hits among them."""
        if self.path != other.path or (self.is_bare and other.is_bare):
            return False
        return any(near in self.lines for n in other.lines for near in (n - 1, n, n + 1))


def passages(hits: Iterable[Hit]) -> list[Passage]:
    """Return the hits as passages, each at the place of its first (best) hit."""
    found: list[Passage] = []
    for hit in hits:
        new = Passage(hit.path)
        new.add(hit)
        joined = [passage for passage in found if passage.touches(new)]
        if not joined:
            found.append(new)
            continue
        first, *others = joined
        first.add(hit)
        for other in others:  # the hit closes a gap between two passages
            first.join(other)
            found.remove(other)
    return found
