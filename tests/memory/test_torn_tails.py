"""A log cut or damaged anywhere still opens, keeps what stood before, and goes on."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from memory_kit import NOW, Clock

from fsagent.config import Settings
from fsagent.memory.recall import BadLine, Draft
from fsagent.memory.workspace import Workspace
from fsagent.workspace.records import decode

DAY = "recall/2026/2026-11-30.jsonl"
WORDS = ("hello", "grüße, 日本語", 'a "quoted" \\ word', "two\nlines", "\u2028mark", "")


def opened(root: Path) -> Workspace:
    return Workspace.open(root, settings=Settings(timezone="UTC"), clock=Clock())


@pytest.fixture
def log(fast_folder: Path, nightly: bool) -> tuple[Path, bytes]:
    """A workspace with a day of records, and that day's bytes."""
    root = fast_folder / "mem"
    count = 200 if nightly else 24
    with Workspace.init(root, settings=Settings(timezone="UTC"), clock=Clock()) as memory:
        memory.recall.append_many(
            Draft("user", "Ann", f"{WORDS[n % len(WORDS)]} {n}", turn=f"t{n}") for n in range(count)
        )
        return root, memory.tree.read_bytes(DAY)


def damaged(root: Path, data: bytes) -> None:
    """Leave a day file as a crash might, with what else a crash leaves."""
    (root / DAY).write_bytes(data)
    shutil.rmtree(root / ".fsagent" / "quarantine", ignore_errors=True)


def quarantined(root: Path) -> bytes:
    folder = root / ".fsagent" / "quarantine"
    return b"".join(path.read_bytes() for path in folder.iterdir()) if folder.is_dir() else b""


def test_a_log_cut_at_any_byte_goes_on_where_it_was_cut(
    log: tuple[Path, bytes], suite_line: list[str]
) -> None:
    root, whole = log
    starts = 0
    for cut in range(len(whole) + 1):
        damaged(root, whole[:cut])
        kept = whole[: whole.rfind(b"\n", 0, cut) + 1]
        if whole[cut : cut + 1] == b"\n":
            kept = whole[: cut + 1]  # a record that lacks only its end is completed
        with opened(root) as memory:
            reference = memory.recall.append(Draft("user", "Ann", "after"))
        after = (root / DAY).read_bytes()
        assert after.startswith(kept)
        assert after.count(b"\n") == kept.count(b"\n") + 1 == reference.line
        assert decode(after[len(kept) :]).seq == kept.count(b"\n") + 1 == reference.seq
        assert kept + quarantined(root) == whole[: max(cut, len(kept))]
        starts += 1
    suite_line.append(
        f"torn tails: {starts} corruptions: {starts} starts, all records before the damage"
    )


def test_the_cuts_bite_a_log_that_is_not_mended(log: tuple[Path, bytes]) -> None:
    """The control: appending behind a torn tail glues two records into one that nobody reads."""
    _, whole = log
    cut = whole[:-10]
    glued = cut + whole[: whole.index(b"\n") + 1]
    with pytest.raises(ValueError):
        decode(glued[glued.rindex(b"\n", 0, len(cut)) + 1 :])


@pytest.mark.parametrize(
    "tail",
    [b"\0" * 512, b'{"crc":"' + b"\0" * 40, b"\xff\xfe", b"{}", b"[" * 100_000, b" "],
    ids=["NULs", "NULs in a record", "no UTF-8", "no record", "deep nesting", "a blank"],
)
def test_what_is_no_record_goes_to_quarantine(log: tuple[Path, bytes], tail: bytes) -> None:
    root, whole = log
    damaged(root, whole + tail)
    with opened(root) as memory:
        reference = memory.recall.append(Draft("user", "Ann", "after"))
    assert (root / DAY).read_bytes().startswith(whole)
    assert quarantined(root) == tail
    assert reference.seq == reference.line == whole.count(b"\n") + 1


