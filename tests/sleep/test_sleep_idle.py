"""The idle timer: it sleeps after a silence, a message cancels it and never waits for it."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace

import pytest
from sleep_kit import edit, patch, say, value_of

from fsagent.agent.sleep.idle import IdleSleep
from fsagent.agent.sleep.report import SleepReport
from fsagent.agent.sleep.sleep import sleep
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted

SOON_S = 0.05
LONG_S = 30.0


@pytest.fixture
def soon(workspace: Workspace) -> Workspace:
    workspace.settings = replace(workspace.settings, sleep_after_s=SOON_S)
    return workspace


class Thinking:
    """A model that is asked, and replies when it is allowed to."""

    name = "thinking"

    def __init__(self, *cites: str) -> None:
        self.asked, self.may_reply = threading.Event(), threading.Event()
        self._cites = cites

    def complete(self, messages: object, tools: object = (), *, on_text: object = None) -> object:
        self.asked.set()
        assert self.may_reply.wait(LONG_S)
        return patch(edit("add", "Lives in Porto.", *self._cites))


def test_it_sleeps_after_a_silence_and_reports(soon: Workspace) -> None:
    (cite,) = say(soon, "I live in Porto.")
    timer = IdleSleep(soon, model=Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    timer.turn_ended()
    timer.wait(LONG_S)
    assert [report.stop for report in timer.take_reports()] == ["landed"]
    assert timer.take_reports() == []
    assert value_of(soon) == f"- Lives in Porto. [{cite}]"


def test_a_message_cancels_what_waits(workspace: Workspace) -> None:
    workspace.settings = replace(workspace.settings, sleep_after_s=LONG_S)
    say(workspace, "I live in Porto.")
    model = Scripted([])
    timer = IdleSleep(workspace, model=model)
    timer.turn_ended()
    timer.turn_begins()
    timer.wait(LONG_S)
    assert (model.requests, timer.take_reports()) == ([], [])


def test_a_message_does_not_wait_for_a_sleep_and_its_late_reply_is_not_used(
    soon: Workspace,
) -> None:
    (cite,) = say(soon, "I live in Porto.")
    model = Thinking(cite)
    timer = IdleSleep(soon, model=model)  # type: ignore[arg-type]
    timer.turn_ended()
    assert model.asked.wait(LONG_S)
    before = time.monotonic()
    timer.turn_begins()
    assert time.monotonic() - before < 1.0
    model.may_reply.set()
    timer.wait(LONG_S)
    (report,) = timer.take_reports()
    assert (report.stop, value_of(soon)) == ("cancelled", "")
    assert sleep(soon, Scripted([patch(edit("add", "Lives in Porto.", cite))])).stop == "landed"


def test_a_time_of_zero_switches_it_off(workspace: Workspace) -> None:
    workspace.settings = replace(workspace.settings, sleep_after_s=0.0)
    say(workspace, "I live in Porto.")
    timer = IdleSleep(workspace, model=Scripted([]))
    timer.turn_ended()
    timer.wait(LONG_S)
    assert timer.take_reports() == []


def test_what_fails_in_the_background_is_reported_and_does_not_stop_the_next(
    soon: Workspace,
) -> None:
    say(soon, "I live in Porto.")
    timer = IdleSleep(soon, model="scripted:nowhere.json")
    for _ in range(2):
        timer.turn_ended()
        timer.wait(LONG_S)
    assert [report.stop for report in timer.take_reports()] == ["failed", "failed"]


def test_closing_waits_for_a_patch_under_way_no_longer_than_a_moment(soon: Workspace) -> None:
    say(soon, "I live in Porto.")
    timer = IdleSleep(soon, model=Scripted([patch()]))
    timer.turn_ended()
    timer.close()
    timer.turn_ended()
    timer.close()
    assert all(report.stop in ("nothing", "cancelled") for report in timer.take_reports())


def test_fifty_turns_with_a_timer_that_is_always_due_lose_nothing(workspace: Workspace) -> None:
    from itertools import repeat

    from fsagent.agent.loop import Agent

    class Keeping:
        """Keep each box that is told of, as it is told."""

        name = "keeping"

        def complete(
            self, messages: object, tools: object = (), *, on_text: object = None
        ) -> object:
            shown = messages[-1].content.partition("# Said")[2]  # type: ignore[index]
            found = re.findall(r"\[(\S+)\] [^\n]*?: I keep box (\d+) in the attic\.", shown)
            return patch(*[edit("add", f"Keeps box {n} in the attic.", cite) for cite, n in found])

    workspace.settings = replace(workspace.settings, sleep_after_s=0.001)
    reports: list[SleepReport] = []
    timer = IdleSleep(workspace, model=Keeping(), on_report=reports.append)  # type: ignore[arg-type]
    with Agent(workspace, Scripted(repeat("Noted."))) as agent:
        for n in range(50):
            timer.turn_begins()
            agent.run(f"I keep box {n} in the attic.")
            timer.turn_ended()
            if n % 3 == 0:
                time.sleep(
                    0.02 * (n % 5)
                )  # not for time to pass: so that turns meet sleeps anywhere
        timer.wait(LONG_S)
    sleep(workspace, Keeping())  # type: ignore[arg-type]
    odd = [r.text for r in reports if r.stop not in ("landed", "nothing", "cancelled", "deferred")]
    assert odd == []
    said = [
        r.content
        for d in workspace.recall.days()
        for _, r in workspace.recall.read(d)
        if r.role == "user"
    ]
    assert said == [f"I keep box {n} in the attic." for n in range(50)]
    lines = value_of(workspace).split("\n")
    assert sorted(int(line.split()[3]) for line in lines) == list(range(50))
