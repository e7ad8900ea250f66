"""What an audit finds in real files, kind by kind; a clean workspace gives nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import NOW, Run

from fsagent.agent.audit.audit import audit
from fsagent.agent.audit.findings import KINDS, Finding
from fsagent.agent.loop import Agent
from fsagent.agent.sleep.sleep import sleep
from fsagent.config import Settings
from fsagent.errors import ConfigError
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.search.manifest import read_manifest, write_manifest
from fsagent.search.ranked import Search

SAID = (
    "I moved to Porto.",
    "I work as a nurse.",
    "My sister Irene lives in Rome.",
    "I have a dentist appointment on 3 December.",
)


@pytest.fixture
def talked(workspace: Workspace) -> Workspace:
    """Return a workspace in whose recall lines 1-4 of 2026-11-29 hold SAID, and line 5 a reply."""
    workspace.recall.append_many(
        [Draft("user", "Anna", text, turn="t", session="s") for text in SAID]
        + [Draft("assistant", "assistant", "You moved to Porto.", turn="t", session="s")]
    )
    return workspace


def write(workspace: Workspace, *lines: str, label: str = "human", limit: int = 5000) -> None:
    """Write a block's file as a person's editor would; its first fact stands on line 5."""
    text = f"---\ndescription: Facts.\nlimit: {limit}\n---\n" + "\n".join(lines) + "\n"
    (workspace.root / "core" / f"{label}.md").write_text(text, encoding="utf-8")


def found(workspace: Workspace, *kinds: str) -> list[tuple[str, str, int]]:
    return [(one.kind, one.path, one.line) for one in audit(workspace, kinds)]


def one(workspace: Workspace, kind: str) -> Finding:
    (finding,) = audit(workspace)
    assert finding.kind == kind
    assert finding.advice
    return finding


CLEAN = (
    "- Lives in Porto. [2026-11-29:1]",
    "- Works as a nurse. [2026-11-29:2]",
    "- Sister Irene lives in Rome. [2026-11-29:3]",
    "- Has a dentist appointment on 2026-12-03. [2026-11-29:4]",
    "- Older facts about this: archival/notes/about-human.md",
)


def test_a_new_workspace_is_clean(workspace: Workspace) -> None:
    assert audit(workspace) == []


def test_cited_facts_that_agree_are_clean(talked: Workspace) -> None:
    write(talked, "# Anna", "", *CLEAN)
    assert audit(talked) == []


def test_what_a_sleep_wrote_is_clean(workspace: Workspace) -> None:
    with Agent(workspace, "offline") as agent:
        for text in (*SAID, "I'm allergic to nuts and I speak German", "Where do I live?"):
            agent.run(text)
    assert sleep(workspace, "offline").landed == 6
    assert audit(workspace) == []


def test_duplicates_are_found_across_blocks(talked: Workspace) -> None:
    write(talked, CLEAN[0], "* lives in porto [2026-11-29:1]")
    assert found(talked) == [("duplicate", "core/human.md", 5)]
    write(talked, CLEAN[0])
    write(talked, CLEAN[0], label="travel")
    assert [kind for kind, _, _ in found(talked)] == ["duplicate"]


def test_near_duplicates_are_found_at_the_older_line(talked: Workspace) -> None:
    write(talked, CLEAN[3], "- Has an appointment with the dentist on 2026-12-03. [2026-11-29:4]")
    finding = one(talked, "near-duplicate")
    assert (finding.path, finding.line) == ("core/human.md", 5)
    assert "core/human.md:6" in finding.text


def test_contradictions_are_found_at_the_line_that_was_said_first(talked: Workspace) -> None:
    talked.recall.append(Draft("user", "Anna", "I live in Lisbon.", turn="t", session="s"))
    write(talked, "- Lives in Lisbon. [2026-11-29:6]", *CLEAN)
    finding = one(talked, "contradiction")
    assert finding.line == 6
    assert "Porto" in finding.text
    assert "core/human.md:5" in finding.text


def test_the_persona_contradicts_nobody(talked: Workspace) -> None:
    write(talked, *CLEAN)
    write(talked, "I live in the cloud.", "Works as an assistant.", label="persona")
    assert audit(talked) == []


@pytest.mark.parametrize(
    "line",
    [
        "- Has a dentist appointment on 2026-11-03. [2026-11-29:4]",
        "- Has to see the dentist by 3 November 2026. [2026-11-29:4]",
        "- Has a dentist appointment next week. [2026-11-29:4]",
    ],
)
def test_what_is_over_or_has_no_date_is_stale(talked: Workspace, line: str) -> None:
    write(talked, line)
    assert ("stale", "core/human.md", 5) in found(talked, "stale")


@pytest.mark.parametrize(
    "line", ["- Lives in Porto (since 2019-05-01).", "- Was born on 3 May 1990.", *CLEAN]
)
def test_what_still_holds_is_not_stale(talked: Workspace, line: str) -> None:
    write(talked, line)
    assert found(talked, "stale") == []


def test_an_age_of_long_ago_is_stale(talked: Workspace) -> None:
    write(talked, "- Was 34 years old on 2024-05-01.")
    assert found(talked, "stale") == [("stale", "core/human.md", 5)]


def test_a_fact_without_a_citation_is_found(talked: Workspace) -> None:
    write(talked, *CLEAN, "- Lives with a cat.")
    assert one(talked, "uncited").line == 10


def test_a_persons_read_only_block_need_not_cite(talked: Workspace) -> None:
    path = talked.root / "core/human.md"
    path.write_text("---\nread_only: true\n---\nLives with a cat.\n", encoding="utf-8")
    assert audit(talked) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("- Lives in Porto. [2026-11-29:99]", "2026-11-29:99"),
        ("- Lives in Porto. [2025-01-01:1]", "2025-01-01:1"),
        ("- Lives in Porto. [archival/none.md:1]", "archival/none.md:1"),
        ("- Lives in Porto. [2026-11-29:1-9]", "2026-11-29:6"),
        ("- Lives in Lisbon. [2026-11-29:1]", "Lisbon"),
        ("- Works as a nurse since 2019. [2026-11-29:2]", "2019"),
        ("- Plays the violin in an orchestra. [2026-11-29:2]", "violin"),
    ],
)
def test_a_citation_that_does_not_carry_its_fact_is_found(
    talked: Workspace, line: str, word: str
) -> None:
    write(talked, line)
    finding = one(talked, "broken-citation")
    assert finding.line == 5
    assert word in finding.text


def test_a_range_and_a_document_carry_facts(talked: Workspace) -> None:
    talked.archival.import_document("trip.md", b"# Trip\n\nWe sail to Corsica in May.\n")
    write(talked, "- Nurse in Porto. [2026-11-29:1-2]", "- Sails to Corsica. [archival/trip.md:3]")
    assert audit(talked) == []


def test_a_block_over_its_limit_and_core_over_its_budget_are_found(talked: Workspace) -> None:
    write(talked, *CLEAN, limit=40)
    assert one(talked, "over-budget").path == "core/human.md"
    tight = Settings(timezone="UTC", core_tokens=10)
    with Workspace.open(talked.root, settings=tight, clock=lambda: NOW) as again:
        assert ("over-budget", "core", 1) in found(again)


def test_secrets_are_found_wherever_they_stand_and_not_told(talked: Workspace) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (talked.root / "archival/keys.md").write_text(f"# Keys\n\n{secret}\n", encoding="utf-8")
    finding = one(talked, "secret")
    assert (finding.path, finding.line) == ("archival/keys.md", 3)
    assert secret not in str(finding)


def test_a_block_that_cannot_be_read_is_found_and_the_others_are_audited(talked: Workspace) -> None:
    write(talked, CLEAN[0], CLEAN[0])
    (talked.root / "core/broken.md").write_text("---\nlimit: [\n---\nx\n", encoding="utf-8")
    assert [kind for kind, _, _ in found(talked)] == ["unreadable", "duplicate"]


def indexed(workspace: Workspace) -> None:
    search = Search(workspace.tree, workspace.settings, workspace.clock)
    search.catch_up(timeout_s=5)
    search.close()


def test_an_index_that_only_waits_is_no_drift(talked: Workspace) -> None:
    indexed(talked)
    talked.recall.append(Draft("user", "Anna", "I like tea.", turn="t", session="s"))
    assert audit(talked) == []


def test_an_index_of_other_bytes_is_drift(talked: Workspace) -> None:
    talked.archival.import_document("trip.md", b"# Trip\n\nWe sail to Corsica.\n")
    indexed(talked)
    (folder,) = talked.root.glob(".fsagent/index-*")
    manifest = read_manifest(folder)
    assert manifest is not None
    # Size and times as they are, another checksum: what no look at the stamps can see.
    entry = manifest.files["archival/trip.md"]
    entry.crc, entry.checked_ns = entry.crc ^ 1, 2**62
    write_manifest(folder, manifest)
    assert found(talked) == [("index-drift", "archival/trip.md", 1)]


def test_an_index_that_catching_up_mends_is_no_drift(talked: Workspace) -> None:
    indexed(talked)
    for column in talked.root.glob(".fsagent/index-*/ends"):
        column.write_bytes(b"")
    assert audit(talked) == []


def test_an_index_that_is_named_and_gone_is_drift(talked: Workspace) -> None:
    indexed(talked)
    for folder in talked.root.glob(".fsagent/index-*"):
        folder.rename(folder.with_name("elsewhere"))
    assert found(talked) == [("index-drift", ".fsagent/index.json", 1)]


def test_only_the_named_kinds_are_looked_for(talked: Workspace) -> None:
    write(talked, CLEAN[0], CLEAN[0], "- Lives with a cat.")
    assert [kind for kind, _, _ in found(talked)] == ["duplicate", "uncited"]
    assert found(talked, "uncited") == [("uncited", "core/human.md", 7)]
    with pytest.raises(ConfigError, match="kinds are"):
        audit(talked, ["typo"])


def test_the_command_has_a_status_for_ci(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    clean = fsagent("audit", "-w", "memory")
    assert (clean.returncode, clean.stdout) == (0, "")
    block = tmp_path / "memory/core/human.md"
    block.write_text(block.read_text("utf-8") + "- Lives with a cat.\n", encoding="utf-8")
    told = fsagent("audit", "-w", "memory")
    assert told.returncode == 1
    line = block.read_text("utf-8").splitlines().index("- Lives with a cat.") + 1
    assert f"core/human.md:{line}: " in told.stdout
    assert "-> " in told.stdout
    (finding,) = json.loads(fsagent("audit", "-w", "memory", "--json").stdout)
    assert set(finding) == {"kind", "path", "line", "text", "advice"}
    assert fsagent("audit", "-w", "memory", "--only", "secret").returncode == 0
    assert fsagent("audit", "-w", "memory", "--only", "typo").returncode == 2
    assert fsagent("audit", "-w", "nowhere").returncode == 2


def test_the_kinds_are_listed(fsagent: Run) -> None:
    shown = fsagent("audit", "--kinds").stdout
    assert [line.split()[0] for line in shown.splitlines()] == list(KINDS)
