"""The probe says what an endpoint can do, and what it refuses is learned."""

from __future__ import annotations

from typing import Any

from fault_server import Answer, body, call_delta, chunk, error, role_refusal, stream, text

from fsagent.models.probe import probe
from fsagent.models.scripted import Scripted

LISTED = {"object": "list", "data": [{"id": "m", "object": "model", "meta": {"n_ctx": 4096}}]}


def able(request: Any) -> Answer:
    """Answer as an endpoint that can do everything."""
    if request.path == "/v1/models":
        return body(LISTED)
    if "response_format" in request.body:
        return text('{"tool": "get_weather", "arguments": {"city": "Oslo"}}')
    if "tools" not in request.body:
        return text("Hello, you there.")
    both = "Rome" in request.body["messages"][-1]["content"]
    calls = [call_delta(0, "a", "get_weather", '{"city": "Oslo"}')]
    calls += [call_delta(1, "b", "get_weather", '{"city": "Rome"}')] if both else []
    return stream(*map(chunk, calls), chunk({}, "tool_calls"))


def poor(request: Any) -> Answer:
    """Answer as an endpoint that refuses what it can."""
    refused = ("tools", "temperature", "stream_options", "response_format", "max_tokens")
    for name in refused:
        if name in request.body:
            hint = "; use max_completion_tokens" if name == "max_tokens" else ""
            return error(f"{name} is not supported{hint}", 400)
    if request.path == "/v1/models":
        return Answer(b"", 404)
    if request.body.get("stream"):
        return error("stream is not supported", 400)
    message = {"content": "Oslo is fine."}
    return body({"choices": [{"message": message, "finish_reason": "stop"}]})


def test_an_able_endpoint_passes_every_check(server, connect) -> None:
    server.script = able
    model = connect()
    results = {one.name: one for one in probe(model)}
    assert all(one.ok for one in results.values()), results
    assert list(results) == [
        "streaming",
        "token parameter",
        "temperature",
        "message order",
        "tools",
        "parallel calls",
        "JSON schema",
        "context size",
    ]
    assert results["context size"].detail == "4096 tokens"
    assert results["token parameter"].detail == "max_tokens"
    assert model.quirks.tools == "native"
    assert model.context_tokens == 4096


def test_a_poor_endpoint_is_described_and_learned(server, connect) -> None:
    server.script = poor
    model = connect()
    results = {one.name: (one.ok, one.detail) for one in probe(model)}
    assert results["streaming"] == (None, "refused; replies come whole")
    assert results["token parameter"] == (True, "max_completion_tokens")
    assert results["temperature"] == (False, "temperature refused; left out")
    assert results["tools"][0] is False
    assert results["parallel calls"][0] is False
    assert results["JSON schema"][0] is False
    assert results["context size"][0] is False
    assert (model.quirks.tools, model.quirks.response_format) == ("json", "none")


def test_an_endpoint_that_does_not_answer_gives_one_result(server, connect) -> None:
    server.play(error("Incorrect key", 401))
    (result,) = probe(connect())
    assert result.ok is False
    assert "refuses the key" in result.detail
    assert result.as_dict()["name"] == "streaming"


def test_a_model_without_an_endpoint_has_nothing_to_probe() -> None:
    (result,) = probe(Scripted([]))
    assert (result.name, result.ok) == ("endpoint", None)


def test_a_strict_chat_template_is_told_and_learned(server, connect) -> None:
    def strict(request: Any) -> Answer:
        refusal = role_refusal(request.body.get("messages", [{"role": "user"}]))
        return error(refusal, 400) if refusal else able(request)

    server.script = strict
    model = connect()
    results = {one.name: one for one in probe(model)}
    assert results["message order"].ok is False
    assert "they are joined" in results["message order"].detail
    assert model.quirks.roles == "alternating"
