"""Replies are kept by the whole request and given again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fsagent.models.cache import Cached
from fsagent.models.scripted import Scripted, call, reply
from fsagent.types import Message, ToolSpec, Usage

ASK = [Message("user", "Pet?")]
GREP = ToolSpec("grep", "Search.", {"type": "object", "properties": {}})


def test_a_request_is_asked_once_and_its_reply_kept_whole(tmp_path: Path) -> None:
    first = Cached(Scripted([call("grep", pattern="dög")]), tmp_path)
    made = first.complete(ASK, [GREP])
    again = Cached(Scripted([]), tmp_path)
    assert again.complete(ASK, [GREP]) == made
    assert (first.hits, first.misses, again.hits, again.misses) == (0, 1, 1, 0)


def test_a_kept_reply_is_shown_and_keeps_its_usage(tmp_path: Path) -> None:
    Cached(Scripted([reply("A dog.", usage=Usage(5, 2))]), tmp_path).complete(ASK)
    pieces: list[str] = []
    kept = Cached(Scripted([]), tmp_path).complete(ASK, on_text=pieces.append)
    assert (pieces, kept.usage) == (["A dog."], Usage(5, 2))


def test_whatever_differs_in_the_request_is_asked_anew(tmp_path: Path) -> None:
    answers = [str(number) for number in range(6)]
    model = Scripted(answers)
    cached = Cached(model, tmp_path)
    cached.complete(ASK)
    cached.complete([Message("user", "Pet? ")])
    cached.complete(ASK, [GREP])
    cached.complete(ASK, [replace(GREP, description="Find.")])
    Cached(model, tmp_path, salt="2").complete(ASK)
    Cached(Scripted(["5"], name="other"), tmp_path).complete(ASK)
    assert len(list(tmp_path.rglob("*.json"))) == 6


def test_a_damaged_reply_is_asked_for_again(tmp_path: Path) -> None:
    Cached(Scripted(["A dog."]), tmp_path).complete(ASK)
    (kept,) = tmp_path.rglob("*.json")
    for damage in (b"", b"{", b"{}", b'{"message": 5}', b"\xff"):
        kept.write_bytes(damage)
        assert Cached(Scripted(["A cat."]), tmp_path).complete(ASK).message.content == "A cat."
    assert Cached(Scripted([]), tmp_path).complete(ASK).message.content == "A cat."
