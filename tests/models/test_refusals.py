"""What endpoints refuse: parameters, tools, long prompts, addresses, models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fault_server import Answer, FaultServer, body, error, stream, text

from fsagent.errors import ContextOverflow, MalformedResponse, ModelUnavailable
from fsagent.models.openai_chat import OpenAIChat
from fsagent.models.quirks import Quirks, QuirkStore
from fsagent.types import Message, ToolSpec

ASK = [Message("user", "What pet do I have?")]
GREP = ToolSpec(
    "grep", "Search files.", {"type": "object", "properties": {"pattern": {"type": "string"}}}
)
OK = text("You have a dog.")
Connect = Callable[..., OpenAIChat]


pytestmark = pytest.mark.usefixtures("counted_fault")


def refuse_parameter(name: str, message: str, **fields: Any) -> Callable[[Any], Answer]:
    """Serve as an endpoint that refuses every request with this parameter."""
    return lambda request: error(message, 400, **fields) if name in request.body else OK


Refusal = tuple[str, str, dict[str, Any], Quirks]
REFUSALS: dict[str, Refusal] = {
    "max_tokens renamed": (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        {"param": "max_tokens", "code": "unsupported_parameter"},
        Quirks(renamed={"max_tokens": "max_completion_tokens"}),
    ),
    "temperature": (
        "temperature",
        "Unsupported value: 'temperature' does not support 0.0 with this model.",
        {"param": "temperature"},
        Quirks(dropped=("temperature",)),
    ),
    "stream_options": (
        "stream_options",
        "Unrecognized request argument supplied: stream_options",
        {},
        Quirks(dropped=("stream_options",)),
    ),
    "a nested parameter": (
        "stream_options",
        "Extra inputs are not permitted",
        {"param": "stream_options.include_usage"},
        Quirks(dropped=("stream_options",)),
    ),
    "parallel_tool_calls": (
        "parallel_tool_calls",
        "property 'parallel_tool_calls' is unsupported",
        {},
        Quirks(dropped=("parallel_tool_calls",)),
    ),
    "tool_choice": (
        "tool_choice",
        "Unknown parameter: tool_choice",
        {"param": "tool_choice"},
        Quirks(dropped=("tool_choice",)),
    ),
    "seed": ("seed", "seed: Extra inputs are not permitted", {}, Quirks(dropped=("seed",))),
    "stream": ("stream", "stream must be false", {"param": "stream"}, Quirks(stream=False)),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refused_parameter_is_left_out_once_and_remembered(
    server: FaultServer, connect: Connect, tmp_path: Path, refusal: Refusal
) -> None:
    name, message, fields, learned = refusal
    path = tmp_path / ".fsagent" / "endpoints.json"
    options = {
        "temperature": 0.0,
        "max_tokens": 99,
        "seed": 1,
        "extra": {"parallel_tool_calls": True, "tool_choice": "auto"},
        "quirks": path,
    }
    server.script = refuse_parameter(name, message, **fields)
    if name == "stream":
        refused = error(message, 400, **fields)
        plain = body(
            {"choices": [{"message": {"content": "You have a dog."}, "finish_reason": "stop"}]}
        )
        server.script = lambda request: refused if request.body.get("stream") else plain
    assert connect(**options).complete(ASK).message.content == "You have a dog."
    assert len(server.requests) == 2
    sent = server.requests[1].body
    assert sent.keys() & {"temperature", "seed"} == {"temperature", "seed"} - {name}
    if name == "max_tokens":
        assert sent["max_completion_tokens"] == 99
    assert QuirkStore(path).get(server.url, "m") == learned
    connect(**options).complete(ASK)  # another process
    assert len(server.requests) == 3


def test_several_refusals_are_learned_one_after_the_other(
    server: FaultServer, connect: Connect
) -> None:
    def answer(request: Any) -> Answer:
        for name in ("temperature", "stream_options", "max_tokens", "max_completion_tokens"):
            if name in request.body:
                hint = " Use 'max_completion_tokens'." if name == "max_tokens" else ""
                return error(f"Unsupported parameter: {name}.{hint}", 400)
        return OK

    server.script = answer
    model = connect(temperature=0.0, max_tokens=9)
    model.complete(ASK)
    assert model.quirks.dropped == ("max_tokens", "stream_options", "temperature")
    assert len(server.requests) == 5


def test_a_refusal_that_does_not_go_away_ends(server: FaultServer, connect: Connect) -> None:
    server.play(error("Unsupported parameter: temperature", 400))
    with pytest.raises(ModelUnavailable, match="refused the request"):
        connect(temperature=0.0).complete(ASK)
    assert len(server.requests) == 2


def test_nothing_is_learned_from_a_request_that_never_succeeds(
    server: FaultServer, connect: Connect
) -> None:
    server.play(error("bad temperature", 400), error("account closed", 403))
    model = connect(temperature=0.0)
    with pytest.raises(ModelUnavailable):
        model.complete(ASK)
    assert model.quirks == Quirks()


NO_TOOLS = {
    "Ollama": error("registry.ollama.ai/library/gemma:2b does not support tools", 400),
    "vLLM": error(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        400,
    ),
    "llama.cpp": error("tools param requires --jinja flag", 500, type="server_error"),
    "OpenRouter": error("No endpoints found that support tool use. Tool use is not supported", 404),
    "a strict server": error("Unknown field: tools", 422),
    "named": error("invalid", 400, param="tools"),
    "named within": error("anyOf is not taken", 400, param="tools[0].function.parameters"),
}


@pytest.mark.parametrize("fault", NO_TOOLS.values(), ids=NO_TOOLS.keys())
def test_refused_tools_turn_to_the_json_mode(
    server: FaultServer, connect: Connect, fault: Answer
) -> None:
    server.script = lambda request: (
        fault
        if "tools" in request.body
        else text('{"tool": "grep", "arguments": {"pattern": "dog"}}')
    )
    model = connect()
    for count in (2, 3):
        (call,) = model.complete(ASK, [GREP]).message.tool_calls
        assert (call.name, json.loads(call.arguments)) == ("grep", {"pattern": "dog"})
        assert len(server.requests) == count
    assert server.requests[2].body["response_format"]["type"] == "json_schema"


def test_refused_tools_are_an_error_where_native_calls_are_demanded(
    server: FaultServer, connect: Connect
) -> None:
    server.play(NO_TOOLS["Ollama"])
    with pytest.raises(ModelUnavailable, match="Set tool_mode to auto or json"):
        connect(tool_mode="native").complete(ASK, [GREP])


def test_response_formats_are_weakened_step_by_step(server: FaultServer, connect: Connect) -> None:
    def answer(request: Any) -> Answer:
        kind = request.body.get("response_format", {}).get("type")
        return (
            error(f"response_format.type {kind} is not supported", 400)
            if kind
            else text('{"reply": "A dog."}')
        )

    server.script = answer
    model = connect(tool_mode="json")
    assert model.complete(ASK, [GREP]).message.content == "A dog."
    assert (len(server.requests), model.quirks.response_format) == (3, "none")


OVERFLOWS = {
    "OpenAI": (
        error(
            "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens "
            "(8001 in the messages, 1000 in the completion). Please reduce the length of the messages.",
            400,
            code="context_length_exceeded",
        ),
        8192,
    ),
    "llama.cpp": (
        error(
            "the request exceeds the available context size, try increasing it",
            400,
            type="exceed_context_size_error",
            n_ctx=4096,
            n_prompt_tokens=5000,
        ),
        4096,
    ),
    "Anthropic": (error("prompt is too long: 210000 tokens > 200000 maximum", 400), 200000),
    "LM Studio": (
        stream(
            {
                "error": {
                    "message": "The number of tokens to keep is greater than the context length"
                }
            }
        ),
        None,
    ),
    "Gemini": (
        error("The input token count exceeds the maximum number of tokens allowed", 400),
        None,
    ),
    "vLLM": (
        error(
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 400
        ),
        4096,
    ),
    "TGI": (
        error(
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 "
            "`max_new_tokens`",
            422,
        ),
        4096,
    ),
    "DashScope": (error("Range of input length should be [1, 30720]", 400), 30720),
    "GitHub": (error("prompt token count of 130000 exceeds the limit of 128000", 400), 128000),
    "Mistral": (
        error(
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            400,
        ),
        32768,
    ),
}


@pytest.mark.parametrize(("fault", "limit"), OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_an_overflow_is_told_apart_and_says_the_limit(
    server: FaultServer, connect: Connect, fault: Answer, limit: int | None
) -> None:
    server.play(fault)
    model = connect(max_tokens=1000)
    with pytest.raises(ContextOverflow) as raised:
        model.complete(ASK)
    assert (raised.value.limit_tokens, len(server.requests)) == (limit, 1)
    assert model.quirks.context_tokens == limit


def test_a_rate_limit_in_tokens_is_not_an_overflow(server: FaultServer, connect: Connect) -> None:
    server.play(error("Request too large: Limit 6000, Requested 9000 tokens per minute (TPM)", 413))
    with pytest.raises(ModelUnavailable):
        connect().complete(ASK)


ROOT_URLS = ("", "/", "/v1", "/v1/", "/v1/chat/completions")
ADDRESSES = [(given, served) for given in ROOT_URLS for served in ("/v1", "")]
ADDRESSES += [(given, served) for given in ("/api", "/api/v1") for served in ("/api/v1", "/api")]


@pytest.mark.parametrize(("given", "served"), ADDRESSES)
def test_a_base_url_works_with_and_without_v1(
    server: FaultServer, connect: Connect, given: str, served: str
) -> None:
    server.script = lambda request: (
        OK if request.path == f"{served}/chat/completions" else Answer(b"404 page not found", 404)
    )
    model = connect(base_url=f"http://127.0.0.1:{server.port}{given}")
    model.complete(ASK)
    tries = len(server.requests)
    assert tries <= 2
    model.complete(ASK)
    assert len(server.requests) == tries + 1


def test_a_web_page_at_the_base_url_leads_to_the_other_address(
    server: FaultServer, connect: Connect
) -> None:
    page = Answer(b"<!doctype html><p>Open WebUI", content_type="text/html")
    server.script = lambda request: OK if request.path.startswith("/ui/v1") else page
    assert connect(base_url=f"http://127.0.0.1:{server.port}/ui").complete(ASK).message.content
    server.play(page)
    with pytest.raises(ModelUnavailable, match="no chat completions at"):
        connect(base_url=f"http://127.0.0.1:{server.port}/other").complete(ASK)


UNKNOWN_MODEL = {
    "OpenAI": error(
        "The model `m` does not exist or you do not have access to it.", 404, code="model_not_found"
    ),
    "Ollama": error('model "m" not found, try pulling it first', 404),
    "vLLM": body({"object": "error", "message": "The model `m` does not exist.", "code": 404}, 404),
}


@pytest.mark.parametrize("fault", UNKNOWN_MODEL.values(), ids=UNKNOWN_MODEL.keys())
def test_an_unknown_model_is_said_with_those_that_exist(
    server: FaultServer, connect: Connect, fault: Answer
) -> None:
    server.script = lambda request: (
        body({"data": [{"id": "qwen"}, {"id": "llama"}]}) if request.path == "/v1/models" else fault
    )
    with pytest.raises(ModelUnavailable, match=r"no model 'm'.*It has: llama, qwen\..*--model"):
        connect().complete(ASK)


def test_an_answer_that_is_no_completion_is_malformed(
    server: FaultServer, connect: Connect
) -> None:
    server.play(Answer(b"hello"))
    with pytest.raises(MalformedResponse, match="does not answer as a chat-completions server"):
        connect(max_retries=0).complete(ASK)
