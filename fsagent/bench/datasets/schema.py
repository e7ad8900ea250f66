"""The values every data set is read into: samples, and apart from them the questions.

A system under test is given a `Sample` and the text of a question, nothing else. Samples hold no
question, gold answer, evidence or category, so there is nothing in them to leak.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

CATEGORY_NAMES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
ANSWERABLE = (1, 2, 3, 4)
ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `dia_id` is `D<session>:<turn>`; `caption` describes a picture."""

    dia_id: str
    speaker: str
    text: str
    caption: str | None = None

    @property
    def session(self) -> int:
        """The number of the session, from the `dia_id`."""
        return session_of(self.dia_id)


@dataclass(frozen=True, slots=True)
class Session:
    """A dated run of turns. `when` is naive: the data knows no zone."""

    number: int
    when: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation: what a system may remember. Sessions are in the order of their numbers."""

    sample_id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]
    asked: datetime | None = None

    @property
    def now(self) -> datetime:
        """When questions are asked: `asked`, else the last session's date; never the wall clock."""
        return self.asked or max(session.when for session in self.sessions)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns, in order."""
        return tuple(turn for session in self.sessions for turn in session.turns)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its key. Only `text` may reach a system under test.

    `gold` is None for a question that has no answer in the conversation; `trap` is the wrong
    answer such a question tempts to. `evidence` holds `dia_id`s of turns that exist, each once.
    `kind` is the data set's own name for the type of question, where it has one; `category` then
    says by which rule the answer is scored.
    """

    sample_id: str
    index: int
    text: str
    category: int
    gold: str | None
    trap: str | None = None
    evidence: tuple[str, ...] = ()
    kind: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """What identifies the question in a run: its sample and its 0-based place there."""
        return self.sample_id, self.index


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples and questions of one file. `sha256` is that of the file's bytes."""

    name: str
    path: str
    sha256: str
    samples: tuple[Sample, ...]
    questions: tuple[Question, ...]

    def sample(self, sample_id: str) -> Sample:
        """Return the sample of that id; KeyError if there is none."""
        for sample in self.samples:
            if sample.sample_id == sample_id:
                return sample
        raise KeyError(sample_id)


def session_of(dia_id: str) -> int:
    """Return the session's number of a `dia_id` like `D3:14`."""
    return int(dia_id[1 : dia_id.index(":")])


def count_by_category(questions: Iterable[Question]) -> dict[int, int]:
    """Return how many questions each category has, in the order of the ids."""
    counts: dict[int, int] = {}
    for question in questions:
        counts[question.category] = counts.get(question.category, 0) + 1
    return dict(sorted(counts.items()))
