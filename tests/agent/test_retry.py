"""A message that got no answer is asked again, and stands in recall once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fsagent.agent.events import TextDelta
from fsagent.agent.unanswered import last_unanswered
from fsagent.errors import ConfigError, ModelError
from fsagent.models.scripted import call, calls

ASKED = "What is my dog called?"
DOWN = ModelError("no server")


class Crash(BaseException):
    """The process dies here."""


def asked(workspace) -> list[str]:
    """Return what stands in recall as the person's."""
    tail = workspace.recall.tail(400)
    return [record.content for _, _, record in tail if record.role == "user"]


def spoken(request: Any) -> list[tuple[str, str]]:
    """Return what a model was sent of the conversation, without the late tail."""
    return [(one.role, one.content) for one in request.messages if one.role != "system"]


def fail(make_agent, script: Any, **options: Any) -> Any:
    agent = make_agent(script, **options)
    with pytest.raises(ModelError):
        agent.run(ASKED)
    return agent


def test_after_a_failed_model_the_message_is_asked_again_and_not_written_again(
    workspace, make_agent
) -> None:
    seen: list[Any] = []
    agent = fail(make_agent, [DOWN, lambda request: seen.append(spoken(request)) or "Rex."])
    assert agent.unanswered is not None and agent.unanswered.text == ASKED
    answer = agent.retry()
    assert (answer.text, answer.stop) == ("Rex.", "answered")
    assert seen == [[("user", ASKED)]]
    assert asked(workspace) == [ASKED]
    assert agent.unanswered is None
    with pytest.raises(ConfigError, match="nothing to retry"):
        agent.retry()


def test_a_retry_that_fails_can_be_retried(workspace, make_agent) -> None:
    agent = fail(make_agent, [DOWN, DOWN, DOWN, "Rex."])
    for _ in range(2):
        with pytest.raises(ModelError):
            agent.retry()
    assert len(agent.unanswered.turns) == 3
    assert agent.retry().text == "Rex."
    assert asked(workspace) == [ASKED]


def test_another_process_retries_in_the_conversation_the_message_stands_in(
    workspace, make_agent
) -> None:
    first = make_agent(["Hello.", DOWN])
    first.run("Hi")
    with pytest.raises(ModelError):
        first.run(ASKED)
    other = make_agent(["Rex."])
    assert other.unanswered is None
    with pytest.raises(ConfigError):
        other.retry()
    seen: list[Any] = []
    second = make_agent([lambda request: seen.append(spoken(request)) or "Rex."], resume=True)
    assert second.retry().text == "Rex."
    assert seen == [[("user", "Hi"), ("assistant", "Hello."), ("user", ASKED)]]
    assert asked(workspace) == ["Hi", ASKED]


def test_what_a_broken_turn_did_is_not_done_twice(workspace, make_agent) -> None:
    edit = call("core_memory_append", label="human", content="- Has a dog.")
    agent = fail(make_agent, [edit, DOWN, lambda request: str([r for r, _ in spoken(request)])])
    assert agent.retry().text == "['user', 'assistant', 'tool']"
    assert workspace.core.block("human").value == "- Has a dog."


def test_half_an_answer_is_not_shown_to_the_model_again(workspace, make_agent) -> None:
    def stop(event: Any) -> None:
        if isinstance(event, TextDelta):
            raise KeyboardInterrupt

    agent = make_agent(["It is called", lambda request: str(spoken(request)[1:])])
    with pytest.raises(KeyboardInterrupt):
        agent.run(ASKED, stop)
    assert agent.retry().text == "[]"
    later = make_agent([lambda request: str([text for _, text in spoken(request)])], resume=True)
    assert later.run("And?").text == str([ASKED, "[]", "And?"])


@pytest.mark.parametrize("kind", ["begin", "assistant", "end"])
def test_a_retry_that_a_crash_cuts_off_is_retried(
    workspace, make_agent, monkeypatch, kind: str
) -> None:
    fail(make_agent, [DOWN])
    agent = make_agent(["Rex."], resume=True)
    append = workspace.recall.append

    def dying(draft: Any) -> Any:
        append(draft)
        if (draft.kind or draft.role) == kind:
            raise Crash
        return None

    with monkeypatch.context() as patch:
        patch.setattr(workspace.recall, "append", dying)
        with pytest.raises(Crash):
            agent.retry()
    again = make_agent(["Rex again."], resume=True)
    assert asked(workspace) == [ASKED]
    if kind == "begin":
        assert again.interrupted[0].said == ASKED
        assert again.retry().text == "Rex again."
    else:
        assert again.unanswered is None, "its answer was on disk"
    assert asked(workspace) == [ASKED]


def test_the_question_is_not_found_as_its_own_evidence(workspace, make_agent) -> None:
    find = call("search_files", query="dog called")
    results: list[str] = []

    def tell(request: Any) -> str:
        results.append(request.messages[-2].content if len(request.messages) > 2 else "")
        return "Rex."

    agent = fail(make_agent, [DOWN, find, tell])
    agent.retry()
    assert ASKED not in results[0]


def test_a_newer_turn_leaves_nothing_to_retry(workspace, make_agent) -> None:
    agent = fail(make_agent, [DOWN, "Fine."])
    agent.run("Never mind.")
    assert last_unanswered(workspace.recall) is None


def test_a_message_that_left_the_context_comes_back_for_its_retry(workspace, make_agent) -> None:
    seen: list[Any] = []
    agent = fail(make_agent, [DOWN, lambda request: seen.append(spoken(request)) or "Rex."])
    agent.session.context.queue.units.clear()
    agent.retry()
    assert seen == [[("user", ASKED)]]


@pytest.mark.parametrize("wrote", [True, False])
def test_ctrl_c_in_a_tool_leaves_a_result_that_says_whether_it_wrote(
    workspace, make_agent, monkeypatch, wrote: bool
) -> None:
    edit = call("core_memory_append", label="human", content="- Has a dog.")
    later = call("list_files")

    def look(request: Any) -> str:
        return " / ".join(text for role, text in spoken(request) if role == "tool")

    agent = make_agent([calls(edit, later), look])
    write = workspace.tree.replace

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if wrote:
            write(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(workspace.tree, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.run(ASKED)
    first = "was written" if wrote else "interrupted; not run"
    expected = f"(core_memory_append: {first}) / (list_files: interrupted; not run)"
    assert agent.retry().text == expected
    assert workspace.core.block("human").value == ("- Has a dog." if wrote else "")


def test_ctrl_c_in_a_tool_does_not_write_its_steps_text_twice(
    workspace, make_agent, monkeypatch
) -> None:
    edit = call("core_memory_append", label="human", content="- Has a dog.")
    said = replace(edit, message=replace(edit.message, content="Let me note that."))

    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(workspace.tree, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make_agent([said]).run(ASKED)
    texts = [record.content for _, _, record in workspace.recall.tail(20)]
    assert texts.count("Let me note that.") == 1
