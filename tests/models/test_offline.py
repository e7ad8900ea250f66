"""The offline model as a model: which tools it calls, what it says, what it cites."""

from __future__ import annotations

import json

import pytest

from fsagent.models.offline import Offline
from fsagent.types import Completion, Message, ToolSpec

DAY = "recall/2024/2024-03-05.jsonl"
LINES = (
    "2024-03-05 18:40 Ana: The ferry to the island was late again.",
    "2024-03-05 18:41 Ben: Did you buy anything at the market?",
    "2024-03-05 18:42 Ana: Yes, I bought a brass compass there yesterday.",
    "2024-03-05 18:43 Ben: I adopted a grey cat called Miso last week.",
)


def spec(name: str, *properties: str) -> ToolSpec:
    shape = {"type": "object", "properties": {key: {} for key in properties}}
    return ToolSpec(name, name, shape)


SEARCH = spec("search_files", "query", "limit")
OPEN = spec("open", "path", "start", "end")
FILES = (SEARCH, OPEN)


def answer_with(question: str, lines: tuple[str, ...] = LINES) -> str:
    """Ask `question` with a search that finds all `lines`."""
    hits = "\n".join(f"{DAY}:{n}: {line}" for n, line in enumerate(lines, 1))
    messages = [Message("user", question)]
    for _ in range(8):
        message = Offline().complete(messages, FILES).message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            found = hits if call.name == "search_files" else f"{DAY} lines 1-1 of 4\n1: {lines[0]}"
            messages.append(Message("tool", found, tool_call_id=call.id))
    raise AssertionError("no answer after 8 steps")


def calls(completion: Completion) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, json.loads(call.arguments)) for call in completion.message.tool_calls]


def test_a_question_is_searched_first() -> None:
    done = Offline().complete([Message("user", "What did Ana buy at the market?")], FILES)
    assert done.finish_reason == "tool_calls"
    assert [name for name, _ in calls(done)] == ["search_files"]
    assert "market" in str(calls(done)[0][1]["query"])


def test_the_best_hits_are_opened_with_lines_around_them() -> None:
    first = Offline().complete([Message("user", "What did Ana buy?")], FILES)
    result = Message("tool", f"{DAY}:30: {LINES[2]}", tool_call_id="call_1_1")
    done = Offline().complete([Message("user", "What did Ana buy?"), first.message, result], FILES)
    name, arguments = calls(done)[0]
    assert (name, arguments["path"]) == ("open", DAY)
    assert int(str(arguments["start"])) < 30 < int(str(arguments["end"]))


def test_an_empty_search_is_tried_again_with_other_words() -> None:
    messages = [Message("user", "What did Ana buy at the market?")]
    queries = []
    for _ in range(6):
        done = Offline().complete(messages, FILES)
        if not done.message.tool_calls:
            break
        queries.append(calls(done)[0][1]["query"])
        nothing = Message("tool", 'No hits for "x".', tool_call_id=done.message.tool_calls[0].id)
        messages += [done.message, nothing]
    assert len(queries) == len(set(queries)) >= 2
    assert done.message.content == "No information available"


def test_the_answer_cites_the_line_it_rests_on() -> None:
    reply = answer_with("What did Ana buy at the market?")
    assert "compass" in reply
    assert reply.endswith("[2024-03-05:3]")


def test_a_document_is_cited_by_its_path() -> None:
    hit = "archival/manual.md:12: The pump must be oiled every spring."
    messages = [
        Message("user", "How often must the pump be oiled?"),
        Offline()
        .complete([Message("user", "How often must the pump be oiled?")], (SEARCH,))
        .message,
        Message("tool", hit, tool_call_id="call_1_1"),
    ]
    text = Offline().complete(messages, (SEARCH,)).message.content
    assert "every spring" in text
    assert text.endswith("[archival/manual.md:12]")


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("When did Ana buy the compass?", "4 March 2024"),
        ("When did Ben adopt the cat?", "the week before 5 March 2024"),
        ("When was the ferry to the island late?", "5 March 2024"),
    ],
)
def test_when_is_answered_with_an_absolute_date(question: str, date: str) -> None:
    assert answer_with(question).startswith(date + " [")


