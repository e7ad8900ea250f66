"""What untrusted text the model of a turn has in front of it, and what it may therefore not write.

While such text is in the context, an edit of core memory waits for a person's review. One kind is
written at once all the same: a line each word of which the person said themselves in this turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fsagent.memory.facts import covers, fact_of
from fsagent.memory.trust import Lineage
from fsagent.tools.data_text import as_data, fenced

MOST_VOUCHED = 1_000
"""The longest sentence, in characters, that is compared; a megabyte of words would take minutes."""

MOST_NAMED = 40
"""How many files of untrusted text are named; one is enough to hold an edit back."""

_SENTENCE = re.compile(r"[.!?;\n]+\s*")
_SUBJECT = re.compile(r"^(?:(?:the )?(?:user|person|human)\b\s*)", re.IGNORECASE)
_ASKED = re.compile(
    r"^(?:please )?(?:remember|note|know|keep in mind)(?: that)?\b[ ,:]*", re.IGNORECASE
)
_DIFF_PATH = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?(?P<path>[^\t\n]+)", re.MULTILINE)


@dataclass
class Taint:
    """The untrusted text of a turn: `shown` in it, the first line by file, or `carried` from before.

    `said` is the person's message, `kept` the ids of the edits that wait for review, `count` how
    many lines of untrusted text there were.
    """

    lineage: Lineage
    shown: dict[str, int | None] = field(default_factory=dict)
    carried: tuple[str, ...] = ()
    said: str = ""
    kept: list[str] = field(default_factory=list)
    count: int = 0

    def begin(self, said: str, carried: Iterable[str]) -> None:
        """Start a turn with what the context holds from before."""
        self.said, self.carried = said, tuple(dict.fromkeys(carried))[:MOST_NAMED]
        self.shown.clear()
        self.kept.clear()

    @property
    def sources(self) -> tuple[str, ...]:
        """The places of all untrusted text in front of the model, such as `archival/evil.md:3`."""
        return tuple(dict.fromkeys([*self.shown_places, *self.carried]))

    @property
    def shown_places(self) -> tuple[str, ...]:
        """The places of what this turn's own tools showed."""
        return tuple(
            path if line is None else f"{path}:{line}" for path, line in self.shown.items()
        )

    def note(self, path: str, line: int | None = None) -> None:
        """Say that untrusted text is shown: of a line, a file's name, or a tool."""
        self.count += 1
        if len(self.shown) < MOST_NAMED:
            self.shown.setdefault(path, line)

    def line(self, path: str, number: int, text: str) -> str:
        """Return a line of memory as it is to be shown; one of untrusted text is noted and made data."""
        if self.lineage.origin(path, number).is_trusted:
            return text
        self.note(path, number)
        return as_data(text)

    def text(self, name: str, text: str) -> str:
        """Return what a tool of one's own gave back, fenced: it comes from anywhere."""
        self.note(f"tool {name}")
        return "\n".join(fenced([as_data(line) for line in text.split("\n")]))

    def outside(self, diff: str) -> str:
        """Return the diff of outside edits as it is to be shown: documents' text is made data."""
        paths = dict.fromkeys(match["path"] for match in _DIFF_PATH.finditer(diff))
        foreign = [path for path in paths if path != "/dev/null" and self._is_foreign(path)]
        if not foreign:
            return diff
        for path in foreign:
            self.note(path)
        return "\n".join(fenced([as_data(line) for line in diff.rstrip("\n").split("\n")]))

    def vouched(self, content: str) -> bool:
        """Say whether the person said all that a new line says, in one sentence of this turn."""
        words = _SUBJECT.sub("", fact_of(content.strip()).words)
        if "\n" in content.strip() or not words or len(words) > MOST_VOUCHED:
            return False
        sentences = (one for one in _SENTENCE.split(self.said) if len(one) <= MOST_VOUCHED)
        return any(covers(_ASKED.sub("", sentence), words) for sentence in sentences)

    def _is_foreign(self, path: str) -> bool:
        return not self.lineage.origin(path, 1).is_trusted
