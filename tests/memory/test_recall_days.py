"""Which day a line belongs to, how lines are ordered, and where the log is taken up again."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from memory_kit import NOW, Clock

from fsagent.config import Settings
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace

DAY = "recall/2026/2026-11-30.jsonl"


def said(text: str, ts: datetime | None = None) -> Draft:
    return Draft("user", "Ann", text, ts=ts)


@pytest.mark.parametrize(
    ("zone", "utc", "day", "ts"),
    [
        ("UTC 0", "2026-11-30T23:59:59", "2026-11-30", "2026-11-30T23:59:59+00:00"),
        ("UTC 0", "2026-12-01T00:00:00", "2026-12-01", "2026-12-01T00:00:00+00:00"),
        ("Asia/Shanghai 0", "2026-11-30T16:00:00", "2026-12-01", "2026-12-01T00:00:00+08:00"),
        ("Asia/Shanghai 0", "2026-11-30T15:59:59", "2026-11-30", "2026-11-30T23:59:59+08:00"),
        ("America/New_York 0", "2027-01-01T04:59:59", "2026-12-31", "2026-12-31T23:59:59-05:00"),
        ("Europe/Berlin 3", "2026-12-01T01:59:59", "2026-11-30", "2026-12-01T02:59:59+01:00"),
        ("Europe/Berlin 3", "2026-12-01T02:00:00", "2026-12-01", "2026-12-01T03:00:00+01:00"),
        ("Europe/Berlin 0", "2026-10-25T00:30:00", "2026-10-25", "2026-10-25T02:30:00+02:00"),
        ("Europe/Berlin 0", "2026-10-25T01:30:00", "2026-10-25", "2026-10-25T02:30:00+01:00"),
        ("Asia/Kathmandu 0", "2026-11-30T18:15:00", "2026-12-01", "2026-12-01T00:00:00+05:45"),
    ],
)
def test_a_line_goes_to_the_day_of_the_workspaces_zone(
    tmp_path: Path, zone: str, utc: str, day: str, ts: str
) -> None:
    name, _, day_start = zone.partition(" ")
    settings = Settings(timezone=name, day_start=int(day_start))
    clock = Clock()
    clock.now = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    with Workspace.init(tmp_path / "mem", settings=settings, clock=clock) as memory:
        reference = memory.recall.append(said("hello"))
        [(_, _, record)] = memory.recall.tail(1)
    assert reference.path == f"recall/{day[:4]}/{day}.jsonl"
    assert record.ts == ts
    assert reference.citation() == f"[{day}:1]"


def test_a_clock_that_goes_back_a_little_is_clamped_and_flagged(
    memory: Workspace, clock: Clock
) -> None:
    memory.recall.append(said("first"))
    clock.now = NOW - timedelta(hours=10)
    reference = memory.recall.append(said("second"))
    clock.now = NOW + timedelta(seconds=1)
    memory.recall.append(said("third"))
    records = [record for _, _, record in memory.recall.tail(9)]
    assert [record.clamped for record in records] == [False, True, False]
    assert records[1].ts == records[0].ts
    assert reference.path == DAY


def test_a_clock_that_had_run_years_ahead_does_not_date_all_that_follows(
    memory: Workspace, clock: Clock
) -> None:
    clock.now = NOW + timedelta(days=1500)
    memory.recall.append(said("in the future"))
    clock.now = NOW
    back = memory.recall.append(said("back"))
    clock.now = NOW + timedelta(minutes=1)
    after = memory.recall.append(said("after"))
    records = [record for _, record in memory.recall.read(DAY)]
    assert [back.path, after.path] == [DAY, DAY]
    assert [(record.seq, record.clamped) for record in records] == [(2, True), (3, False)]


def test_the_clock_is_held_against_what_a_former_process_wrote(
    memory: Workspace, clock: Clock
) -> None:
    memory.recall.append(said("first"))
    (memory.root / ".fsagent" / "recall.json").unlink()
    clock.now = NOW - timedelta(hours=1)
    with Workspace.open(memory.root, settings=memory.settings, clock=clock) as again:
        again.recall.append(said("second"))
    assert [record.clamped for _, record in memory.recall.read(DAY)] == [False, True]


def test_an_imported_line_keeps_its_time_and_holds_no_clock(
    memory: Workspace, clock: Clock
) -> None:
    ts = datetime(2030, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))
    old = memory.recall.append(Draft("user", "Ann", "hi", ts=ts, source="locomo:D1:1"))
    new = memory.recall.append(said("now"))
    assert (old.path, old.seq) == ("recall/2030/2030-05-08.jsonl", 1)
    assert (new.path, new.seq) == (DAY, 2)
    assert [r.clamped for _, r in memory.recall.read(DAY)] == [False]
    [(_, record)] = memory.recall.read(old.path)
    assert record.ts == "2030-05-08T13:56:00+02:00"


def test_a_time_without_offset_is_the_workspaces(memory: Workspace) -> None:
    reference = memory.recall.append(said("hi", datetime(2026, 11, 29, 8, 0)))
    [(_, record)] = memory.recall.read(reference.path)
    assert record.ts == "2026-11-29T08:00:00+00:00"


@pytest.mark.parametrize(
    "harm",
    [
        "deleted",
        "empty",
        "no JSON",
        "another number",
        "a list",
        "whole folder deleted",
        "stale",
        "a folder",
    ],
)
def test_a_lost_or_damaged_state_changes_nothing(memory: Workspace, harm: str) -> None:
    memory.recall.append(said("one"))
    state = memory.root / ".fsagent" / "recall.json"
    stale = state.read_bytes()
    memory.recall.append(said("two"))
    memory.close()
    if harm == "whole folder deleted":
        for path in sorted((memory.root / ".fsagent").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    elif harm in ("deleted", "a folder"):
        state.unlink()
    else:
        state.write_bytes(
            {
                "empty": b"",
                "no JSON": b"\xff{{{",
                "another number": state.read_bytes().replace(b'"seq":2', b'"seq":9'),
                "a list": b"[1, 2]",
                "stale": stale,
            }[harm]
        )
    if harm == "a folder":
        state.mkdir()
    with Workspace.open(memory.root, settings=memory.settings, clock=memory.clock) as again:
        for number in (3, 4):
            reference = again.recall.append(said("more"))
            assert (reference.seq, reference.line) == (number, number)


def test_an_edit_from_outside_of_the_same_size_is_noticed(memory: Workspace) -> None:
    for text in ("aaaa", "bbbb"):
        memory.recall.append(said(text))
    path = memory.root / DAY
    data = path.read_bytes()
    line = json.loads(data.split(b"\n")[1])
    line["seq"] = 7
    del line["crc"]
    first = data.split(b"\n")[0] + b"\n"
    hand = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
    os.truncate(path, 0)
    path.write_bytes(first + hand.ljust(len(data) - len(first) - 1) + b"\n")
    os.utime(path, ns=(0, 10**18))
    assert path.stat().st_size == len(data)
    reference = memory.recall.append(said("cccc"))
    assert (reference.seq, reference.line) == (8, 3)


def test_lines_put_in_from_outside_move_the_line_numbers(memory: Workspace) -> None:
    memory.recall.append(said("one"))
    path = memory.root / DAY
    by_hand = '{"ts":"2026-11-30T08:00:00Z","role":"user","name":"Bob","content":"by hand"}\n'
    path.write_text(by_hand + path.read_text(encoding="utf-8"), encoding="utf-8")
    reference = memory.recall.append(said("two"))
    assert (reference.seq, reference.line) == (2, 3)
    assert [r.content for _, _, r in memory.recall.tail(9)] == ["by hand", "one", "two"]


def test_a_day_file_from_elsewhere_is_noticed(memory: Workspace) -> None:
    memory.recall.append(said("one"))
    shape = json.loads((memory.root / DAY).read_bytes())
    del shape["crc"]
    other = memory.root / "recall" / "2026" / "2026-11-29.jsonl"
    other.write_text(json.dumps({**shape, "seq": 50}, separators=(",", ":")), encoding="utf-8")
    assert memory.recall.append(said("two")).seq == 51


def test_a_day_file_saved_by_rename_is_noticed(memory: Workspace) -> None:
    memory.recall.append(said("one"))
    memory.recall.append(said("two"))
    path = memory.root / DAY
    kept = path.read_bytes().split(b"\n")[0] + b"\n"
    (path.with_suffix(".new")).write_bytes(kept)
    path.with_suffix(".new").rename(path)
    reference = memory.recall.append(said("three"))
    assert (reference.seq, reference.line) == (2, 2)


def test_an_import_goes_to_its_days_and_seq_orders_it(memory: Workspace) -> None:
    days = [NOW - timedelta(days=back) for back in (3, 3, 2, 3)]
    references = memory.recall.append_many([said(str(n), ts) for n, ts in enumerate(days)])
    assert [reference.seq for reference in references] == [1, 2, 3, 4]
    assert [reference.line for reference in references] == [1, 2, 1, 3]
    assert memory.recall.days() == [
        "recall/2026/2026-11-27.jsonl",
        "recall/2026/2026-11-28.jsonl",
    ]
    assert memory.recall.append_many([]) == []


@pytest.mark.parametrize("count", [0, 1, 5, 7, 50, 5000])
def test_the_tail_is_the_end_of_the_log(memory: Workspace, clock: Clock, count: int) -> None:
    texts = []
    for day in range(3):
        clock.now = NOW + timedelta(days=day)
        drafts = [said(f"day {day} line {n} " + "x" * (n % 5) * 4000) for n in range(150)]
        memory.recall.append_many(drafts)
        texts += [
            (memory.recall.path_of(clock.now), n + 1, d.content) for n, d in enumerate(drafts)
        ]
    found = [(path, line, record.content) for path, line, record in memory.recall.tail(count)]
    assert found == (texts[-count:] if count else [])


def test_the_tail_passes_bad_lines_and_a_torn_end(memory: Workspace) -> None:
    memory.recall.append_many([said(f"{n} " + "x" * 3000) for n in range(200)])
    with (memory.root / DAY).open("ab") as file:
        file.write(b"bad\n" * 3 + b'{"crc":"1')
    assert [(line, r.content[:3]) for _, line, r in memory.recall.tail(2)] == [
        (199, "198"),
        (200, "199"),
    ]


def test_a_read_only_look_makes_no_state(memory: Workspace) -> None:
    assert memory.recall.tail(5) == []
    assert memory.recall.days() == []
