"""No text, however odd, makes the rules of the offline model hang."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsagent.attributes import read_fact
from fsagent.models.offline.asked import asked
from fsagent.models.offline.saying import MAX_CHARACTERS
from fsagent.models.offline.statements import statements

SAID = datetime(2026, 11, 29, 13, 56)
LIMIT_S = 2.0  # generous: a catastrophic pattern takes minutes
PIECES = (
    "'", "’", '"', "I'm ", "I am ", "I ", "I am now ", "no, ", "so, ", "actually ", "and ", " and I ", "Anna ",
    "Anna van ", "A ", "my sister ", "my sister's ", "called ", "is ", "( ", ") ", "since 2019 ", "1 ", ": ", "- ",
    ", ", "; ", "now ", "the ", "of ", "to ", "live in ", "love ", "have a ", "meeting ", "on Friday ", "at 3 ",
    "a. ", "`", "⏎ ", "I have just now ", "not ", "my ", "name is ", "please ", "German, ", "x-", "in ", "really ",
)  # fmt: skip


def read(text: str) -> float:
    started = time.perf_counter()
    list(statements(text, SAID))
    read_fact(text)
    asked(text)
    return time.perf_counter() - started


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("head", ["", "I am ", "My name is ", "'", "I love "])
def test_the_same_piece_again_and_again_is_read_at_once(head: str, piece: str) -> None:
    text = head + piece * ((MAX_CHARACTERS - len(head)) // len(piece))
    assert read(text) < LIMIT_S


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=200).map("".join))
def test_any_mixture_is_read_at_once(text: str) -> None:
    assert read(text[:MAX_CHARACTERS]) < LIMIT_S


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=MAX_CHARACTERS))
def test_any_text_is_read_at_once(text: str) -> None:
    assert read(text) < LIMIT_S


def test_an_apostrophe_and_a_long_text_are_read_at_once() -> None:
    # It took minutes once: a group that repeats inside a group that repeats.
    assert read("It's 'cause " + "the leaves were falling and we walked " * 30) < LIMIT_S
