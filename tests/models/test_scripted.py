"""The scripted model replays, records and says when its script ends."""

import json

import pytest

from fsagent.errors import ConfigError, ModelError
from fsagent.models.scripted import Scripted, call, calls, raw_call, reply
from fsagent.types import Message, Usage

ASK = [Message("user", "What pet do I have?")]


def test_a_script_is_replayed_in_order_and_its_requests_are_recorded() -> None:
    model = Scripted([call("grep", pattern="dog"), "You have a dog."])
    first, second = model.complete(ASK), model.complete(ASK)
    (made,) = first.message.tool_calls
    assert (made.id, made.name, json.loads(made.arguments)) == (
        "call_1_1",
        "grep",
        {"pattern": "dog"},
    )
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert second.message.content == "You have a dog."
    assert [request.messages for request in model.requests] == [tuple(ASK), tuple(ASK)]


def test_an_exhausted_script_is_a_model_error_that_counts() -> None:
    model = Scripted([reply("one")])
    model.complete(ASK)
    with pytest.raises(ModelError, match="it has 1 replies and this is request 2"):
        model.complete(ASK)


def test_text_streams_in_pieces_that_add_up() -> None:
    pieces: list[str] = []
    completion = Scripted(["A dog,  and\na cat."]).complete(ASK, on_text=pieces.append)
    assert len(pieces) == 5
    assert "".join(pieces) == completion.message.content


def test_calls_puts_several_tool_calls_into_one_completion() -> None:
    completion = Scripted([calls(call("grep", pattern="a"), raw_call("open", "{"))]).complete(ASK)
    assert [(one.id, one.name) for one in completion.message.tool_calls] == [
        ("call_1_1", "grep"),
        ("call_1_2", "open"),
    ]


def test_steps_may_raise_or_compute() -> None:
    model = Scripted(
        [ModelError("no server"), lambda request: request.messages[-1].content.upper()]
    )
    with pytest.raises(ModelError, match="no server"):
        model.complete(ASK)
    assert model.complete(ASK).message.content == "WHAT PET DO I HAVE?"


SCRIPT = """
- call: grep
  arguments: {pattern: dog}
- calls:
    - {name: open, arguments: {path: core/human.md}}
    - {name: close, arguments: '{"path"'}
- error: The server is gone.
- {reply: Half an ans, finish_reason: length, usage: {prompt_tokens: 10, completion_tokens: 3}}
- Just text.
"""


def test_a_script_file_holds_every_kind_of_step(tmp_path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    model = Scripted(path)
    assert model.complete(ASK).message.tool_calls[0].name == "grep"
    assert [one.arguments for one in model.complete(ASK).message.tool_calls] == [
        '{"path": "core/human.md"}',
        '{"path"',
    ]
    with pytest.raises(ModelError, match="The server is gone"):
        model.complete(ASK)
    cut = model.complete(ASK)
    assert (cut.finish_reason, cut.usage) == ("length", Usage(10, 3))
    assert model.complete(ASK).message.content == "Just text."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reply: x", "must be a list"),
        ("- 5", "reply 1: write a text or a mapping"),
        ("- {}", "reply 1: it needs one of reply"),
        ("- {reply: x, finish_reason: done}", "finish_reason 'done'"),
        ("- {calls: grep}", "calls is a list"),
        ("- {reply: x, usage: 3}", "usage is a mapping"),
        ("- [", "neither YAML nor JSON"),
    ],
)
def test_a_wrong_script_is_a_config_error_that_names_the_place(
    tmp_path, text: str, said: str
) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        Scripted(path)


def test_a_missing_script_is_a_config_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="cannot read the script"):
        Scripted(tmp_path / "none.yaml")
