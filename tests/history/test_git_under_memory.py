"""Git under the memory: each row of the table in its own repository, with real git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from history_kit import Clock, Turns, fingerprint, git

from fsagent import Workspace
from fsagent.errors import CorruptFile
from fsagent.memory.history.messages import TurnNote

Reopen = Callable[..., Workspace]


def remember(workspace: Workspace, text: str, turn: str = "t-1") -> str | None:
    """Play one silent turn that adds a line to `human`."""
    workspace.history.begin_turn(turn)
    workspace.core.append("human", text)
    return workspace.history.commit_turn(TurnNote(turn))


def test_one_turn_is_one_commit_with_nothing_left_over(workspace: Workspace) -> None:
    commit = remember(workspace, "- Has a dog.")
    assert commit == git(workspace.root, "rev-parse", "HEAD")
    assert git(workspace.root, "show", "--format=%s", "--name-only").split("\n") == [
        'human: add "Has a dog."',
        "",
        "core/human.md",
    ]
    assert git(workspace.root, "status", "--porcelain") == ""
    assert git(workspace.root, "fsck", "--strict") == ""


def test_the_identity_is_our_own_where_the_machine_has_none(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    assert git(workspace.root, "log", "-1", "--format=%an %ae %cn") == (
        "fsagent agent@fsagent.invalid fsagent"
    )


def test_an_outer_repository_stays_untouched(tmp_path: Path, reopen: Reopen, clock: Clock) -> None:
    outer = tmp_path / "project"
    git(tmp_path, "init", "-q", str(outer))
    (outer / "code.py").write_text("pass\n")
    git(outer, "add", ".")
    git(outer, "commit", "-qm", "Start")
    before = fingerprint(outer)
    workspace = reopen(outer / "ws")
    turns = Turns(workspace, clock)
    for number in range(10):
        turns.play("Hello", lambda n=number: workspace.core.append("human", f"- Fact {n}."))
    workspace.close()
    assert fingerprint(outer) == before
    assert not (workspace.root / ".git").exists()
    inner = workspace.root / ".fsagent" / "git"
    assert git(inner, "rev-list", "--count", "HEAD") == "12"
    git(outer, "add", "-A")
    assert ".fsagent" not in git(outer, "diff", "--cached", "--name-only")


def test_it_says_once_where_the_history_lives(tmp_path: Path, reopen: Reopen) -> None:
    git(tmp_path, "init", "-q", str(tmp_path / "project"))
    said = reopen(tmp_path / "project" / "ws").history.notices()
    assert len(said) == 1
    assert ".fsagent/git" in said[0]
    assert reopen(tmp_path / "project" / "ws").history.notices() == []


def test_a_persons_repository_at_the_same_folder_is_somebodys(
    tmp_path: Path, reopen: Reopen
) -> None:
    root = tmp_path / "ws"
    git(tmp_path, "init", "-q", str(root))
    (root / "mine.md").write_text("mine\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Mine")
    before = fingerprint(root / ".git")
    remember(reopen(), "- Has a dog.")
    assert fingerprint(root / ".git") == before
    assert (root / ".fsagent" / "git" / "HEAD").exists()


def test_a_clone_of_a_workspace_goes_on_with_its_history(
    tmp_path: Path, workspace: Workspace, reopen: Reopen
) -> None:
    remember(workspace, "- Has a dog.")
    git(tmp_path, "clone", "-q", str(workspace.root), str(tmp_path / "clone"))
    remember(reopen(tmp_path / "clone"), "- Has a cat.", "t-2")
    assert git(tmp_path / "clone", "log", "-2", "--format=%s").split("\n") == [
        'human: add "Has a cat."',
        'human: add "Has a dog."',
    ]


def test_hooks_and_fsmonitor_of_the_repository_never_run(
    workspace: Workspace, canary: Path
) -> None:
    remember(workspace, "- Has a dog.")
    hooks = workspace.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "reference-transaction", "post-index-change", "commit-msg"):
        (hooks / name).symlink_to(canary.parent / "evil.sh")
    git(workspace.root, "config", "core.fsmonitor", str(canary.parent / "evil.sh"))
    assert remember(workspace, "- Has a cat.", "t-2")


def test_filters_and_line_endings_leave_the_bytes_alone(workspace: Workspace, canary: Path) -> None:
    remember(workspace, "- Has a dog.")
    git(workspace.root, "config", "filter.evil.clean", str(canary.parent / "evil.sh"))
    git(workspace.root, "config", "core.autocrlf", "true")
    (workspace.root / ".gitattributes").write_text("* text=auto filter=evil diff=evil ident\n")
    (workspace.root / "archival" / "win.md").write_bytes(b"a\r\nb $Id$\r\n")
    assert remember(workspace, "- Has a cat.", "t-2")
    kept = git(workspace.root, "cat-file", "blob", "HEAD:archival/win.md")
    assert kept.encode() == b"a\nb $Id$" or git(
        workspace.root, "rev-parse", "HEAD:archival/win.md"
    ) == git(workspace.root, "hash-object", "--no-filters", "archival/win.md")


def test_signing_that_would_fail_is_not_asked_for(workspace: Workspace, canary: Path) -> None:
    remember(workspace, "- Has a dog.")
    git(workspace.root, "config", "commit.gpgsign", "true")
    git(workspace.root, "config", "gpg.program", str(canary.parent / "evil.sh"))
    assert remember(workspace, "- Has a cat.", "t-2")


def test_a_stale_index_lock_does_not_matter(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    (workspace.root / ".git" / "index.lock").touch()
    (workspace.root / ".fsagent" / "history" / "index.next.lock").touch()
    assert remember(workspace, "- Has a cat.", "t-2")
    assert (workspace.root / ".git" / "index.lock").exists()


def test_no_commit_on_a_detached_head_and_the_edit_is_committed_later(
    workspace: Workspace,
) -> None:
    history = workspace.history
    remember(workspace, "- Has a dog.")
    git(workspace.root, "checkout", "-q", "--detach")
    head = git(workspace.root, "rev-parse", "HEAD")
    history.begin_turn("t-2")
    workspace.core.append("human", "- Has a cat.")
    history.end_turn(TurnNote("t-2"))
    history.close()
    assert git(workspace.root, "rev-parse", "HEAD") == head
    assert "detached" in " ".join(history.notices())
    assert "- Has a cat." in workspace.core.block("human").value
    git(workspace.root, "checkout", "-q", "main")
    history.begin_turn("t-3")
    assert "Turn: t-2" in git(workspace.root, "log", "--format=%B", "main")


@pytest.mark.parametrize(
    "name", ["MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"]
)
def test_no_commit_while_the_persons_git_is_under_way(workspace: Workspace, name: str) -> None:
    remember(workspace, "- Has a dog.")
    head = git(workspace.root, "rev-parse", "HEAD")
    (workspace.root / ".git" / name).touch()
    workspace.history.begin_turn("t-2")
    workspace.core.append("human", "- Has a cat.")
    workspace.history.end_turn(TurnNote("t-2"))
    workspace.history.close()
    assert git(workspace.root, "rev-parse", "HEAD") == head
    assert "under way" in " ".join(workspace.history.notices())
    (workspace.root / ".git" / name).unlink()
    workspace.history.look()
    assert "Turn: t-2" in git(workspace.root, "log", "-1", "--format=%B")


def test_memory_works_without_git_and_says_so_once(
    reopen: Reopen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    workspace = reopen()
    history = workspace.history
    assert history.begin_turn("t-1") == ""
    workspace.core.append("human", "- Has a dog.")
    history.end_turn(TurnNote("t-1"))
    history.close()
    assert len(history.notices()) == 1
    assert not (workspace.root / ".git").exists()
    assert reopen().history.notices() == []


def test_the_persons_staged_work_stays_staged(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    (workspace.root / ".gitignore").write_text("private/\n")
    git(workspace.root, "add", ".gitignore")
    remember(workspace, "- Has a cat.", "t-2")
    assert git(workspace.root, "status", "--porcelain") == "A  .gitignore"


def test_what_the_person_ignores_is_not_taken_in(workspace: Workspace) -> None:
    (workspace.root / ".gitignore").write_text("private*\n")
    (workspace.root / "archival" / "private.md").write_text("mine\n")
    remember(workspace, "- Has a dog.")
    assert "private" not in git(workspace.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_a_commit_of_the_persons_in_between_is_built_upon(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    (workspace.root / "core" / "human.md").write_text("Theirs.\n")
    git(workspace.root, "commit", "-qam", "By hand")
    remember(workspace, "- Has a cat.", "t-2")
    assert git(workspace.root, "log", "-2", "--format=%s").split("\n") == [
        'human: add "Has a cat."',
        "By hand",
    ]
    assert git(workspace.root, "fsck", "--strict") == ""


def test_links_are_not_followed_into_the_history(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret\n")
    (workspace.root / "archival" / "link.md").symlink_to(tmp_path / "secret.md")
    remember(workspace, "- Has a dog.")
    assert "link.md" not in git(workspace.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_deleting_what_is_derived_costs_nothing(workspace: Workspace, reopen: Reopen) -> None:
    import shutil

    remember(workspace, "- Has a dog.")
    shutil.rmtree(workspace.root / ".fsagent" / "history")
    remember(reopen(), "- Has a cat.", "t-2")
    assert git(workspace.root, "show", "--format=", "--name-only") == "core/human.md"


def test_a_burst_is_one_commit_with_every_file(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    for number in range(300):
        (workspace.root / "archival" / f"n{number}.md").write_text(f"note {number}\n")
    assert workspace.history.look()
    assert len(git(workspace.root, "show", "--format=", "--name-only").split("\n")) == 300


def test_marks_of_an_unresolved_merge_never_reach_the_prompt(workspace: Workspace) -> None:
    remember(workspace, "- Lives in Berlin.")
    git(workspace.root, "checkout", "-qb", "side")
    path = workspace.root / "core" / "human.md"
    path.write_text(path.read_text().replace("Berlin", "Rome"))
    git(workspace.root, "commit", "-qam", "Rome")
    git(workspace.root, "checkout", "-q", "main")
    path.write_text(path.read_text().replace("Berlin", "Oslo"))
    git(workspace.root, "commit", "-qam", "Oslo")
    git(workspace.root, "merge", "side", check=False)
    assert "<<<<<<<" in path.read_text()
    with pytest.raises(CorruptFile) as refused:
        workspace.core.blocks()
    assert (refused.value.path, refused.value.line) == ("core/human.md", 6)
    head = git(workspace.root, "rev-parse", "HEAD")
    workspace.history.begin_turn("t-2")
    assert git(workspace.root, "rev-parse", "HEAD") == head


def test_packed_branches_are_read_and_moved(workspace: Workspace) -> None:
    remember(workspace, "- Has a dog.")
    git(workspace.root, "pack-refs", "--all")
    git(workspace.root, "gc", "-q")
    assert remember(workspace, "- Has a cat.", "t-2") == git(workspace.root, "rev-parse", "HEAD")
    assert git(workspace.root, "rev-list", "--count", "HEAD") == "3"


def test_a_sha256_repository_given_to_us_works(tmp_path: Path, reopen: Reopen) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", str(tmp_path / "ws"))
    (tmp_path / "ws" / ".git" / "fsagent-history").touch()
    workspace = reopen()
    remember(workspace, "- Has a dog.")
    path = workspace.archival.insert("Trip", "Kyoto")
    workspace.history.look()
    workspace.tree.remove(path)
    workspace.history.look()
    assert len(remember(workspace, "- Has a cat.", "t-2") or "") == 64
    assert git(workspace.root, "status", "--porcelain") == ""
    assert git(workspace.root, "fsck", "--strict") == ""
