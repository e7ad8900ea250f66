"""A turn that a crash left open is closed at the next start, and no edit happens twice."""

from __future__ import annotations

from typing import Any

import pytest

from fsagent.agent.events import Notice
from fsagent.models.scripted import call

APPEND = call("core_memory_append", label="human", content="- Has a dog.")
REPLACE = call("core_memory_replace", label="human", old="cat", new="dog")


class Crash(BaseException):
    """The process dies here."""


def die_at(workspace: Any, monkeypatch: pytest.MonkeyPatch, *, kind: str, after: bool) -> None:
    """Let the process die before or after a line of this kind or role is written."""
    recall, append = workspace.recall, workspace.recall.append

    def dying(draft: Any) -> Any:
        if (draft.kind or draft.role) != kind:
            return append(draft)
        if after:
            append(draft)
        raise Crash

    monkeypatch.setattr(recall, "append", dying)


def crash(workspace, make_agent, monkeypatch, script, *, kind: str, after: bool) -> None:
    with monkeypatch.context() as patch:
        agent = make_agent(script)
        die_at(workspace, patch, kind=kind, after=after)
        with pytest.raises(Crash):
            agent.run("I have a dog.")


def human(workspace) -> str:
    return workspace.core.block("human").value


def records(workspace) -> list[str]:
    return [record.kind or record.role for _, _, record in workspace.recall.tail(50)]


@pytest.mark.parametrize(
    ("kind", "after", "edits"),
    [
        ("intent", False, ()),
        ("intent", True, ("core/human.md is written now",)),
        ("tool", False, ("core/human.md was written",)),
        ("tool", True, ()),
    ],
    ids=["before-intent", "after-intent", "before-result", "after-result"],
)
def test_an_edit_happens_once(  # noqa: PLR0917
    workspace, make_agent, monkeypatch, kind, after, edits
) -> None:
    crash(workspace, make_agent, monkeypatch, [APPEND], kind=kind, after=after)
    agent = make_agent(["Hi."])
    (closed,) = agent.interrupted
    assert closed.edits == edits
    written = kind != "intent" or after
    assert human(workspace) == ("- Has a dog." if written else "")
    assert records(workspace)[-2:] == ["tool", "end"]
    assert make_agent(["Hi."]).interrupted == ()
    assert human(workspace).count("dog") == written


def test_an_outside_edit_in_between_is_kept_and_the_agents_is_added(
    workspace, make_agent, monkeypatch
) -> None:
    crash(workspace, make_agent, monkeypatch, [APPEND], kind="intent", after=True)
    workspace.core.append("human", "- Likes tea.")
    (closed,) = make_agent(["Hi."]).interrupted
    assert human(workspace) == "- Likes tea.\n- Has a dog."
    assert "beside an edit from outside" in closed.edits[0]


def test_an_edit_whose_anchor_is_gone_goes_to_quarantine(
    workspace, make_agent, monkeypatch
) -> None:
    workspace.core.append("human", "- Has a cat.")
    crash(workspace, make_agent, monkeypatch, [REPLACE], kind="intent", after=True)
    workspace.core.replace("human", "cat", "parrot")
    (closed,) = make_agent(["Hi."]).interrupted
    assert human(workspace) == "- Has a parrot."
    assert ".fsagent/quarantine/" in closed.edits[0]


def test_the_person_is_told_at_the_next_turn(workspace, make_agent, monkeypatch) -> None:
    crash(workspace, make_agent, monkeypatch, [APPEND], kind="tool", after=False)
    notices: list[str] = []
    make_agent(["Hi."]).run(
        "Hello", lambda event: notices.append(event.text) if isinstance(event, Notice) else None
    )
    assert notices == [
        "The last turn ('I have a dog.') was interrupted and is closed; it can be retried. "
        "Its edits: core/human.md was written."
    ]


def test_an_answer_without_its_end_is_closed_as_answered(
    workspace, make_agent, monkeypatch
) -> None:
    crash(workspace, make_agent, monkeypatch, ["A dog!"], kind="end", after=False)
    (closed,) = make_agent(["Hi."]).interrupted
    assert closed.answered


def test_a_turn_under_way_elsewhere_is_left_alone(workspace, make_agent) -> None:
    from fsagent.memory.workspace import Workspace

    def look(request: Any) -> str:
        import threading

        from fsagent.agent.loop import Agent

        seen: list[Any] = []

        def other() -> None:
            with Workspace.open(workspace.root, settings=workspace.settings) as second:
                seen.append(Agent(second, "offline").interrupted)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert seen == [()]
        return "Hi."

    assert make_agent([look]).run("Hello").stop == "answered"
    assert records(workspace) == ["begin", "user", "assistant", "end"]


def test_resume_goes_on_where_the_session_stopped(workspace, make_agent) -> None:
    first = make_agent([call("list_files"), "You said hello.", "Fine."])
    first.run("Hello")
    first.run("How are you?")
    again = make_agent(["I do."], resume=True)
    assert again.session.id == first.session.id
    assert list(again.session.context.queue.messages()) == list(
        first.session.context.queue.messages()
    )
    assert again.restored == 6
    again.run("Do you remember?")
    assert make_agent(["Hi."]).session.id != first.session.id


def test_resume_leaves_out_a_call_without_its_results(workspace, make_agent, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        agent = make_agent([call("list_files")])
        die_at(workspace, patch, kind="tool", after=False)
        with pytest.raises(Crash):
            agent.run("Look")
    again = make_agent(["Hi."], resume=True)
    queue = list(again.session.context.queue.messages())
    assert [message.role for message in queue] == ["user", "assistant", "tool"]
    assert "interrupted; not run" in queue[-1].content
