"""Chat templates that insist on whose turn it is: learned once, then obeyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fault_server import Answer, error, role_refusal, stream, text
from hypothesis import given
from hypothesis import strategies as st

from fsagent.errors import ModelUnavailable
from fsagent.models.alternation import told_as
from fsagent.models.quirks import QuirkStore
from fsagent.models.wire import wire_messages
from fsagent.types import Message, ToolCall, ToolSpec

FIND = ToolSpec("find", "Find.", {"type": "object", "properties": {}}, finds=True)
CALL = Message("assistant", "", (ToolCall("c1", "find", "{}"),))
RESULT = Message("tool", "No hits.", tool_call_id="c1", name="find")
CONVERSATIONS = {
    "two of the user": [Message("user", "One"), Message("user", "Two?")],
    "an interrupted turn": [
        Message("user", "One"),
        CALL,
        RESULT,
        Message("user", "Two?"),
        Message("system", "Now: 9"),
    ],
    "a summary before the assistant": [Message("user", "Summary"), Message("user", "Hi")],
    "an assistant first": [Message("assistant", "Hi."), Message("user", "One?")],
    "two of the assistant": [
        Message("user", "One"),
        Message("assistant", "It is"),
        CALL,
        RESULT,
    ],
    "a late system message": [
        Message("user", "One"),
        Message("assistant", "Two."),
        Message("system", "Your reply was cut."),
    ],
}
SYSTEM = Message("system", "Be brief.")


@pytest.fixture
def quirks_path(tmp_path: Path) -> Path:
    return tmp_path / "endpoints.json"


@pytest.mark.parametrize("system", [True, False], ids=["alternating", "no system role"])
@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("mode", ["native", "json"])
@pytest.mark.parametrize("said", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_a_strict_template_is_learned_once(  # noqa: PLR0917 - a table of four columns
    server, connect, quirks_path, said, mode, status, system
) -> None:
    said_back = '{"reply": "Three."}' if mode == "json" else "Three."

    def answer(request: Any) -> Answer:
        refusal = role_refusal(request.body["messages"], system=system)
        return error(refusal, status) if refusal else text(said_back)

    server.script = answer
    messages = [SYSTEM, *said]
    options = {"tool_mode": mode, "quirks": quirks_path, "max_retries": 0}
    assert connect(**options).complete(messages, [FIND]).message.content == "Three."
    tries = len(server.requests)
    assert connect(**options).complete(messages, [FIND]).message.content == "Three."
    assert len(server.requests) == tries + 1, "another process asks again what was learned"
    sent = " ".join(str(one["content"]) for one in server.requests[-1].body["messages"])
    assert all(message.content in sent for message in messages)


WORDINGS = {
    "Mistral": error("Expected last role User or Tool (or Assistant with prefix True)", 400),
    "Mistral in the middle": error("Unexpected role 'user' after role 'tool'", 400),
    "Gemma in llama.cpp": error("System role not supported", 500, type="server_error"),
    "vLLM": error("Conversation roles must alternate user/assistant/user/assistant/...", 400),
    "LM Studio, in the stream": stream(
        {
            "error": {
                "message": "Error rendering prompt with jinja template: 'After the optional system "
                "message, conversation roles must alternate user/assistant/user/assistant/...'"
            }
        }
    ),
    "Anthropic": error(
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" '
        "roles in a row",
        400,
    ),
    "Qwen": error("System message must be at the beginning.", 400),
}


@pytest.mark.parametrize("fault", WORDINGS.values(), ids=WORDINGS.keys())
def test_the_wordings_of_servers_are_known(server, connect, fault: Answer) -> None:
    def answer(request: Any) -> Answer:
        return fault if len(server.requests) == 1 else text("Three.")

    server.script = answer
    model = connect(max_retries=0)
    assert model.complete([SYSTEM, *CONVERSATIONS["two of the user"]]).message.content == "Three."
    assert model.quirks.roles == "alternating"


def test_an_endpoint_that_takes_every_order_is_sent_it_as_it_is(server, connect) -> None:
    server.play(text("Three."))
    connect().complete([SYSTEM, *CONVERSATIONS["two of the user"]])
    assert [one["role"] for one in server.requests[0].body["messages"]] == [
        "system",
        "user",
        "user",
    ]


def test_a_template_that_refuses_every_order_ends_with_what_to_do(
    server, connect, quirks_path
) -> None:
    server.play(error("Conversation roles must alternate user/assistant/user/assistant", 400))
    with pytest.raises(ModelUnavailable, match=r"chat template of m .* another template"):
        connect(quirks=quirks_path).complete([SYSTEM, *CONVERSATIONS["two of the user"]])
    assert len(server.requests) == 3
    assert QuirkStore(quirks_path).get(server.url, "m").roles == "any"


UNITS = st.sampled_from(
    [[Message("user", "u")], [Message("assistant", "a")], [Message("system", "s")], [CALL, RESULT]]
)


@given(st.lists(UNITS, max_size=8), st.sampled_from(["alternating", "no_system"]))
def test_every_conversation_is_told_in_an_order_that_a_strict_template_takes(units, roles) -> None:
    said = [message for unit in units for message in unit]
    told = wire_messages([SYSTEM, *said, Message("user", "last")], roles)
    assert role_refusal(told, system=roles == "alternating") is None


@given(st.lists(UNITS, max_size=8))
def test_calls_keep_their_results(units) -> None:
    said = [SYSTEM, *(message for unit in units for message in unit)]
    told = told_as(said, "alternating")
    for place, message in enumerate(told):
        if message.role == "tool":
            assert told[place - 1].tool_calls == CALL.tool_calls
