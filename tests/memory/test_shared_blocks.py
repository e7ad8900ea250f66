"""Shared blocks: a folder outside of the workspace whose blocks several agents see and edit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from memory_kit import NOW

from fsagent.config import Settings
from fsagent.errors import (
    BlockConflict,
    ConfigError,
    CorruptFile,
    ToolError,
    WorkspaceError,
    WorkspaceLocked,
)
from fsagent.memory.workspace import Workspace

HEAD = "---\ndescription: How we work.   # all of us\nmine: 1\n---\n"

Open = Callable[..., Workspace]


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team" / "core"
    folder.mkdir(parents=True)
    (folder / "style.md").write_text(HEAD + "- short sentences\n- no jargon\n")
    (folder / "plan.md").write_text("- ship in May\n")
    return folder


@pytest.fixture
def opened(tmp_path: Path, team: Path) -> Iterator[Open]:
    """Opens a workspace by name that mounts the team's folder."""
    made: list[Workspace] = []

    def open_it(name: str = "ann", **values: object) -> Workspace:
        settings = Settings(timezone="UTC").with_values(
            "a test", **{"shared": "../team/core", **values}
        )
        made.append(Workspace.init(tmp_path / name, settings=settings, clock=lambda: NOW))
        return made[-1]

    yield open_it
    for workspace in made:
        workspace.close()


def test_shared_blocks_stand_among_the_own(opened: Open) -> None:
    blocks = opened().core.blocks()
    assert [(one.label, one.shared) for one in blocks] == [
        ("human", False),
        ("persona", False),
        ("plan", True),
        ("style", True),
    ]
    assert blocks[3].description == "How we work."
    assert blocks[3].path == "shared:style.md"


def test_an_edit_of_one_is_seen_by_the_other_at_once(opened: Open, team: Path) -> None:
    ann, bob = opened("ann"), opened("bob")
    ann.core.append("style", "- British spelling")
    bob.core.replace("style", "no jargon", "little jargon")
    assert ann.core.block("style").value == "- short sentences\n- little jargon\n- British spelling"
    assert (team / "style.md").read_text().startswith(HEAD)
    assert not (ann.root / "core" / "style.md").exists()


def test_what_the_other_wrote_meanwhile_is_merged_or_told(opened: Open) -> None:
    ann, bob = opened("ann"), opened("bob")
    base = ann.core.block("style").value
    bob.core.append("style", "- from Bob")
    merged = ann.core.write("style", f"- from Ann\n{base}", base=base)
    assert merged.value == f"- from Ann\n{base}\n- from Bob"
    with pytest.raises(BlockConflict) as caught:
        bob.core.write("style", base.replace("no jargon", "x"), base=base.replace("no jargon", "y"))
    assert "- x" in caught.value.yours
    assert caught.value.theirs == merged.value
    assert ann.core.block("style").value == merged.value


def test_only_named_blocks_are_attached_and_detaching_deletes_nothing(
    opened: Open, team: Path
) -> None:
    ann = opened("ann", shared_blocks=["plan", "gone"])
    assert [one.label for one in ann.core.blocks() if one.shared] == ["plan"]
    assert ann.core.mount is not None
    assert ann.core.mount.missing() == ["gone"]
    with pytest.raises(ToolError, match="blocks are: human, persona, plan"):
        ann.core.append("style", "- x")
    none = opened("bob", shared_blocks=[])
    assert [one.label for one in none.core.blocks()] == ["human", "persona"]
    assert sorted(path.name for path in team.glob("*.md")) == ["plan.md", "style.md"]


def test_deleting_a_workspace_deletes_no_shared_block(opened: Open, team: Path) -> None:
    ann, bob = opened("ann"), opened("bob")
    ann.core.append("style", "- from Ann")
    ann.close()
    shutil.rmtree(ann.root)
    assert bob.core.block("style").value.endswith("- from Ann")
    with pytest.raises(ToolError, match="detach"):
        bob.core.remove("plan", base=b"- ship in May\n")
    assert (team / "plan.md").exists()


def test_a_block_of_ones_own_takes_the_place_of_a_shared_one(opened: Open, team: Path) -> None:
    (team / "human.md").write_bytes(b"\xff not even text")
    ann = opened()
    assert not ann.core.block("human").shared
    assert [one.label for one in ann.core.blocks() if one.shared] == ["plan", "style"]
    assert ann.core.hidden() == ["human"]


def test_the_budget_counts_shared_blocks(opened: Open) -> None:
    ann = opened("ann", core_tokens=60)
    with pytest.raises(ToolError, match="all blocks together"):
        ann.core.append("style", "x" * 100)
    ann.core.append("style", "- x")


def test_a_shared_block_that_cannot_be_read_is_told_by_name(opened: Open, team: Path) -> None:
    (team / "style.md").write_bytes(b"---\nlimit: [\n---\nx\n")
    ann, bad = opened(), []
    assert "plan" in [one.label for one in ann.core.blocks(bad)]
    assert [(err.path, err.line) for err in bad] == [("shared:style.md", 3)]
    with pytest.raises(CorruptFile):
        ann.core.append("style", "- x")
    assert (team / "style.md").read_bytes() == b"---\nlimit: [\n---\nx\n"


def test_no_link_and_no_label_leads_out_of_the_folder(
    opened: Open, team: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("canary\n")
    (team / "link.md").symlink_to(tmp_path / "secret.md")
    ann = opened()
    assert "link" not in [one.label for one in ann.core.blocks()]
    for label in ("link", "../secret", "../../secret", ".fsagent/x", "a/b", "x\0y"):
        with pytest.raises(ToolError):
            ann.core.append(label, "- x")
    assert (tmp_path / "secret.md").read_text() == "canary\n"
    (team / ".fsagent").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="link"):
        opened("bob").core.append("style", "- x")


@pytest.mark.parametrize(
    ("shared", "told"),
    [
        ("../nowhere", "no such folder"),
        ("core", "in this workspace, or around it"),
        (".", "in this workspace, or around it"),
        ("..", "in this workspace, or around it"),
        ("../team/core/style.md", "no such folder"),
    ],
)
def test_a_folder_that_cannot_be_mounted_is_told(opened: Open, shared: str, told: str) -> None:
    workspace = opened("ann", shared=shared)
    with pytest.raises(ConfigError, match=told) as caught:
        workspace.core.blocks()
    assert "a test" in str(caught.value)


def test_the_core_of_another_workspace_shares_its_locks(opened: Open, tmp_path: Path) -> None:
    """The other workspace takes the lock of its own path: ours has to be that one."""
    bob = Workspace.init(tmp_path / "bob", settings=Settings(timezone="UTC"), clock=lambda: NOW)
    bob.core.create("house", description="", limit=500, value="- a garden")
    ann = opened("ann", shared="../bob/core", shared_blocks=["house"])
    ann.core.append("house", "- a cellar")
    assert bob.core.block("house").value == "- a garden\n- a cellar"
    assert not (tmp_path / "bob" / "core" / ".fsagent").exists()
    assert ann.core.mount is not None
    with (
        ann.core.mount.lock("house"),
        pytest.raises(WorkspaceLocked),
        bob.tree.lock("core/house.md", timeout_s=0.05),
    ):
        pass
    bob.close()
