"""What the offline reader makes of questions, of tool results, and of sentences."""

from __future__ import annotations

import pytest

from fsagent.models.offline.answer import REFUSAL, answer
from fsagent.models.offline.evidence import read_context, read_evidence
from fsagent.models.offline.question import analyse, is_question
from fsagent.models.offline.reader import ranked
from fsagent.models.offline.words import content_stems, sentences, stem
from fsagent.types import Message

DAY = "recall/2024/2024-03-05.jsonl"


def ask(question: str, *spoken: str) -> str:
    """Answer `question` from lines such as `Ana: I sail.`, all found by search in this order."""
    hits = "\n".join(f"{DAY}:{n}: 2024-03-05 18:{n:02} {line}" for n, line in enumerate(spoken, 1))
    return answer(analyse(question), read_evidence([Message("tool", hits)])).text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Ana sail?", "when"),
        ("In which year was it built?", "when"),
        ("On what date do we meet?", "when"),
        ("Where does Ben live?", "where"),
        ("What city did Ana visit?", "where"),
        ("Who taught Ana to sail?", "who"),
        ("With whom did she travel?", "who"),
        ("Why did he leave?", "why"),
        ("What inspired the painting?", "why"),
        ("How many boats does Ana own?", "how many"),
        ("How long has Ben been married?", "how long"),
        ("How often does she run?", "how often"),
        ("How did Ana feel after the race?", "feel"),
        ("How does he travel to work?", "how"),
        ("What is the name of the cat?", "name"),
        ("What hobbies does Ana have?", "list"),
        ("What are the names of his sisters?", "list"),
        ("What did Ana buy?", "what"),
        ("Is Ben a teacher?", "yes/no"),
        ("Would Ana enjoy a concert?", "would"),
        ("Would Ana rather sail or hike?", "choice"),
        ("ok, can you tell me when we met?", "when"),
    ],
)
def test_the_kind_of_a_question(text: str, kind: str) -> None:
    assert analyse(text).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "What is it?",
        "tell me where I live",
        "who was that",
        "and when did we meet",
        '"Is it true?"',
    ],
)
def test_questions_are_told_from_statements(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["I moved to Porto.", "Whatever.", "Isabel is here", ""])
def test_statements_are_not_questions(text: str) -> None:
    assert not is_question(text)


def test_a_question_names_its_subject_among_the_speakers() -> None:
    question = analyse("What did Ana's brother Tom say to Ben?")
    assert question.subjects({"Ana", "Ben", "Cleo"}) == {"Ana", "Ben"}


def test_a_question_about_me_is_about_all_but_the_assistant() -> None:
    assert analyse("What is my cat called?").subjects({"user", "assistant"}) == {"user"}


def test_irregular_forms_meet() -> None:
    assert stem("bought") == stem("buys") == stem("buying")
    assert content_stems("The children's mom went") == content_stems("child mother go")


def test_sentences_part_at_marks_line_breaks_and_captions() -> None:
    text = "I sail. Do you? ⏎ Not today! [image: a photo of a boat]"
    assert (
        sentences(text)
        == ["I sail.", "Do you?", "Not today!", "[image: a photo of a boat. It is red]"][:3]
        + sentences(text)[3:]
    )


def test_hits_lines_around_them_and_windows_become_lines() -> None:
    hits = (
        f"{DAY}:3: 2024-03-05 18:42 Ana: I sail.\n{DAY}-4- 2024-03-05 18:43 Ben: Nice.\n\n"
        '(1 of 4 hits; next page: search_files(query="sail", offset=1))\n(no line holds: yacht)'
    )
    window = (
        f"{DAY} lines 2-3 of 9\n2: 2024-03-05 18:41 Ben: And you?\n3: 2024-03-05 18:42 Ana: I sail."
    )
    evidence = read_evidence([Message("tool", hits), Message("tool", window)])
    assert [(line.number, line.speaker, line.rank) for line in evidence.lines] == [
        (3, "Ana", 0),
        (4, "Ben", None),
        (2, "Ben", None),
    ]
    assert evidence.missing == {"yacht"}
    assert evidence.lines[0].citation == "[2024-03-05:3]"


