"""Write a workspace of made-up messages: the same for the same numbers, nobody's words in it.

    python benchmarks/speed/generate.py FOLDER [--messages 1000000] [--days 1095] [--documents 1905]

Two speakers talk in sessions of about twenty turns; words follow Zipf's law over a vocabulary of
syllables between English stop words. Every thousandth line or so holds a rare word.
"""

from __future__ import annotations

import argparse
from bisect import bisect
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random

from fsagent.memory.workspace import Workspace
from fsagent.workspace.records import Record, encode

_STOP_WORDS = (
    "the a I you to and of in it my was is for that with on have so but we at do be this what"
)
STOP = _STOP_WORDS.split(" ")
NAMES = ("Alva", "Bram", "Cora", "Dirk", "Edda", "Finn", "Greta", "Hugo")
VOCABULARY = 40_000
RARE = "quizzaciously"
START = datetime(2023, 1, 1, 8, tzinfo=UTC)


class Speech:
    """Makes sentences. The n-th word comes up in proportion to 1 / (n + 10)."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)
        self.words = _vocabulary()
        self._steps = list(accumulate(1 / (rank + 10) for rank in range(len(self.words))))

    def word(self) -> str:
        """Return a word that carries meaning."""
        return self.words[bisect(self._steps, self._dice.random() * self._steps[-1])]

    def sentence(self) -> str:
        """Return a sentence of 6 to 26 words, every second one a stop word."""
        dice = self._dice
        words = [
            dice.choice(STOP) if dice.random() < 0.5 else self.word()
            for _ in range(dice.randint(6, 26))
        ]
        if dice.random() < 0.001:
            words.append(RARE)
        text = " ".join(words)
        end = "?" if dice.random() < 0.25 else "."
        return text[0].upper() + text[1:] + end

    def question(self) -> str:
        """Return a question as people ask it: a name and four words that carry meaning."""
        one, two, three, four = (self.word() for _ in range(4))
        return f"What did {self._dice.choice(NAMES)} say about the {one} {two} when {three} was {four}?"


def main() -> None:
    """Write the workspace."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=1_095)
    parser.add_argument("--documents", type=int, default=1_905)
    given = parser.parse_args()
    write(given.folder, given.messages, given.days, given.documents)


def write(folder: Path, messages: int, days: int, documents: int) -> None:
    """Lay a workspace at `folder` and fill it."""
    Workspace.init(folder).close()
    speech = Speech(1)
    seq = 0
    for day in range(days):
        count = messages // days + (day < messages % days)
        lines = []
        date = START + timedelta(days=day)
        for number in range(count):
            seq += 1
            session = number // 20
            lines.append(
                encode(
                    Record(
                        seq,
                        (date + timedelta(seconds=30 * number)).isoformat(),
                        f"t{seq}",
                        "user",
                        NAMES[(session % 4) * 2 + number % 2],
                        speech.sentence(),
                        session=f"{date:%Y%m%d}/{session}",
                    )
                )
            )
        path = folder / "recall" / f"{date:%Y}" / f"{date:%Y-%m-%d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
    for number in range(documents):
        path = folder / "archival" / f"{number % 40:02d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"# {speech.word()}\n\n" + "\n\n".join(speech.sentence() for _ in range(8)) + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")


def _vocabulary() -> list[str]:
    dice = Random(7)
    heads = [c + v for c in "bcdfghklmnprstvwz" for v in "aeiou"]
    tails = ["n", "r", "t", "x", "l", "nd", "rk", "sh", "ck", ""]
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        parts = [dice.choice(heads) for _ in range(dice.randint(1, 4))]
        found["".join(parts) + dice.choice(tails)] = None
    return list(found)


if __name__ == "__main__":
    main()
