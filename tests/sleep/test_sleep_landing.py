"""A sleep lands as one commit with the cursor in it, or not at all; budgets, pieces, previews, room."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sleep_kit import DAY, age, edit, filler, human, patch, reasons, recall_hash, say, value_of
from support import Run

from fsagent.agent.recovery import session_lock
from fsagent.agent.sleep.sleep import apply_preview, outlook, sleep
from fsagent.agent.sleep.unattended import sleep_if_idle
from fsagent.agent.usage import usage_report
from fsagent.errors import ConfigError, ModelUnavailable
from fsagent.memory.history.log import read_log
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted, reply
from fsagent.types import Usage


def commits(workspace: Workspace) -> list[str]:
    """Return who made each commit, newest first."""
    return [commit.by for commit in read_log(workspace.history.repository.git, "HEAD")]


def test_a_sleep_is_one_commit_that_holds_its_cursor(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    report = sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    (commit,) = report.commits
    found = read_log(workspace.history.repository.git, commit, limit=1)[0]
    assert (found.by, found.subject) == ("sleep", 'human: add "Lives in Porto."')
    assert found.trailers["Slept-Through"].startswith(f"{DAY}:3 seq 4 sum ")
    assert f"because it was said at {cite}" in found.message


def test_a_no_op_makes_no_commit_and_reads_nothing_twice(workspace: Workspace) -> None:
    say(workspace, "Nice weather today.")
    report = sleep(workspace, Scripted([patch()]))
    assert (report.stop, report.text, report.commits) == ("nothing", "nothing to change", ())
    idle = sleep(workspace, Scripted([]))
    assert (idle.stop, idle.lines) == ("nothing", 0)
    assert "sleep" not in commits(workspace)


def test_a_sleep_over_what_it_did_already_changes_nothing(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    step = patch(edit("add", "Lives in Porto.", cite))
    sleep(workspace, Scripted([step]))
    (workspace.root / ".fsagent/sleep.json").unlink()
    say(workspace, "Hm.")
    before = value_of(workspace)
    report = sleep(workspace, Scripted([step]))
    assert (report.stop, report.commits, value_of(workspace)) == ("nothing", (), before)


def test_the_cursor_comes_back_from_the_history_alone(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    for name in ("sleep.json", "sleep.jsonl"):
        (workspace.root / ".fsagent" / name).unlink()
    say(workspace, "I have a dog.")
    model = Scripted([patch()])
    sleep(workspace, model)
    shown = model.requests[0].messages[1].content.partition("# Said")[2]
    assert "dog" in shown
    assert "Porto" not in shown


@pytest.mark.parametrize("state", [b"", b"{", b"[]", b'{"seq": "x"}', b"\0" * 40])
def test_a_damaged_state_file_is_as_good_as_none(workspace: Workspace, state: bytes) -> None:
    say(workspace, "I live in Porto.")
    (workspace.root / ".fsagent/sleep.json").write_bytes(state)
    model = Scripted([patch()])
    assert sleep(workspace, model).stop == "nothing"
    assert "Porto" in model.requests[0].messages[1].content


def test_a_model_that_fails_moves_no_cursor_and_is_left_alone_in_the_end(
    workspace: Workspace,
) -> None:
    say(workspace, "I live in Porto.")
    for _ in range(3):
        report = sleep(workspace, Scripted([ModelUnavailable("down")]), idle=True)
        assert (report.stop, report.commits) == ("failed", ())
    model = Scripted([patch()])
    assert sleep(workspace, model, idle=True).text.startswith("left alone")
    assert model.requests == []
    assert sleep(workspace, model).stop == "nothing"
    assert len(model.requests) == 1


def test_a_failure_is_forgotten_when_something_new_is_said(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    for _ in range(3):
        sleep(workspace, Scripted([ModelUnavailable("down")]), idle=True)
    say(workspace, "I have a dog.")
    assert sleep(workspace, Scripted([patch()]), idle=True).stop == "nothing"


def test_a_long_log_is_read_in_pieces_each_a_commit_of_its_own(workspace: Workspace) -> None:
    settings = replace(workspace.settings, context_tokens=1000)
    cites = say(
        workspace, *[f"I keep a box number {n} in the attic {'and so on ' * 30}" for n in range(9)]
    )

    def keeps(request: object) -> object:
        shown = request.messages[1].content.partition("# Said")[2]  # type: ignore[attr-defined]
        here = [n for n, cite in enumerate(cites) if f"[{cite}]" in shown]
        return patch(*[edit("add", f"Keeps box {n} in the attic.", cites[n]) for n in here])

    model = Scripted([keeps] * 9)  # type: ignore[list-item]
    report = sleep(workspace, model, settings=settings)
    assert report.stop == "landed"
    assert len(report.commits) == len(model.requests) > 2
    assert [f"Keeps box {n} in the attic. [{cite}]" for n, cite in enumerate(cites)] == [
        line[2:] for line in value_of(workspace).split("\n")
    ]
    assert sleep(workspace, Scripted([])).lines == 0


def test_a_failure_in_the_middle_keeps_what_landed_and_goes_on_there(workspace: Workspace) -> None:
    settings = replace(workspace.settings, context_tokens=500)
    cites = say(workspace, f"I live in Porto. {'blah ' * 150}", f"I have a dog. {'blah ' * 150}")
    first = patch(edit("add", "Lives in Porto.", cites[0]))
    report = sleep(workspace, Scripted([first, ModelUnavailable("down")]), settings=settings)
    assert (report.stop, len(report.commits)) == ("failed", 1)
    model = Scripted([patch(edit("add", "Has a dog.", cites[1]))])
    assert sleep(workspace, model, settings=settings).stop == "landed"
    assert "Porto. blah" not in model.requests[0].messages[1].content
    assert value_of(workspace) == f"- Lives in Porto. [{cites[0]}]\n- Has a dog. [{cites[1]}]"


def test_a_preview_lands_nothing_and_apply_lands_just_that(workspace: Workspace) -> None:
    cites = say(workspace, "I live in Porto.", "I have a dog.")
    model = Scripted(
        [patch(edit("add", "Lives in Porto.", cites[0]), edit("add", "Owns a car.", cites[1]))]
    )
    before = recall_hash(workspace)
    report = sleep(workspace, model, preview=True)
    assert (report.stop, value_of(workspace), reasons(workspace)) == ("proposed", "", [])
    assert f"+- Lives in Porto. [{cites[0]}]" in report.diff
    assert "sleep" not in commits(workspace)
    landed = apply_preview(workspace)
    assert value_of(workspace) == f"- Lives in Porto. [{cites[0]}]"
    assert (len(landed.commits), len(reasons(workspace))) == (1, 1)
    assert sleep(workspace, Scripted([])).lines == 0
    assert recall_hash(workspace) == before
    with pytest.raises(ConfigError, match="no preview"):
        apply_preview(workspace)


def test_a_preview_made_for_another_memory_is_refused(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]), preview=True)
    human(workspace, "- Mine")
    with pytest.raises(ConfigError, match="memory changed since the preview"):
        apply_preview(workspace)
    assert value_of(workspace) == "- Mine"


def test_an_outlook_asks_no_model(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.", "I have a dog.")
    model = Scripted([])
    found = outlook(workspace, model)
    assert (found.lines, found.requests, model.requests) == (4, 1, [])
    assert found.prompt_tokens > 100


@pytest.mark.parametrize(
    ("setting", "value"),
    [("max_sleep_tokens", 1000), ("max_sleep_usd", 0.001), ("max_day_tokens", 1000)],
)
def test_a_budget_stops_a_sleep_by_its_name(
    workspace: Workspace, setting: str, value: float
) -> None:
    settings = replace(workspace.settings, context_tokens=500, **{setting: value})  # type: ignore[arg-type]
    say(workspace, "blah " * 180, "blub " * 180)
    step = replace(patch(), usage=Usage(900, 200), model="gpt-4o")
    model = Scripted([step, step], name="gpt-4o")
    report = sleep(workspace, model, settings=settings)
    assert (report.stop, len(model.requests)) == (setting, 1)
    assert sleep(workspace, Scripted([patch()]), settings=workspace.settings).lines == 3


def test_usage_tells_what_sleep_cost_beside_the_chat(workspace: Workspace) -> None:
    say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([replace(patch(), usage=Usage(120, 8, 100))]))
    (row,) = usage_report(workspace)
    assert (row.role, row.day, row.prompt_tokens, row.completion_tokens) == ("sleep", DAY, 120, 8)


def test_a_full_block_makes_room_by_moving_its_oldest_facts(workspace: Workspace) -> None:
    lines = filler(40)
    path = workspace.root / "core/human.md"
    limit = len("\n".join(lines)) + 30
    path.write_text(path.read_text().replace("limit: 5000", f"limit: {limit}"), encoding="utf-8")
    human(workspace, "- Mine, uncited", *lines)
    cites = say(workspace, *["x"] * 12, "I live in Porto, in a house with a green door.")
    sleep(
        workspace,
        Scripted([patch(edit("add", "Lives in Porto in a house with a green door.", cites[-1]))]),
    )
    value = value_of(workspace)
    note = workspace.tree.read_text("archival/notes/about-human.md")
    assert len(value) <= limit
    assert "- Lives in Porto" in value
    assert value.startswith("- Mine, uncited\n")
    assert value.endswith("- Older facts about this: archival/notes/about-human.md")
    assert all((line in value) != (line in note) for line in lines)
    assert lines[0] in note


def test_core_stays_under_its_budget_of_tokens(workspace: Workspace) -> None:
    from fsagent.tokens import estimate_text

    settings = replace(workspace.settings, core_tokens=400)
    human(workspace, *filler(20))
    (cite,) = say(workspace, "I live in Porto.")
    workspace.settings = settings
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]), settings=settings)
    total = sum(estimate_text(block.value) for block in workspace.core.blocks())
    assert total <= 400
    assert f"- Lives in Porto. [{cite}]" in value_of(workspace)


def test_without_room_for_anything_the_edit_waits_for_the_person(workspace: Workspace) -> None:
    path = workspace.root / "core/human.md"
    own = "- " + "Mine. " * 20
    path.write_text(path.read_text().replace("limit: 5000", "limit: 130") + own, encoding="utf-8")
    age(workspace, "core/human.md")
    before = value_of(workspace)
    (cite,) = say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    assert value_of(workspace) == before
    assert reasons(workspace)[0].startswith("core memory has no room")


def test_near_duplicates_that_stand_there_already_are_merged_with_both_citations(
    workspace: Workspace,
) -> None:
    human(
        workspace,
        f"- Likes hiking in the mountains. [{DAY}:1]",
        "- Has a dog.",
        f"- Likes hikes in mountains. [{DAY}:2]",
    )
    (cite,) = say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    assert value_of(workspace).split("\n") == [
        "- Has a dog.",
        f"- Likes hiking in the mountains. [{DAY}:1, {DAY}:2]",
        f"- Lives in Porto. [{cite}]",
    ]


def test_an_archived_line_is_in_archival_and_a_pointer_in_its_block(workspace: Workspace) -> None:
    human(workspace, f"- Had a boat in 2001. [{DAY}:1]", f"- Has a dog. [{DAY}:1]")
    say(workspace, "Hello.")
    sleep(workspace, Scripted([patch(edit("archive", old="- Had a boat in 2001."))]))
    assert value_of(workspace).split("\n") == [
        f"- Has a dog. [{DAY}:1]",
        "- Older facts about this: archival/notes/about-human.md",
    ]
    assert "Had a boat" in workspace.tree.read_text("archival/notes/about-human.md")


def test_a_turn_of_another_process_is_left_for_later(workspace: Workspace) -> None:
    from fsagent.memory.recall import Draft

    cites = say(workspace, "I live in Porto.")
    begin = Draft("system", "fsagent", "", turn="open", session="other", kind="begin")
    workspace.recall.append_many(
        [begin, Draft("user", "Anna", "I have a d", turn="open", session="other")]
    )
    with Workspace.open(workspace.root) as other, other.tree.lock(session_lock("other")):
        model = Scripted([patch(edit("add", "Lives in Porto.", *cites))])
        assert sleep(workspace, model).stop == "landed"
        assert "I have a d" not in model.requests[0].messages[1].content
    later = Scripted([patch()])
    sleep(workspace, later)
    assert "I have a d" in later.requests[0].messages[1].content


def test_a_sleep_does_not_write_during_a_turn(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    model = Scripted([patch(edit("add", "Lives in Porto.", cite))] * 2)
    with Workspace.open(workspace.root) as other, other.tree.lock("turn"):
        assert sleep(workspace, model).stop == "deferred"
        assert value_of(workspace) == ""
    assert sleep(workspace, model).stop == "landed"


def test_an_unattended_workspace_sleeps_when_all_is_quiet(workspace: Workspace) -> None:
    script = workspace.root / "script.json"
    script.write_text(json.dumps([{"call": "memory_patch", "arguments": {"edits": []}}]))
    assert sleep_if_idle(workspace) is None
    say(workspace, "I live in Porto.")
    workspace.settings = replace(workspace.settings, sleep_model=f"scripted:{script}")
    assert sleep_if_idle(workspace) is None
    workspace.settings = replace(workspace.settings, sleep_after_s=0.0)
    assert sleep_if_idle(workspace) is None
    later = workspace.recall.now()
    with Workspace.open(
        workspace.root,
        settings=replace(workspace.settings, sleep_after_s=30.0),
        clock=lambda: later.replace(minute=later.minute + 1),
    ) as quiet:
        with Workspace.open(workspace.root) as other, other.tree.lock(session_lock("s")):
            assert sleep_if_idle(quiet) is None
        report = sleep_if_idle(quiet)
        assert report is not None
        assert report.stop == "nothing"
        assert sleep_if_idle(quiet) is None


def test_undo_takes_a_sleep_back_and_it_is_not_done_again(
    workspace: Workspace, fsagent: Run
) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    report = sleep(workspace, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
    done = fsagent("undo", "--yes", report.commits[0], "-w", str(workspace.root))
    assert done.returncode == 0, done.stderr
    assert value_of(workspace) == ""
    assert sleep(workspace, Scripted([])).lines == 0


def test_without_git_a_sleep_lands_and_keeps_its_cursor(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    monkeypatch.setenv("PATH", "")
    with Workspace.open(workspace.root, settings=workspace.settings, clock=workspace.clock) as bare:
        report = sleep(bare, Scripted([patch(edit("add", "Lives in Porto.", cite))]))
        assert (report.stop, report.commits) == ("landed", ())
        assert value_of(bare) == f"- Lives in Porto. [{cite}]"
        assert sleep(bare, Scripted([])).lines == 0


def test_a_chatting_model_is_told_once_what_to_reply(workspace: Workspace) -> None:
    (cite,) = say(workspace, "I live in Porto.")
    model = Scripted([reply("Sure!"), patch(edit("add", "Lives in Porto.", cite))])
    assert sleep(workspace, model).stop == "landed"
    assert "does not call memory_patch" in model.requests[1].messages[-1].content


def test_a_log_of_many_sleeps_is_counted_to_its_end(workspace: Workspace) -> None:
    old = {"day": "2026-01-01", "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    workspace.tree.state.append("sleep.jsonl", (json.dumps(old) + "\n").encode() * 20_000)
    say(workspace, "I live in Porto.")
    sleep(workspace, Scripted([replace(patch(), usage=Usage(120, 8))]))
    rows = {row.day: row.prompt_tokens for row in usage_report(workspace)}
    assert rows == {"2026-01-01": 20_000, DAY: 120}