@pytest.mark.parametrize(
    "question",
    [
        "What instrument does Ana play in the orchestra?",
        "Why did Ben sell his motorcycle?",
        "When did Ana adopt a grey cat called Miso?",
    ],
)
def test_what_memory_does_not_hold_is_refused(question: str) -> None:
    assert answer_with(question) == "No information available"


@pytest.mark.parametrize(
    "statement", ["I moved to Porto last week.", "My sister is called Irene", "Ben hates olives."]
)
def test_a_statement_is_acknowledged_without_a_call(statement: str) -> None:
    done = Offline().complete([Message("user", statement)], FILES)
    assert (done.finish_reason, done.message.tool_calls) == ("stop", ())
    assert 0 < len(done.message.content.split()) <= 6


@pytest.mark.parametrize("text", ["hi", "Hello there!", "thanks", "Thank you so much!", "bye"])
def test_small_talk_gets_a_short_reply(text: str) -> None:
    done = Offline().complete([Message("user", text)], FILES)
    assert done.message.content
    assert not done.message.tool_calls


def test_it_says_what_it_is() -> None:
    assert "offline model" in Offline().complete([Message("user", "Who are you?")]).message.content


def test_only_tools_on_offer_are_called() -> None:
    done = Offline().complete([Message("user", "What did Ana buy?")], [spec("grep", "pattern")])
    assert not done.message.tool_calls


def test_it_speaks_through_send_message_where_that_is_the_only_way() -> None:
    memgpt = [
        spec("conversation_search", "query", "limit", "request_heartbeat"),
        spec("send_message", "message", "request_heartbeat"),
    ]
    messages = [Message("user", "What did Ana buy at the market?")]
    first = Offline().complete(messages, memgpt)
    assert calls(first)[0][0] == "conversation_search"
    assert calls(first)[0][1]["request_heartbeat"] is True
    hits = "\n".join(f"{DAY}:{n}: {line}" for n, line in enumerate(LINES, 1))
    messages += [first.message, Message("tool", hits, tool_call_id="call_1_1")]
    name, arguments = calls(Offline().complete(messages, memgpt))[0]
    assert (name, arguments["request_heartbeat"]) == ("send_message", False)
    assert "compass" in str(arguments["message"])


def test_without_tools_it_answers_from_the_lines_in_the_message() -> None:
    context = "\n".join(f"{DAY}:{n}: {line}" for n, line in enumerate(LINES, 1))
    prompt = f"Answer from these lines.\n\n{context}\n\nQuestion: What did Ana buy at the market?"
    text = Offline().complete([Message("user", prompt)]).message.content
    assert "compass" in text
    assert text.endswith("[2024-03-05:3]")


def test_what_a_context_line_asks_is_not_taken_for_the_question() -> None:
    context = "2024-05-01 10:00 Bo: What are you doing?\n2024-05-01 10:01 Ada: I paint a kite."
    message = Message("user", f"{context}\n\nQuestion: What does Ada paint?")
    assert "kite" in Offline().complete([message]).message.content


def test_the_text_streams_in_pieces_that_add_up() -> None:
    pieces: list[str] = []
    done = Offline().complete([Message("user", "Who are you?")], on_text=pieces.append)
    assert len(pieces) > 3
    assert "".join(pieces) == done.message.content


def test_usage_is_estimated() -> None:
    usage = Offline().complete([Message("user", "hello")]).usage
    assert usage.prompt_tokens
    assert usage.completion_tokens


@pytest.mark.parametrize("text", ["", "   ", "?", "[image: ]", "\n\n", "a" * 5000])
def test_no_message_breaks_it(text: str) -> None:
    assert Offline().complete([Message("user", text)], FILES).message
    assert Offline().complete([Message("user", text)]).message


def test_no_user_message_at_all_is_no_failure() -> None:
    assert Offline().complete([Message("system", "x")], FILES).message.content
