"""Servers on this machine are found, and a model's name leads to one."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from fault_server import Answer, FaultServer, body, text

from fsagent.config import Settings
from fsagent.errors import ConfigError
from fsagent.models.discover import Found, discover, ports_of
from fsagent.models.openai_chat import OpenAIChat
from fsagent.models.registry import load_model
from fsagent.types import Message

MODELS = {"object": "list", "data": [{"id": "qwen:latest", "owned_by": "library"}, {"id": "gemma"}]}


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield int(free.getsockname()[1])


def test_a_server_is_found_with_its_kind_and_models(server: FaultServer, closed_port: int) -> None:
    server.play(body(MODELS))
    found = discover({server.port: "llama.cpp", closed_port: "vLLM"})
    assert found == [Found("Ollama", server.url, ("qwen:latest", "gemma"))]
    assert found[0].serves("qwen") == "qwen:latest"
    assert found[0].serves("llama") is None


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>a wiki</html>", content_type="text/html"),
        Answer(b"not found", 404),
        body({"data": 5}),
        body([1]),
        Answer(b"[" * 100_000),
        Answer(then="vanish"),
        Answer(b"", then="stall"),
    ],
    ids=["a page", "404", "odd data", "a list", "brackets", "no answer", "stalls"],
)
def test_something_else_on_the_port_is_not_taken_for_a_server(server, answer: Answer) -> None:
    server.play(answer)
    assert discover({server.port: "Ollama"}, timeout_s=0.2) == []


def test_a_model_without_key_and_address_is_served_from_this_machine(server) -> None:
    server.script = lambda request: body(MODELS) if request.path == "/v1/models" else text("Hi")
    model = load_model("qwen", Settings(), ports={server.port: "Ollama"})
    assert isinstance(model, OpenAIChat)
    assert (model.name, model.base_url) == ("qwen:latest", server.url)
    assert model.complete([Message("user", "Hello")]).message.content == "Hi"


def test_a_model_that_is_nowhere_is_a_config_error_that_names_what_is_there(server) -> None:
    server.play(body(MODELS))
    with pytest.raises(
        ConfigError, match=r"OPENAI_API_KEY.*--model offline.*Ollama at .* has qwen:latest, gemma"
    ):
        load_model("gpt-5", Settings(), ports={server.port: "Ollama"})


def test_offline_and_scripted_need_no_endpoint(tmp_path) -> None:
    path = tmp_path / "script.json"
    path.write_text('["Hello."]', encoding="utf-8")
    assert load_model("offline", Settings()).name == "offline"
    model = load_model(f"scripted:{path}", Settings())
    assert model.complete([Message("user", "Hi")]).message.content == "Hello."
    with pytest.raises(ConfigError, match="the model has no name"):
        load_model(" ", Settings())


def test_a_key_alone_means_openai_and_a_base_url_needs_no_key() -> None:
    keyed = load_model("gpt-5", Settings(api_key="k"))
    local = load_model("qwen", Settings(base_url="http://127.0.0.1:9/v1", tool_mode="json"))
    assert isinstance(keyed, OpenAIChat)
    assert isinstance(local, OpenAIChat)
    assert keyed.base_url == "https://api.openai.com/v1"
    assert local.identity["tool_mode"] == "json"


def test_loading_a_model_does_not_load_the_openai_package() -> None:
    code = (
        "import sys; from fsagent.config import Settings; "
        "from fsagent.models.registry import load_model; "
        "load_model('gpt-5', Settings(api_key='k')); "
        "sys.exit('openai' in sys.modules or 'httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ports_that_do_not_answer_take_no_longer_together_than_one(server) -> None:
    server.play(Answer(b"", then="stall"))
    with FaultServer().running() as dripping:
        dripping.play(Answer(b"", then="drip"))
        begun = time.monotonic()
        ports = {server.port: "Ollama", dripping.port: "vLLM"}
        assert discover(ports, timeout_s=1.0) == []
        assert time.monotonic() - begun < 1.9


def test_the_first_model_that_can_talk_is_taken() -> None:
    assert Found("Ollama", "u", ("nomic-embed-text", "qwen3", "gemma")).chat_model == "qwen3"
    assert Found("Ollama", "u", ("bge-m3",)).chat_model is None


def test_the_ports_are_a_setting() -> None:
    assert ports_of("8080, 9000") == {8080: "llama.cpp", 9000: "a server"}
    assert ports_of("none") == {}
    for wrong in ("http://x", "70000", "-1"):
        with pytest.raises(ConfigError, match="local_ports"):
            ports_of(wrong)
