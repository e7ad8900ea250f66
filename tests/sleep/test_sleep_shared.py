"""Sleep and shared blocks: others keep what one workspace would archive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sleep_kit import DAY, edit, human, patch, reasons, say, value_of
from support import NOW

from fsagent.agent.audit.audit import audit
from fsagent.agent.sleep.sleep import sleep
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted

FACT = f"- The office is in Split. [{DAY}:900]"


@pytest.fixture
def sharing(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A workspace that mounts a block `team` of one old fact."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "team.md").write_text(f"---\nlimit: 500\n---\n{FACT}\n")
    settings = replace(workspace.settings, shared="../team")
    return Workspace.open(workspace.root, settings=settings, clock=lambda: NOW)


def test_sleep_writes_a_shared_fact_into_its_own_history(sharing: Workspace) -> None:
    (cite,) = say(sharing, "Our team meets on Monday.")
    report = sleep(sharing, Scripted([patch(edit("add", "Meets on Monday.", cite, block="team"))]))
    assert len(report.verdicts) == 1
    assert value_of(sharing, "team").endswith(f"- Meets on Monday. [{cite}]")
    assert sharing.shared_history is not None
    log = sharing.shared_history.repository.git.text("log", "-1", "--format=%an%n%B")
    assert log.startswith("fsagent sleep\n")
    assert "Turn: sleep-" in log


def test_no_fact_of_a_shared_block_leaves_for_one_workspaces_archival(sharing: Workspace) -> None:
    file = sharing.root.parent / "team" / "team.md"
    file.write_text(file.read_text().replace("500", "60"))
    (cite,) = say(sharing, "Our team meets on Monday and on Friday.")
    edits = [
        edit("archive", old=FACT, block="team"),
        edit("add", "Meets on Monday and on Friday.", cite, block="team"),
    ]
    sleep(sharing, Scripted([patch(*edits)]))
    assert FACT in value_of(sharing, "team")
    assert any("others would lose" in reason for reason in reasons(sharing))
    assert not list((sharing.root / "archival/notes").glob("about-team*"))


def test_a_shared_block_that_others_overfilled_does_not_hold_up_sleep(sharing: Workspace) -> None:
    file = sharing.root.parent / "team" / "team.md"
    file.write_text(file.read_text() + "- more\n" * 80)
    (cite,) = say(sharing, "I moved to Porto.")
    sleep(sharing, Scripted([patch(edit("add", "Moved to Porto.", cite))]))
    assert f"- Moved to Porto. [{cite}]" in value_of(sharing)


def test_audit_takes_no_citation_of_anothers_recall_for_broken(sharing: Workspace) -> None:
    assert audit(sharing, ["broken-citation"]) == []
    human(sharing, FACT)
    assert [one.path for one in audit(sharing, ["broken-citation"])] == ["core/human.md"]
