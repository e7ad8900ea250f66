"""A workspace moves with its history, and a bundle made to harm cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from history_kit import Turns, git

from fsagent import Workspace
from fsagent.errors import HistoryError
from fsagent.memory.history.bundle import export_bundle, import_bundle
from fsagent.memory.history.log import read_log


def test_a_workspace_goes_there_and_back_byte_for_byte(turns: Turns, tmp_path: Path) -> None:
    workspace = turns.workspace
    turns.play("I have a dog", lambda: workspace.core.append("human", "- Has a dog."))
    turns.play("日本", lambda: workspace.archival.insert("東京", "旅行"))
    (workspace.root / "archival" / "raw.txt").write_bytes(b"\xff\xfea\r\nb")
    workspace.history.commit_everything()
    size = export_bundle(workspace.history.repository, tmp_path / "all.bundle")
    assert size == (tmp_path / "all.bundle").stat().st_size
    laid = import_bundle(tmp_path / "all.bundle", tmp_path / "copy")
    assert laid.refused == ()

    def files(root: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and not path.relative_to(root).parts[0].startswith(".")
        }

    assert files(tmp_path / "copy") == files(workspace.root)
    assert git(tmp_path / "copy", "log", "--format=%H") == git(workspace.root, "log", "--format=%H")
    assert git(tmp_path / "copy", "status", "--porcelain") == ""
    with Workspace.open(tmp_path / "copy") as copy:
        assert read_log(copy.history.repository.git, "HEAD", turn="t-0001")


def test_a_bundle_that_git_clones(turns: Turns, tmp_path: Path) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    export_bundle(turns.workspace.history.repository, tmp_path / "all.bundle")
    git(tmp_path, "clone", "-q", str(tmp_path / "all.bundle"), str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "core" / "human.md").exists()


def test_a_folder_that_is_not_empty_is_refused(turns: Turns, tmp_path: Path) -> None:
    turns.play("a", lambda: turns.workspace.core.append("human", "- A."))
    export_bundle(turns.workspace.history.repository, tmp_path / "all.bundle")
    with pytest.raises(HistoryError, match="not empty"):
        import_bundle(tmp_path / "all.bundle", turns.workspace.root)


@pytest.mark.parametrize("content", [b"", b"not a bundle", b"# v2 git bundle\n\nPACKbroken"])
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.bundle").write_bytes(content)
    with pytest.raises(HistoryError):
        import_bundle(tmp_path / "x.bundle", tmp_path / "copy")


def test_links_and_reserved_names_of_a_bundle_are_left_out(tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    git(tmp_path, "init", "-q", "-b", "main", str(evil))
    (evil / "fsagent.yaml").write_text("model: offline\n")
    (evil / ".gitattributes").write_text("* filter=evil\n")
    (evil / "con.md").write_text("device\n")
    (evil / "core").symlink_to(tmp_path)
    git(evil, "add", "-A")
    git(evil, "commit", "-qm", "Evil")
    git(evil, "bundle", "create", "-q", str(tmp_path / "evil.bundle"), "HEAD", "main")
    laid = import_bundle(tmp_path / "evil.bundle", tmp_path / "copy")
    assert sorted(laid.refused) == [".gitattributes", "con.md"]
    names = sorted(path.name for path in (tmp_path / "copy").iterdir())
    assert names == [".fsagent", ".git", "fsagent.yaml"]
