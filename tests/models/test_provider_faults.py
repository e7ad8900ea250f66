"""Every way a provider fails, sent by a real server on loopback, and what must come of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from fault_server import Answer, FaultServer, body, call_delta, chunk, error, stream, text

from fsagent.errors import ModelError, ModelUnavailable
from fsagent.models.openai_chat import OpenAIChat
from fsagent.types import Message, ToolSpec, Usage

ASK = [Message("user", "What pet do I have?")]
GREP = ToolSpec(
    "grep", "Search files.", {"type": "object", "properties": {"pattern": {"type": "string"}}}
)
OK = text("You have a dog.")
Connect = Callable[..., OpenAIChat]


pytestmark = pytest.mark.usefixtures("counted_fault")


BUSY = {
    "429": error("Rate limit reached", 429, code="rate_limit_exceeded"),
    "429 that tells where to pay for more": error(
        "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000. Please try again "
        "in 1.2s. You can increase your rate limit by adding a payment method to your account at "
        "https://platform.openai.com/account/billing.",
        429,
        code="rate_limit_exceeded",
    ),
    "429 of a quota of a minute": error(
        "You exceeded your current quota, please check your plan. Please retry in 34.07s.", 429
    ),
    "500": error("The server had an error", 500),
    "502 with a page": Answer(b"<html>Bad gateway</html>", 502, content_type="text/html"),
    "503 while a model loads": error("Loading model", 503, type="unavailable_error"),
    "529": error("Overloaded", 529),
    "408": error("Timeout", 408),
    "an error object in 200": body({"error": {"message": "Rate limit", "code": 429}}),
    "an error list in 200": body([{"error": {"message": "overloaded", "code": 503}}]),
    "an error in the stream": stream(
        chunk({"content": "You"}), {"error": {"message": "x", "code": 502}}
    ),
    "an error event": stream('event: error\ndata: {"message": "overloaded, try again"}'),
    "an error field": stream('error: {"code": 503, "message": "Loading model"}'),
    "the stream drops": stream(chunk({"content": "You ha"}), done=False),
    "the stream drops in an event": Answer(
        b'data: {"choices": [{"del', content_type="text/event-stream"
    ),
    "the connection is reset": Answer(b"", content_type="text/event-stream", then="reset"),
    "the connection closes unanswered": Answer(then="vanish"),
    "the stream is cut in a chunk": Answer(
        b"", content_type="text/event-stream", headers={"Transfer-Encoding": "chunked"}
    ),
    "an event that is not JSON": stream("data: {oops"),
    "a body that is not JSON": Answer(b"upstream connect error"),
    **{
        f"given up with {reason!r}": stream(chunk({"content": "You ha"}), chunk({}, reason))
        for reason in ("abort", "error", "cancelled", "insufficient_system_resource")
    },
    "given up within its calls": stream(
        chunk(call_delta(0, "a", "grep", '{"pattern": "dog"}')), chunk({}, "abort")
    ),
    "no choices at all": stream(chunk(usage={"prompt_tokens": 5})),
}


@pytest.mark.parametrize("fault", BUSY.values(), ids=BUSY.keys())
def test_a_passing_failure_is_retried_and_the_reply_shown_once(
    server: FaultServer, connect: Connect, waits: list[float], fault: Answer
) -> None:
    server.play(fault, fault, OK)
    pieces: list[str] = []
    assert connect().complete(ASK, on_text=pieces.append).message.content == "You have a dog."
    assert "".join(pieces) == "You have a dog."
    assert len(server.requests) == 3
    assert len(waits) == 2
    assert all(0 < wait < 2 for wait in waits)


@pytest.mark.parametrize("fault", BUSY.values(), ids=BUSY.keys())
def test_a_lasting_failure_ends_after_the_bounded_retries(
    server: FaultServer, connect: Connect, waits: list[float], fault: Answer
) -> None:
    server.play(fault)
    with pytest.raises(ModelError) as raised:
        connect(max_retries=3).complete(ASK)
    assert len(server.requests) == 4  # one retry layer: the openai package adds none
    assert len(waits) == 3
    assert server.url in str(raised.value)


IN_40_S = "in 40 s"


@pytest.mark.parametrize(
    "asked",
    [
        ({"Retry-After": "7"}, 7, 8),
        ({"Retry-After": "0"}, 0, 0.2),
        ({"Retry-After-Ms": "1500"}, 1.5, 2),
        (
            {"Retry-After": IN_40_S},
            20,
            45,
        ),
        (
            {"Retry-After": format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)},
            0,
            0.2,
        ),
        ({"Retry-After": "86400"}, 60, 67),
        ({"Retry-After": "soon"}, 0.2, 0.5),
        ({"Retry-After": "-5"}, 0.2, 0.5),
        ({"Retry-After": "nan"}, 0.2, 0.5),
    ],
    ids=[
        "seconds",
        "zero",
        "milliseconds",
        "date",
        "past date",
        "capped",
        "word",
        "negative",
        "nan",
    ],
)
def test_retry_after_is_waited_with_jitter_and_a_cap(
    server: FaultServer, connect: Connect, waits: list[float], asked: tuple[Any, float, float]
) -> None:
    headers, least, most = asked
    if headers.get("Retry-After") == IN_40_S:
        # Made here: a long suite collects its tests minutes before this one runs.
        moment = datetime.now(UTC) + timedelta(seconds=40)
        headers = {"Retry-After": format_datetime(moment, usegmt=True)}
    server.play(error("Slow down", 429, headers=headers), OK)
    connect().complete(ASK)
    (wait,) = waits
    assert least <= wait <= most


def test_waits_double_without_retry_after(
    server: FaultServer, connect: Connect, waits: list[float]
) -> None:
    server.play(error("x", 500))
    with pytest.raises(ModelUnavailable):
        connect(max_retries=5).complete(ASK)
    assert [
        round(wait / 2**n, 6) <= 0.5 and wait / 2**n >= 0.25 for n, wait in enumerate(waits)
    ] == [True] * 5


FINAL = {
    "insufficient_quota": (
        error("You exceeded your current quota", 429, code="insufficient_quota"),
        "no quota left",
    ),
    "402": (error("Insufficient credits", 402), "no quota left"),
    "quota in the stream": (
        stream({"error": {"message": "Insufficient credits", "code": 402}}),
        "no quota left",
    ),
    "401": (error("Incorrect API key provided: sk-secret-key", 401), "refuses the key"),
    "403": (error("Country not supported", 403), "refuses the key"),
    "bad request": (error("messages[3] is not right", 400), "refused the request"),
    "501": (error("not implemented", 501), "refused the request"),
    "a FastAPI refusal": (
        body({"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, 422),
        "messages: field required",
    ),
}


@pytest.mark.parametrize(("fault", "said"), FINAL.values(), ids=FINAL.keys())
def test_a_final_refusal_is_said_at_once(
    server: FaultServer, connect: Connect, waits: list[float], fault: Answer, said: str
) -> None:
    server.play(fault)
    with pytest.raises(ModelUnavailable, match=said) as raised:
        connect(api_key="sk-secret-key").complete(ASK)
    assert "sk-secret-key" not in str(raised.value)
    assert (len(server.requests), waits) == (1, [])


def test_nobody_listening_is_said_after_short_retries(connect: Connect, waits: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match=rf"No server answers at {url}.*--model offline"):
        connect(base_url=url).complete(ASK)
    assert len(waits) == 2
    assert sum(waits) < 2


def test_a_host_that_does_not_exist_is_named(connect: Connect) -> None:
    with pytest.raises(ModelUnavailable, match=r"host\.invalid"):
        connect(base_url="http://host.invalid/v1").complete(ASK)


STALLS = {
    "before the first event": Answer(b"", content_type="text/event-stream", then="stall"),
    "in the text": stream(chunk({"content": "You"}), done=False, then="stall"),
    "keep-alive comments only": stream(chunk({"content": "You"}), done=False, then="drip"),
    "before the headers": Answer(OK.body, content_type="text/event-stream", before_s=1.0),
}


@pytest.mark.parametrize("fault", STALLS.values(), ids=STALLS.keys())
def test_silence_ends_at_its_limit_and_is_retried(
    server: FaultServer, connect: Connect, fault: Answer
) -> None:
    server.play(fault, OK)
    completion = connect(timeout_s=0.3, idle_timeout_s=0.15).complete(ASK)
    assert completion.message.content == "You have a dog."
    assert len(server.requests) == 2


def test_a_slow_first_event_is_waited_for(server: FaultServer, connect: Connect) -> None:
    server.play(Answer(OK.body, content_type="text/event-stream", before_s=0.4))
    connect(timeout_s=3.0, idle_timeout_s=0.1).complete(ASK)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length", "MAX_OUTPUT_TOKENS"])
def test_a_reply_cut_by_its_length_keeps_no_tool_call(
    server: FaultServer, connect: Connect, reason: str
) -> None:
    whole = chunk(call_delta(0, "a", "grep", '{"pattern": "dog"}'))
    server.play(stream(chunk({"content": "Let me"}), whole, chunk({}, reason)))
    completion = connect().complete(ASK, [GREP])
    assert (completion.finish_reason, completion.message.tool_calls) == ("length", ())
    assert (completion.message.content, completion.calls_were_cut) == ("Let me", True)


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "RECITATION"])
def test_a_reply_cut_by_a_filter_says_so(
    server: FaultServer, connect: Connect, reason: str
) -> None:
    server.play(stream(chunk({"content": "You ha"}), chunk({}, reason)))
    assert connect().complete(ASK).finish_reason == "content_filter"


@pytest.mark.parametrize("called", [False, True], ids=["text", "a call"])
def test_a_reply_without_end_is_cut(server: FaultServer, connect: Connect, called: bool) -> None:
    words = "word " * 20_000
    deltas = [call_delta(0, "a", "grep", words) if called else {"content": words}] * 8
    server.play(stream(*map(chunk, deltas), done=False, then="stall"))
    completion = connect(max_retries=0).complete(ASK, [GREP])
    assert (completion.finish_reason, completion.calls_were_cut) == ("length", called)
    assert completion.message.tool_calls == ()


def test_a_stream_that_drops_inside_a_call_runs_nothing(
    server: FaultServer, connect: Connect
) -> None:
    server.play(stream(chunk(call_delta(0, "a", "grep", '{"pattern": "d')), done=False))
    with pytest.raises(ModelUnavailable, match="before the reply was whole"):
        connect(max_retries=1).complete(ASK, [GREP])


def test_a_reply_with_done_but_no_finish_reason_is_whole(
    server: FaultServer, connect: Connect
) -> None:
    server.play(stream(chunk({"content": "A dog."})))
    completion = connect().complete(ASK)
    assert (completion.message.content, completion.finish_reason) == ("A dog.", "unknown")


def test_a_stream_that_drops_after_its_finish_reason_is_whole(
    server: FaultServer, connect: Connect
) -> None:
    server.play(stream(chunk({"content": "A dog."}), chunk({}, "stop"), done=False, then="reset"))
    assert connect().complete(ASK).message.content == "A dog."
    assert len(server.requests) == 1


def test_chunks_without_choices_are_ignored_and_their_usage_read(
    server: FaultServer, connect: Connect
) -> None:
    first = chunk(prompt_filter_results=[])
    last = chunk(
        usage={
            "prompt_tokens": 7,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
    )
    server.play(stream(first, chunk({"content": "Hi"}), chunk({}, "stop"), last))
    completion = connect().complete(ASK)
    assert (completion.message.content, completion.usage) == ("Hi", Usage(7, 2, 4))


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, "many"])
def test_a_usage_of_zero_or_nonsense_is_unknown(
    server: FaultServer, connect: Connect, usage: Any
) -> None:
    server.play(stream(chunk({"content": "Hi"}), chunk({}, "stop", usage=usage)))
    assert connect().complete(ASK).usage == Usage()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no mark", "byte order mark"])
def test_a_stream_is_read_whole_whatever_its_mark_and_line_ends(
    server: FaultServer, connect: Connect, mark: bytes, ending: bytes
) -> None:
    sent = mark + OK.body.replace(b"\n", ending)
    server.play(Answer(sent, content_type="text/event-stream"))
    assert connect().complete(ASK).message.content == "You have a dog."


@pytest.mark.parametrize("content", ["", None, "  \n"])
def test_an_empty_message_is_returned_as_empty(
    server: FaultServer, connect: Connect, content: Any
) -> None:
    server.play(stream(chunk({"content": content}), chunk({}, "stop")))
    completion = connect().complete(ASK)
    assert (completion.message.content, completion.message.tool_calls) == ("", ())


@pytest.mark.parametrize(
    "arguments",
    [
        '{"pattern": ',
        '{"pattern": "a"}{"pattern": "b"}',
        '["a"]',
        '"a"',
        "",
        "{'pattern': 'a'}",
        "{}x",
    ],
)
def test_odd_arguments_are_handed_on_as_they_came(
    server: FaultServer, connect: Connect, arguments: str
) -> None:
    server.play(stream(chunk(call_delta(0, "a", "grep", arguments)), chunk({}, "tool_calls")))
    (call,) = connect().complete(ASK, [GREP]).message.tool_calls
    assert (call.name, call.arguments) == ("grep", arguments)


def test_a_call_without_an_id_gets_one(server: FaultServer, connect: Connect) -> None:
    server.play(stream(chunk(call_delta(0, None, "grep", "{}")), chunk({}, "tool_calls")))
    (call,) = connect().complete(ASK, [GREP]).message.tool_calls
    assert call.id


def test_u2028_inside_a_reply_does_not_break_the_stream(
    server: FaultServer, connect: Connect
) -> None:
    server.play(text("one\u2028two\u0085three"))
    assert connect().complete(ASK).message.content == "one\u2028two\u0085three"


HALVES = {
    "two halves of a character": (["A dog \ud83d", "\udc36!"], "A dog \U0001f436!"),
    "a half alone": (["A \ud83d", " dog"], "A \ufffd dog"),
    "a half at the end": (["A dog\udc36"], "A dog\ufffd"),
}


@pytest.mark.parametrize(("said", "stored"), HALVES.values(), ids=HALVES.keys())
def test_half_a_character_is_mended(
    server: FaultServer, connect: Connect, said: list[str], stored: str
) -> None:
    escaped = [f"data: {json.dumps(chunk({'content': piece}))}" for piece in said]
    server.play(stream(*escaped, chunk({}, "stop")))
    pieces: list[str] = []
    assert connect().complete(ASK, on_text=pieces.append).message.content == stored
    assert "".join(pieces) == stored


def test_half_a_character_in_a_call_can_be_stored(server: FaultServer, connect: Connect) -> None:
    half = json.dumps(chunk(call_delta(0, "a\ud83d", "gr\ud83dep", '{"pattern": "\ud83d"}')))
    server.play(stream(f"data: {half}", chunk({}, "tool_calls")))
    (call,) = connect().complete(ASK, [GREP]).message.tool_calls
    assert f"{call.id} {call.name} {call.arguments}".encode()


THOUGHTS = {
    "a block": ("<think>She said dog.</think>\n\nA dog.", "A dog."),
    "never closed": ("<think>She said", ""),
    "two blocks": ("<think>a</think>\n<think>b</think>A dog.", "A dog."),
    "a later line": ("A dog.\n<thinking>sure?</thinking>\nYes.", "A dog.\nYes."),
    "only closed": ("She said dog.\n</think>\n\nA dog.", "A dog."),
    "written about": ("Use the <think> tag, then </think>.", "Use the <think> tag, then </think>."),
    "almost a tag": ("<thimble>A dog.", "<thimble>A dog."),
}


@pytest.mark.parametrize(("said", "stored"), THOUGHTS.values(), ids=THOUGHTS.keys())
def test_reasoning_is_neither_stored_nor_shown(
    server: FaultServer, connect: Connect, said: str, stored: str
) -> None:
    letters = [chunk({"content": letter}) for letter in said]
    server.play(stream(*letters, chunk({"reasoning_content": "hm"}), chunk({}, "stop")))
    pieces: list[str] = []
    model = connect()
    for _ in range(2):  # an endpoint that opens the block in its prompt is known the second time
        pieces.clear()
        assert model.complete(ASK, on_text=pieces.append).message.content == stored
    assert "".join(pieces) == stored


def test_a_retry_that_opens_with_reasoning_shows_none_of_it(
    server: FaultServer, connect: Connect
) -> None:
    dropped = stream(chunk({"content": "You have a do"}), done=False)
    server.play(dropped, text("<think>She said dog, I am sure.</think>You have a dog."))
    pieces: list[str] = []
    connect().complete(ASK, on_text=pieces.append)
    assert "".join(pieces) == "You have a dog."


def test_a_retry_that_says_something_else_starts_a_new_paragraph(
    server: FaultServer, connect: Connect
) -> None:
    server.play(stream(chunk({"content": "Let me th"}), done=False), OK)
    pieces: list[str] = []
    connect().complete(ASK, on_text=pieces.append)
    assert "".join(pieces) == "Let me th\n\nYou have a dog."