def test_two_torn_tails_of_one_second_are_both_kept(log: tuple[Path, bytes]) -> None:
    root, whole = log
    damaged(root, whole)
    for tail in (b"first", b"second"):
        with (root / DAY).open("ab") as file:
            file.write(tail)
        with opened(root) as memory:
            memory.recall.append(Draft("user", "Ann", "after"))
    names = sorted(path.name for path in (root / ".fsagent" / "quarantine").iterdir())
    assert names == [f"2026-11-30.jsonl.{NOW:%Y%m%dT%H%M%S}.torn{n}" for n in ("", "-2")]


def test_a_damaged_line_inside_is_reported_and_left(log: tuple[Path, bytes], nightly: bool) -> None:
    root, whole = log
    chance = random.Random(3)
    texts = {n: decode(line).content for n, line in enumerate(whole.split(b"\n")[:-1], 1)}
    for _ in range(2000 if nightly else 150):
        at = chance.randrange(len(whole))
        flipped = bytes([whole[at] ^ (1 << chance.randrange(8))])
        data = whole[:at] + flipped + whole[at + 1 :]
        damaged(root, data)
        bad: list[BadLine] = []
        with opened(root) as memory:
            good = dict(memory.recall.read(DAY, bad))
            reference = memory.recall.append(Draft("user", "Ann", "after"))
        # The flip may make or take a line end; it may hit the key `crc`, which harms no text.
        assert len(good) >= len(texts) - 2
        if len(good) + len(bad) == len(texts):
            assert {n: record.content for n, record in good.items()}.items() <= texts.items()
        assert (root / DAY).read_bytes().startswith(data[: data.rfind(b"\n") + 1])
        assert reference.seq > max(record.seq for record in good.values())


def test_glued_records_are_one_bad_line(log: tuple[Path, bytes]) -> None:
    root, whole = log
    lines = whole.split(b"\n")
    damaged(root, b"\n".join([lines[0], lines[1] + lines[2], *lines[3:]]))
    bad: list[BadLine] = []
    with opened(root) as memory:
        numbers = [number for number, _ in memory.recall.read(DAY, bad)]
    assert [(item.path, item.line) for item in bad] == [(DAY, 2)]
    assert numbers == [1, *range(3, len(lines) - 1)]


def test_a_damaged_last_line_keeps_its_seq(log: tuple[Path, bytes]) -> None:
    root, whole = log
    count = whole.count(b"\n")
    damaged(root, whole[:-3] + b"?" + whole[-2:])
    (root / ".fsagent" / "recall.json").unlink()
    with opened(root) as memory:
        assert memory.recall.append(Draft("user", "Ann", "after")).seq == count + 1


@pytest.mark.parametrize(
    "line",
    [
        {"role": ["user"], "ts": "2026-11-30T09:00:00Z", "content": "x"},
        {"role": "user", "ts": "yesterday", "content": "x"},
        {"role": "user", "ts": "2026-11-30T09:00:00", "content": "x"},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": "x", "seq": 1e400},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": "x", "usage": [1]},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": "x", "tool_calls": [3]},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": "x", "images": "abc"},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": 5},
        {"role": "user", "ts": "2026-11-30T09:00:00Z", "content": "x", "session": 5},
        [1, 2],
    ],
    ids=lambda line: json.dumps(line)[:60],
)
def test_a_strange_line_written_by_hand_is_bad_and_stops_nothing(
    memory: Workspace, line: object
) -> None:
    memory.recall.append(Draft("user", "Ann", "before"))
    with (memory.root / DAY).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    bad: list[BadLine] = []
    assert len(list(memory.recall.read(DAY, bad))) == 1
    assert [item.line for item in bad] == [2]
    assert memory.recall.append(Draft("user", "Ann", "after")).line == 3
    assert [record.content for _, _, record in memory.recall.tail(5)] == ["before", "after"]
