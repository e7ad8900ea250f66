"""Known faults of the answer key, from an audit's records: three views of one run.

`raw` is the key as published; `corrected` has the audit's answers and evidence; `clean` leaves out
every question the audit flags, whether its answer or its evidence is at fault.
The file is given at run time and never part of the project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsagent.bench.rundir import Key, Row
from fsagent.errors import ConfigError

VIEWS = ("raw", "corrected", "clean")


@dataclass(frozen=True, slots=True)
class Erratum:
    """One flagged question. `scoring`: the gold answer itself is wrong, not only its evidence."""

    error_type: str
    scoring: bool
    gold: str | None
    evidence: tuple[str, ...]


def load_errata(path: Path) -> dict[Key, Erratum]:
    """Read the audit's records by question. Raises `ConfigError` for a file of another shape."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise ConfigError(f"cannot read the errata {path}: {err}") from err
    if not isinstance(records, list):
        raise ConfigError(f"{path} is no list of errata")
    errata: dict[Key, Erratum] = {}
    for place, record in enumerate(records):
        try:
            errata[str(record["sample_id"]), int(record["qa_index"])] = _erratum(record)
        except (AttributeError, KeyError, TypeError, ValueError) as err:
            raise ConfigError(f"{path}: record {place} is no erratum: {err}") from err
    return errata


def view(rows: Sequence[Row], errata: Mapping[Key, Erratum], name: str) -> list[Row]:
    """Return the rows as the key of that view has them."""
    if name == "raw":
        return list(rows)
    if name == "clean":
        return [row for row in rows if _key(row) not in errata]
    return [_corrected(row, errata.get(_key(row))) for row in rows]


def _corrected(row: Row, erratum: Erratum | None) -> Row:
    if erratum is None:
        return row
    evidence = list(erratum.evidence) or row["evidence"]
    gold = erratum.gold if erratum.scoring and erratum.gold is not None else row["gold"]
    return {**row, "gold": gold, "evidence": evidence}


def _erratum(record: Mapping[str, Any]) -> Erratum:
    from fsagent.bench.datasets.locomo import name_turns

    suggested = record.get("suggested")
    return Erratum(
        error_type=str(record["error_type"]),
        scoring=bool(record["scoring"]),
        gold=None if suggested is None else str(suggested),
        evidence=name_turns(record.get("suggested_evidence") or ()),
    )


def _key(row: Row) -> Key:
    return row["sample_id"], row["qa_index"]
