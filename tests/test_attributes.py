"""What a fact's line says, and when two of them clash."""

from __future__ import annotations

import pytest

from fsagent.attributes import Stated, contradict, read_fact, same_value


def stated(line: str) -> Stated:
    found = read_fact(line)
    assert found is not None, line
    return found


@pytest.mark.parametrize(
    ("line", "whose", "attribute", "value"),
    [
        ("Lives in Porto (since 2026-11-28).", ("", "", ""), "home", "Porto"),
        ("The user lives in Beijing", ("", "", ""), "home", "Beijing"),
        ("Anna Costa lives in Porto.", ("anna costa", "", ""), "home", "Porto"),
        ("Sister Irene lives in Rome.", ("", "sister", "irene"), "home", "Rome"),
        ("Anna's sister is called Irene.", ("anna", "sister", ""), "name", "Irene"),
        ("Her name is Anna", ("", "", ""), "name", "Anna"),
        ("Works as a nurse (since 2020).", ("", "", ""), "job", "a nurse"),
        ("Works at Siemens", ("", "", ""), "employer", "Siemens"),
        ("Favourite color is blue.", ("", "", ""), "favourite colour", "blue"),
        ("Caroline's favourite colour is blue", ("caroline", "", ""), "favourite colour", "blue"),
        ("Wants the assistant to answer in German.", ("", "", ""), "answer language", "German"),
        ("Does not like olives.", ("", "", ""), "dislikes", "olives"),
    ],
)
def test_a_line_is_read(line: str, whose: tuple[str, str, str], attribute: str, value: str) -> None:
    found = stated(line)
    assert (found.owner, found.kin, found.subject) == whose
    assert (found.attribute, found.value, found.negated) == (attribute, value, False)


@pytest.mark.parametrize("line", ["The deploy is on Friday.", "Speak plainly.", "", "Bo and Anna."])
def test_a_line_about_nobody_is_not_read(line: str) -> None:
    assert read_fact(line) is None


@pytest.mark.parametrize(
    "line", ["No longer lives in Porto.", "Is no longer vegetarian.", "Does not live in Porto."]
)
def test_a_denial_is_read_as_one(line: str) -> None:
    assert stated(line).negated


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Porto.", "Lives in Lisbon (since 2026)."),
        ("The user lives in Porto.", "Lives in Lisbon."),
        ("Is called Anna.", "Name is Berta."),
        ("Works at Siemens.", "Works for Bosch."),
        ("Likes olives.", "Hates olives."),
        ("Prefers tea to coffee.", "Prefers coffee to tea."),
        ("Is allergic to nuts.", "Is not allergic to nuts."),
        ("Lives in Porto.", "No longer lives in Porto."),
        ("Birthday is 3 May.", "Was born on 1990-06-04."),
        ("Sister Irene lives in Rome.", "Sister Irene lives in Oslo."),
        ("Wife is called Li.", "Wife is called Bo."),
        ("Favourite colour is blue.", "Favourite color is red."),
    ],
)
def test_two_values_of_one_attribute_contradict(one: str, other: str) -> None:
    assert contradict(stated(one), stated(other))
    assert contradict(stated(other), stated(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Porto.", "Lives in Porto, Portugal."),
        ("Lives in Porto.", "Works in Lisbon."),
        ("Lives in Porto.", "Anna lives in Lisbon."),
        ("Lives in Porto.", "Sister lives in Lisbon."),
        ("Sister Irene lives in Rome.", "Sister Mara lives in Oslo."),
        ("Sister is called Irene.", "Sister is called Mara."),
        ("Likes tea.", "Likes coffee."),
        ("Is allergic to nuts.", "Is allergic to milk."),
        ("Favourite colour is blue.", "Favourite band is Blur."),
        ("Lives in Porto.", "No longer lives in Lisbon."),
        ("Was born on 3 May 1990.", "Birthday is 3 May."),
    ],
)
def test_what_can_both_be_true_does_not_contradict(one: str, other: str) -> None:
    assert not contradict(stated(one), stated(other))


def test_a_value_that_says_more_is_the_same_value() -> None:
    assert same_value("a nurse", "the nurse")
    assert same_value("Porto", "Porto, Portugal")
    assert not same_value("Porto", "Lisbon")
