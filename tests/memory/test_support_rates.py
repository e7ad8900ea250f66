"""How often the support gate is wrong, either way, on pairs of a fact and the line it cites."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from fsagent.memory.support import Source, unsupported_part

SAID = date(2026, 11, 29)
PAIRS = Path(__file__).with_name("support_pairs.txt")
MOST_WRONG = {"development": (0.03, 0.02), "held out": (0.06, 0.06)}
"""The shares of false refusals and of false acceptances that each part may have."""


def pairs(part: str) -> Iterator[tuple[bool, str, str]]:
    """Yield whether the line supports the fact, the fact, the line."""
    here = ""
    for row in PAIRS.read_text(encoding="utf-8").splitlines():
        if row.startswith("## "):
            here = row[3:]
        elif here == part and row[:1] in ("+", "-"):
            fact, _, line = row[2:].partition(" | ")
            yield row[0] == "+", fact, line


@pytest.mark.parametrize("part", MOST_WRONG)
def test_the_support_gate_errs_rarely_either_way(
    part: str, record_property: object, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: dict[bool, list[str]] = {True: [], False: []}
    counts = {True: 0, False: 0}
    for supports, fact, line in pairs(part):
        counts[supports] += 1
        missing = unsupported_part(fact, [Source("Anna", line, SAID)])
        if (missing is None) != supports:
            wrong[supports].append(f"{fact} | {line} ({missing})")
    refused, accepted = (len(wrong[kind]) for kind in (True, False))
    with capsys.disabled():
        print(
            f"\nsupport gate, {part}: {refused} of {counts[True]} true facts refused, "
            f"{accepted} of {counts[False]} false ones accepted"
        )
    assert min(counts.values()) >= 35
    most_refused, most_accepted = MOST_WRONG[part]
    told = "\n".join([*wrong[True], "accepted:", *wrong[False]])
    assert refused <= most_refused * counts[True], told
    assert accepted <= most_accepted * counts[False], told
