"""Dates in words: what is read, what is left alone, and how it is said again."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsagent.dates import find_dates, parse_when, say_day

FRIDAY = date(2023, 6, 9)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("I went there yesterday.", "8 June 2023"),
        ("We met the day before yesterday", "7 June 2023"),
        ("See you tomorrow!", "10 June 2023"),
        ("This morning was hard", "9 June 2023"),
        ("last night was fun", "8 June 2023"),
        ("I spoke there last week.", "the week before 9 June 2023"),
        ("Busy this week", "the week of 9 June 2023"),
        ("It starts next week", "the week after 9 June 2023"),
        ("last weekend we hiked", "the weekend before 9 June 2023"),
        ("last Saturday", "the Saturday before 9 June 2023"),
        ("last Friday", "the Friday before 9 June 2023"),
        ("next Fri works", "the Friday after 9 June 2023"),
        ("on Tuesday I ran", "the Tuesday before 9 June 2023"),
        ("We perform next month.", "July 2023"),
        ("last month", "May 2023"),
        ("I read it last year", "2022"),
        ("two years ago", "2021"),
        ("a couple of months ago", "April 2023"),
        ("three days ago", "6 June 2023"),
        ("2 weeks ago", "2 weeks before 9 June 2023"),
        ("a week ago", "the week before 9 June 2023"),
        ("a few days ago", "a few days before 9 June 2023"),
        ("in two weeks", "2 weeks after 9 June 2023"),
        ("last summer", "the summer of 2022"),
        ("this summer", "the summer of 2023"),
        ("back in the summer of 2020", "the summer of 2020"),
        ("in March I moved", "March 2023"),
        ("in December", "December 2022"),
        ("next January", "January 2024"),
        ("on May 7th", "7 May 2023"),
        ("the 7th of May, 2023", "7 May 2023"),
        ("Sept. 3, 2021", "3 September 2021"),
        ("2023-05-08", "8 May 2023"),
        ("since 2016", "2016"),
    ],
)
def test_a_date_in_a_sentence_becomes_absolute(said: str, label: str) -> None:
    assert [when.label for when in find_dates(said, FRIDAY)] == [label]


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "He sat down",
        "march on",
        "room 2016",
        "the second one",
        "",
        "31 June or so",
        "5:30",
    ],
)
def test_other_words_and_numbers_are_no_dates(text: str) -> None:
    assert [when for when in find_dates(text, FRIDAY) if when.unit == "day"] == []


def test_dates_keep_their_order_and_their_place() -> None:
    text = "Yesterday we planned it, in July 2024 we go."
    assert [text[slice(*when.span)] for when in find_dates(text, FRIDAY)] == [
        "Yesterday",
        "July 2024",
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2023-06-08", "2023-06-08"),
        ("last week", "2023-05-29", "2023-06-04"),
        ("this week", "2023-06-05", "2023-06-11"),
        ("last weekend", "2023-06-03", "2023-06-04"),
        ("last March", "2023-03-01", "2023-03-31"),
        ("last July", "2022-07-01", "2022-07-31"),
        ("in May", "2023-05-01", "2023-05-31"),
        ("May 2022", "2022-05-01", "2022-05-31"),
        ("2022", "2022-01-01", "2022-12-31"),
        ("2022-02", "2022-02-01", "2022-02-28"),
        ("on 7 May 2023", "2023-05-07", "2023-05-07"),
        ("since May", "2023-05-01", "2023-06-09"),
        ("before 2022", "0001-01-01", "2021-12-31"),
        ("after June 2022", "2022-07-01", "9999-12-31"),
        ("until March 2023", "0001-01-01", "2023-03-31"),
        ("between May and July 2022", "2022-05-01", "2022-07-31"),
        ("from 3 May 2022 to 5 June 2022", "2022-05-03", "2022-06-05"),
        ("past two weeks", "2023-05-26", "2023-06-09"),
        ("the last 3 months", "2023-03-09", "2023-06-09"),
        ("in two weeks", "2023-06-20", "2023-06-26"),
        ("the summer of 2022", "2022-06-01", "2022-08-31"),
        ("the week before 9 June 2023", "2023-05-29", "2023-06-04"),
        ("the Friday after 9 June 2023", "2023-06-16", "2023-06-16"),
    ],
)
def test_one_expression_is_a_range_of_days(text: str, start: str, end: str) -> None:
    assert parse_when(text, FRIDAY) == (date.fromisoformat(start), date.fromisoformat(end))


@pytest.mark.parametrize(
    "text", ["", "soon", "kickboxing", "in", "since", "31 February 2023", "may"]
)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert parse_when(text, FRIDAY) is None


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)), st.dates())
def test_a_day_said_in_words_is_read_again(day: date, now: date) -> None:
    assert parse_when(say_day(day), now) == (day, day)


@given(
    st.sampled_from(
        ["yesterday", "last week", "next Friday", "last weekend", "3 weeks ago", "May"]
    ),
    st.dates(min_value=date(1901, 1, 1), max_value=date(2098, 12, 31)),
)
def test_a_label_means_the_same_days_later(text: str, said: date) -> None:
    when = find_dates(text, said)[0]
    read = parse_when(when.label, said + timedelta(400))
    assert when.unit in ("week", "weekend") or read == (when.start, when.end)


@given(st.text(max_size=60), st.dates())
def test_no_text_breaks_it(text: str, said: date) -> None:
    find_dates(text, said)
    parse_when(text, said)