def test_other_tool_results_hold_no_lines() -> None:
    results = ["Closed notes.md; 120 tokens freed.", 'No hits for "x". Try other words.', "", ":::"]
    assert read_evidence(Message("tool", text) for text in results).lines == ()


def test_lines_without_a_search_are_ranked_by_the_question() -> None:
    context = "\n".join(
        f"2024-03-05 18:{n:02} Ana: {text}"
        for n, text in enumerate(["I like tea.", "My boat is called Petrel.", "Rain again."])
    )
    evidence = ranked(analyse("What is Ana's boat called?"), read_context(context))
    assert evidence.hits()[0].body == "My boat is called Petrel."


@pytest.mark.parametrize(
    ("question", "lines", "holds"),
    [
        ("How many goats does Ana keep?", ["Ana: We keep seven goats on the hill."], "seven"),
        ("How much honey did Ana sell?", ["Ana: I sold forty kilos of honey."], "forty kilos"),
        ("How long has Ana played the cello?", ["Ana: I have played the cello for six years."], "six years"),
        ("What is the name of Ana's dog?", ["Ana: I have a dog, he is called Bruno."], "Bruno"),
        ("Why did Ana sell the boat?", ["Ana: I sold the boat because the mast broke."], "the mast broke"),
        ("Who taught Ana to sail?", ["Ana: My uncle taught me to sail."], "uncle"),
        ("Where does Ana live?", ["Ana: I live in Lisbon now."], "Lisbon"),
        ("What book did Ana read?", ['Ana: I read the book "Moby Dick" in one go.'], "Moby Dick"),
        ("Is Ana a teacher?", ["Ana: I am a teacher at the harbour school."], "Yes"),
        ("Does Ana like olives?", ["Ana: I do not like olives at all."], "No"),
        ("Would Ana rather have tea or coffee?", ["Ana: I would rather have tea every morning."], "tea"),
    ],
)  # fmt: skip
def test_each_kind_of_question_gets_its_kind_of_answer(
    question: str, lines: list[str], holds: str
) -> None:
    assert holds in ask(question, *lines)


def test_an_answer_follows_the_question_it_was_asked() -> None:
    lines = (
        "Ben: What pets do you have, Ana?",
        "Ana: A tortoise named Flash.",
        "Ben: Pets are fun!",
    )
    assert "Flash" in ask("What pet does Ana have?", *lines)


def test_things_asked_in_the_plural_are_joined() -> None:
    lines = (
        "Ana: My hobby is woodcarving.",
        "Ana: My new hobby is beekeeping.",
        "Ben: Rain again.",
    )
    said = ask("What hobbies does Ana have?", *lines)
    assert "woodcarving" in said
    assert "beekeeping" in said
    assert "," in said


@pytest.mark.parametrize(
    "question",
    [
        "What did Ben paint for the exhibition?",
        "Why did Ben sell the red bicycle?",
    ],
)
def test_what_only_another_person_said_is_refused(question: str) -> None:
    lines = (
        "Ana: I painted a lighthouse for the exhibition.",
        "Ana: I sold the red bicycle because the frame was bent.",
        "Ben: Good morning, nice weather.",
    )
    assert ask(question, *lines) == REFUSAL
    assert ask(question.replace("Ben", "Ana"), *lines) != REFUSAL


def test_what_another_person_says_about_the_subject_counts() -> None:
    lines = ("Ana: Ben painted a lighthouse for the exhibition.", "Ben: Good morning.")
    assert "lighthouse" in ask("What did Ben paint for the exhibition?", *lines)


@pytest.mark.parametrize("title", ["Mr", "Mrs", "Ms", "Dr", "Prof", "St"])
def test_a_title_ends_no_sentence(title: str) -> None:
    assert sentences(f"I met {title}. Wendell today. She left.") == [
        f"I met {title}. Wendell today.",
        "She left.",
    ]


def test_a_step_that_only_called_tools_is_never_an_answer() -> None:
    said = ask("Where does Ana live?", "assistant: [called search_files] [called open]")
    assert said == REFUSAL
