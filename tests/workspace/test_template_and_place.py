"""Making a workspace, and finding the one that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.workspace.locate import find_workspace
from fsagent.workspace.template import lay_template


def test_a_new_workspace_has_its_parts(tmp_path: Path) -> None:
    laid = lay_template(tmp_path / "a" / "mem")
    assert "core/persona.md" in laid.made
    assert laid.kept == ()
    for folder in ("core", "recall", "archival/notes", "prompts"):
        assert (laid.root / folder).is_dir()


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "persona.md").write_bytes(b"mine")
    (tmp_path / "README").write_bytes(b"mine")
    laid = lay_template(tmp_path)
    assert laid.kept == ("core/persona.md",)
    assert (tmp_path / "core" / "persona.md").read_bytes() == b"mine"
    assert not lay_template(tmp_path).made


def test_a_template_is_not_laid_through_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, target in (("core/human.md", "made.md"), ("archival", ".")):
        root = tmp_path / name.partition("/")[0]
        (root / name).parent.mkdir(parents=True)
        (root / name).symlink_to(outside / target)
        with pytest.raises(PathRejected) as caught:
            lay_template(root)
        assert caught.value.code == "LNK"
    assert list(outside.iterdir()) == []


def test_a_file_is_no_place_for_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/mem"):
        with pytest.raises(WorkspaceError):
            lay_template(tmp_path / place)


def test_the_nearest_workspace_upwards_is_found(tmp_path: Path) -> None:
    lay_template(tmp_path / "mem")
    deep = tmp_path / "mem" / "archival" / "notes"
    assert find_workspace(None, {}, deep) == tmp_path / "mem"
    lay_template(tmp_path / "other")
    env = {"FSAGENT_WORKSPACE": str(tmp_path / "other")}
    assert find_workspace(None, env, deep) == tmp_path / "other"
    assert find_workspace(tmp_path / "mem", env, tmp_path) == tmp_path / "mem"
    with pytest.raises(WorkspaceError, match="no workspace here"):
        find_workspace(None, {}, tmp_path)


@pytest.mark.parametrize("what", ["missing", "file", "plain folder"])
def test_a_place_that_is_no_workspace_is_told(tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what == "file":
        place.write_bytes(b"")
    if what == "plain folder":
        place.mkdir()
    with pytest.raises(WorkspaceError):
        find_workspace(place, {}, tmp_path)
