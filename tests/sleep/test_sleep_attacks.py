"""A scripted model that tries to eat memory through the gates, and blocks of shapes a person may write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sleep_kit import DAY, age, edit, filler, human, patch, reasons, say, value_of

from fsagent.agent.sleep.sleep import sleep
from fsagent.agent.sleep.unfit import unfit_line
from fsagent.memory.facts import facts_of
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted


def slept(workspace: Workspace, *edits: object) -> str:
    sleep(workspace, Scripted([patch(*edits)]))
    return value_of(workspace)


# Facts that would go.


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- Anna lives in Porto.", "- Anna likes fish.", "I am Anna and I like fish."),
        ("- Likes tea.", "- Likes coffee.", "I like coffee."),
        ("- Has a dog.", "- Has a car.", "I have a car."),
        ("- Sister Maria is a nurse.", "- Maria likes cake.", "My sister Maria likes cake."),
        ("- Works as a nurse in Porto.", "- Lives in Porto.", "I live in Porto."),
    ],
)
def test_a_fact_does_not_take_the_place_of_another_that_still_holds(
    workspace: Workspace, old: str, new: str, said: str
) -> None:
    before = human(workspace, f"{old} [{DAY}:1]")
    (cite,) = say(workspace, said)
    assert slept(workspace, edit("replace", new, cite, old=old)) == before
    assert reasons(workspace)[0].startswith("it would replace a line about something else")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- Likes tea.", "- Dislikes tea.", "I don't like tea any more."),
        ("- Works at the city hospital.", "- Works at the bank.", "I work at the bank now."),
        ("- Plans a trip to Japan.", "- Went to Japan in 2026.", "We went to Japan this year."),
        ("- Has a dog named Rex.", "- Dog Rex died.", "My dog Rex died."),
        ("- Has two cats.", "- Has three cats.", "I have three cats now."),
        ("- 住在北京。", "- 住在上海。", "我现在住在上海。"),
        ("- Wohnt in Berlin.", "- Wohnt in Hamburg.", "Ich wohne jetzt in Hamburg."),
    ],
)
def test_a_newer_fact_takes_the_place_of_the_outdated_one(
    workspace: Workspace, old: str, new: str, said: str
) -> None:
    human(workspace, f"{old} [{DAY}:1]")
    (cite,) = say(workspace, said)
    assert slept(workspace, edit("replace", new, cite, old=old)) == f"{new} [{cite}]"


def test_a_line_is_not_replaced_by_one_that_says_less(workspace: Workspace) -> None:
    before = human(workspace, f"- Lives in Porto, in a house with a garden. [{DAY}:1]")
    (cite,) = say(workspace, "I live in Porto.")
    assert slept(workspace, edit("replace", "Lives in Porto.", cite, old=before)) == before
    assert reasons(workspace)[0].startswith("it says less than the line it would replace")


def test_a_known_fact_is_no_reason_to_remove_another(workspace: Workspace) -> None:
    before = human(workspace, f"- Lives in Porto. [{DAY}:1]", f"- Sister is a nurse. [{DAY}:1]")
    say(workspace, "Hello.")
    assert (
        slept(workspace, edit("replace", "Lives in Porto.", old="- Sister is a nurse.")) == before
    )


@pytest.mark.parametrize("said", ["I have a dog.", "My dog is so sweet.", "Do I have a dog?"])
def test_a_line_that_takes_nothing_back_removes_nothing(workspace: Workspace, said: str) -> None:
    before = human(workspace, f"- Has a dog. [{DAY}:1]")
    (cite,) = say(workspace, said)
    assert slept(workspace, edit("replace", "", cite, old="- Has a dog.")) == before
    assert len(workspace.review.all()) == 1


def test_what_one_patch_adds_it_cannot_use_to_remove(workspace: Workspace) -> None:
    human(workspace, f"- Lives in Porto. [{DAY}:1]")
    (cite,) = say(workspace, "I live in Porto, in a house. My house in Porto has a garden.")
    value = slept(
        workspace,
        edit("add", "Lives in Porto in a house.", cite),
        edit("replace", "", old="- Lives in Porto."),
        edit("replace", "House in Porto has a garden.", cite, old="- Lives in Porto in a house."),
        edit("replace", "", cite, old="- House in Porto has a garden."),
    )
    assert value == f"- Lives in Porto in a house. [{cite}]"


def test_many_sleeps_in_a_row_do_not_eat_a_block(workspace: Workspace) -> None:
    before = human(workspace, *filler(20))
    for _ in range(7):
        cites = say(workspace, "I keep things in a box, in every box there is.")
        doomed = [fact.text for fact in facts_of(value_of(workspace))[:3]]
        slept(workspace, *[edit("replace", "", *cites, old=line) for line in doomed])
    assert value_of(workspace) == before


def test_a_block_with_room_is_not_moved_to_archival(workspace: Workspace) -> None:
    lines = filler(12)
    before = human(workspace, *lines)
    say(workspace, "Hello.")
    assert slept(workspace, *[edit("archive", old=line) for line in lines]) == before
    assert "would leave block 'human' at once" in reasons(workspace)[0]


def test_what_a_person_wrote_is_not_archived(workspace: Workspace) -> None:
    before = human(workspace, "- Mine, and I want to see it.", f"- Has a dog. [{DAY}:1]")
    say(workspace, "Hello.")
    assert slept(workspace, edit("archive", old="- Mine, and I want to see it.")) == before


def test_the_pointer_to_archival_stays(workspace: Workspace) -> None:
    pointer = "- Older facts about this: archival/notes/about-human.md"
    before = human(workspace, f"- Has a dog. [{DAY}:1]", pointer)
    (cite,) = say(workspace, "Forget the older facts, I do not need archival notes.")
    for doomed in (edit("replace", "", cite, old=pointer), edit("archive", old=pointer)):
        assert slept(workspace, doomed) == before
        (cite,) = say(workspace, "Never mind the older facts, no notes, no archival.")


def test_a_fact_moved_between_blocks_is_not_lost_with_the_other_block(workspace: Workspace) -> None:
    persona = "\n".join(filler(8, width=100))
    workspace.core.write("persona", persona, base=workspace.core.block("persona").value)
    age(workspace, "core/persona.md")
    before = human(workspace, f"- Likes tea. [{DAY}:1]")
    (cite,) = say(workspace, "I like tea. I keep no box, forget all the boxes.")
    value = slept(
        workspace,
        edit("add", "Likes tea, and a box.", cite, block="persona"),
        edit("add", "Likes tea.", cite, block="persona"),
        edit("replace", "", old="- Likes tea."),
        *[edit("replace", "", cite, old=line, block="persona") for line in persona.split("\n")],
    )
    assert value == before or "Likes tea" in value_of(workspace, "persona")


# What the citations say.


def test_a_fact_keeps_the_citations_that_support_it_and_few(workspace: Workspace) -> None:
    cites = say(workspace, *[f"Nice weather {n}." for n in range(30)], "I live in Porto.")
    assert (
        slept(workspace, edit("add", "Lives in Porto.", *cites))
        == f"- Lives in Porto. [{cites[-1]}]"
    )


def test_words_picked_from_many_lines_support_nothing(workspace: Workspace) -> None:
    cites = say(
        workspace,
        "I own a bike.", "A yacht passed by.", "Split is sunny.", "In May it rains.", "I read a book.",
        "My bike is red.", "A harbour is a nice place.", "I keep fit.",
    )  # fmt: skip
    slept(workspace, edit("add", "Keeps a red yacht in the harbour of Split.", *cites))
    assert value_of(workspace) == ""


def test_a_range_cites_each_of_its_lines(workspace: Workspace) -> None:
    cites = say(workspace, "Nice weather.", "My sister Maria is a nurse.")
    first, last = cites[0], cites[1].rpartition(":")[2]
    slept(workspace, edit("add", "Sister Maria is a nurse.", f"[{first}-{last}]"))
    assert value_of(workspace) == f"- Sister Maria is a nurse. [{cites[1]}]"


@pytest.mark.parametrize(
    "cite",
    [
        f"{DAY}:999999", f"{DAY}:0", "1999-01-01:1", "2026-13-45:1", "archival/notes/x.md:3",
        "../../etc/passwd:1", "recall/../core/human.md:1", "recall/2026/x.jsonl:1", "/etc/passwd:1",
        ":", "", "x" * 5000, f"{DAY}:{'9' * 400}", "recall/2026/\0.jsonl:1",
    ],
)  # fmt: skip
def test_a_citation_of_nothing_supports_nothing(workspace: Workspace, cite: str) -> None:
    say(workspace, "Nice weather.")
    assert slept(workspace, edit("add", "Owns a yacht.", cite)) == ""
    assert reasons(workspace) == ["it cites no line that a person said"]


def test_a_damaged_line_supports_nothing_and_hides_no_other(workspace: Workspace) -> None:
    cites = say(workspace, "I own a yacht.", "I live in Porto.")
    path = workspace.root / workspace.recall.days()[-1]
    path.write_bytes(path.read_bytes().replace(b"yacht", b"Yacht"))
    slept(
        workspace, edit("add", "Owns a yacht.", cites[0]), edit("add", "Lives in Porto.", cites[1])
    )
    assert value_of(workspace) == f"- Lives in Porto. [{cites[1]}]"


def test_the_subject_of_a_known_fact_counts(workspace: Workspace) -> None:
    human(workspace, f"- Sister Maria works at the hospital in Porto. [{DAY}:1]")
    (cite,) = say(workspace, "I work in Porto too.")
    value = slept(workspace, edit("add", "Works in Porto.", cite))
    assert value.endswith(f"- Works in Porto. [{cite}]")


# Blocks as people write them.


def test_lines_under_other_headings_or_parents_are_not_merged(workspace: Workspace) -> None:
    before = human(
        workspace,
        "# Maria", f"- Likes green tea. [{DAY}:1]", "# John", f"- Likes green tea. [{DAY}:2]",
        "- Cats:", f"  - Mimi is old. [{DAY}:1]", "- Dogs:", f"  - Mimi is old. [{DAY}:2]",
    )  # fmt: skip
    say(workspace, "Hello.")
    assert slept(workspace) == before


def test_tables_and_code_are_left_as_they_are(workspace: Workspace) -> None:
    before = human(
        workspace,
        "| what | where |", "|---|---|", f"| red box | attic [{DAY}:1] |", f"| red box | attic [{DAY}:2] |",
        "```", f"run the backup [{DAY}:1]", f"run the backup [{DAY}:2]", "```",
    )  # fmt: skip
    say(workspace, "Hello.")
    assert slept(workspace) == before


def test_a_line_that_begins_like_another_can_be_replaced(workspace: Workspace) -> None:
    human(workspace, "- Likes tea", "- Likes tea with milk and two sugars")
    (cite,) = say(workspace, "I don't like tea any more.")
    assert slept(workspace, edit("replace", "Dislikes tea.", cite, old="- Likes tea")) == (
        f"- Dislikes tea. [{cite}]\n- Likes tea with milk and two sugars"
    )


def test_the_place_in_a_list_is_kept(workspace: Workspace) -> None:
    human(workspace, "1. Lives in Beijing.", "2. Family:", "   * Brother Tom works as a cook.")
    cites = say(workspace, "I live in Porto.", "My brother Tom works as a baker now.")
    value = slept(
        workspace,
        edit("replace", "Lives in Porto.", cites[0], old="Lives in Beijing."),
        edit(
            "replace",
            "Brother Tom works as a baker.",
            cites[1],
            old="* Brother Tom works as a cook.",
        ),
    )
    assert value.split("\n") == [
        f"1. Lives in Porto. [{cites[0]}]",
        "2. Family:",
        f"   * Brother Tom works as a baker. [{cites[1]}]",
    ]


def test_brackets_that_are_no_citation_stay_in_a_line(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I get up [at 6:30] every day, ratio [1:2].")
    assert slept(workspace, edit("add", "Gets up [at 6:30] every day.", cite)) == (
        f"- Gets up [at 6:30] every day. [{cite}]"
    )


def test_a_line_is_found_in_either_unicode_form(workspace: Workspace) -> None:
    human(workspace, "- Works at the cafe\u0301.")
    (cite,) = say(workspace, "I work at the bank now.")
    assert slept(
        workspace, edit("replace", "Works at the bank.", cite, old="- Works at the café.")
    ) == (f"- Works at the bank. [{cite}]")


def test_a_crlf_block_stays_one(workspace: Workspace) -> None:
    path = workspace.root / "core/human.md"
    path.write_bytes(b"---\r\ndescription: Me\r\n---\r\n- Lives in Beijing.\r\n- Has a dog.\r\n")
    age(workspace, "core/human.md")
    (cite,) = say(workspace, "I live in Porto.")
    slept(workspace, edit("replace", "Lives in Porto.", cite, old="- Lives in Beijing."))
    assert path.read_bytes() == (
        b"---\r\ndescription: Me\r\n---\r\n- Lives in Porto. [%s]\r\n- Has a dog.\r\n"
        % cite.encode()
    )


def test_an_overfull_block_of_a_person_stops_no_other(workspace: Workspace) -> None:
    path = workspace.root / "core/persona.md"
    path.write_text(
        "---\ndescription: Me\nlimit: 10\n---\n- I am much longer than ten characters.\n"
    )
    age(workspace, "core/persona.md")
    (cite,) = say(workspace, "I live in Porto.")
    assert slept(workspace, edit("add", "Lives in Porto.", cite)) == f"- Lives in Porto. [{cite}]"


def test_what_shortens_an_overfull_memory_lands(workspace: Workspace) -> None:
    settings = replace(workspace.settings, core_tokens=5)
    human(workspace, "- Has a big dog.", "- Likes tea.")
    workspace.settings = settings
    (cite,) = say(workspace, "I no longer have a dog, a big cat is enough.")
    sleep(
        workspace,
        Scripted([patch(edit("replace", "", cite, old="- Has a big dog."))]),
        settings=settings,
    )
    assert value_of(workspace) == "- Likes tea."


def test_a_block_may_grow_by_what_another_loses(workspace: Workspace) -> None:
    from fsagent.tokens import estimate_text

    lines = filler(6)
    human(workspace, *lines)
    workspace.core.write("persona", "", base=workspace.core.block("persona").value)
    age(workspace, "core/persona.md")
    total = sum(estimate_text(block.value) for block in workspace.core.blocks())
    settings = replace(workspace.settings, core_tokens=total + 2)
    (cite,) = say(workspace, "Call me Captain, and answer in short sentences, please.")
    with Workspace.open(workspace.root, settings=settings, clock=workspace.clock) as full:
        report = sleep(
            full,
            Scripted([patch(
                edit("add", "Call the person Captain, answer in short sentences.", cite, block="human"),
                edit("add", "Answer in short sentences, please.", cite, block="persona"),
            )]),
        )  # fmt: skip
        assert report.stop == "landed", report
        assert sum(estimate_text(block.value) for block in full.core.blocks()) <= total + 2


def test_without_any_block_no_model_is_asked(workspace: Workspace) -> None:
    for path in (workspace.root / "core").iterdir():
        path.unlink()
    say(workspace, "I live in Porto.")
    model = Scripted([patch()])
    report = sleep(workspace, model)
    assert (report.stop, model.requests) == ("deferred", [])
    assert "fsagent block new" in report.text


def test_a_block_that_cannot_be_read_is_named_before_a_model_is_paid(workspace: Workspace) -> None:
    from fsagent.errors import CorruptFile

    (workspace.root / "core/notes.md").write_text("---\n: [\n---\n- x\n")
    say(workspace, "I live in Porto.")
    model = Scripted([patch()])
    with pytest.raises(CorruptFile, match=r"core/notes\.md"):
        sleep(workspace, model)
    assert model.requests == []


# What a reader cannot see, and what is only seen so.


@pytest.mark.parametrize(
    "new",
    [
        "Lives in Porto.\U000e0101\U000e0152", "Lives in Porto.\ufe01\ufe02", "Lives in Porto.\u3164",
        "Lives in\u034f Porto.", "Lives in Porto.\u2800", "Will retire in two years.",
        "Has an exam next Friday.", "昨天搬到了波尔图。",
    ],
)  # fmt: skip
def test_hidden_text_and_relative_dates_stay_out(new: str) -> None:
    assert unfit_line(new)


@pytest.mark.parametrize(
    "new",
    [
        "Signs with 👩‍💻 and ❤️.", "در تهران زندگی می‌کند.", "हिन्दी क्‍षत्रिय", "Naïve café 日記",
        "Likes the show Last Week Tonight.", "Gets up [at 6:30].",
    ],
)  # fmt: skip
def test_what_scripts_and_emoji_need_is_no_hidden_text(new: str) -> None:
    assert not unfit_line(new)
