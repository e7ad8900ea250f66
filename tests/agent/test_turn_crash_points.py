"""A turn is killed at every line it writes; nothing that was acknowledged is lost or done twice."""

from __future__ import annotations

from typing import Any

import pytest

from fsagent.models.scripted import call, calls

FACTS = ("- Has a dog.", "- Likes tea.")
SCRIPT = [
    calls(*[call("core_memory_append", label="human", content=fact) for fact in FACTS]),
    call("archival_memory_insert", title="Trip", content="We took the ferry."),
    "All saved.",
]
LINES = 12
"""More lines than the turn writes; the points beyond its end are turns without a crash."""


class Killed(BaseException):
    """The process dies."""


@pytest.mark.parametrize("after", [False, True], ids=["before-the-line", "after-the-line"])
@pytest.mark.parametrize("point", range(1, LINES))
def test_a_turn_killed_at_any_line(workspace, make_agent, monkeypatch, point, after) -> None:
    written: list[Any] = []
    append = workspace.recall.append

    def counted(draft: Any) -> Any:
        written.append(draft)
        if len(written) == point and not after:
            raise Killed
        reference = append(draft)
        if len(written) == point:
            raise Killed
        return reference

    agent = make_agent(list(SCRIPT))
    with monkeypatch.context() as patch:
        patch.setattr(workspace.recall, "append", counted)
        try:
            answer = agent.run("Save it all.").text
        except Killed:
            answer = None

    again = make_agent(["Hi."], resume=True)
    block = workspace.core.block("human").value
    notes = [entry.title for entry in workspace.archival.entries()]
    records = [record for _, _, record in workspace.recall.tail(100)]
    results = [record.tool_call_id for record in records if record.role == "tool"]
    assert all(block.count(fact) <= 1 for fact in FACTS)
    assert len(notes) <= 1
    assert len(results) == len(set(results))
    assert [record.kind for record in records if record.kind in ("begin", "end")] == [
        "begin",
        "end",
    ]
    intents = [record for record in records if record.kind == "intent"]
    assert len(intents) == sum(block.count(fact) for fact in FACTS) + len(notes)
    if answer is not None:
        assert (len(intents), again.interrupted) == (3, ())
    assert again.run("Hello").text == "Hi."
