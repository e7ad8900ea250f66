"""The commands of block, as a person runs them: in an editor, from a script, with limits."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT, Run

HEAD = "---\n# mine\ndescription: Pets.   # of the family\nlimit: 40\nmine: [1, 2]\n---\n"

OnTerminal = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ws(fsagent: Run, tmp_path: Path) -> Path:
    """A workspace with a block `pets` that holds `- a dog`."""
    assert fsagent("init", "ws").returncode == 0
    (tmp_path / "ws/core/pets.md").write_text(HEAD + "- a dog\n", encoding="utf-8")
    return tmp_path / "ws"


@pytest.fixture
def in_editor(tmp_path: Path) -> OnTerminal:
    """Runs a command on a terminal whose editor is a Python script that gets the file's path."""

    def run(script: str, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        editor = tmp_path / "editor.py"
        editor.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n{script}\n")
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode())
        try:
            return subprocess.run(
                [sys.executable, "-m", "fsagent", "-w", "ws", *arguments],
                stdin=theirs,
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    "VISUAL": f"{sys.executable} {editor}",
                },
                timeout=60,
                check=False,
            )
        finally:
            os.close(ours)
            os.close(theirs)

    return run


def subjects(fsagent: Run) -> list[str]:
    rows = json.loads(fsagent("-w", "ws", "log", "--json").stdout)
    return [f"{row['by']} {row['subject']}" for row in rows]


def test_list_shows_use_and_marks_and_json(fsagent: Run, ws: Path) -> None:
    (ws / "core/pets.md").write_text(HEAD + "- a dog\n" * 8)
    (ws / "core/fixed.md").write_text("---\nread_only: true\n---\nx\n")
    shown = fsagent("-w", "ws", "block", "list")
    assert "pets           63/40  over its limit      Pets." in shown.stdout
    assert "fixed         1/5000  read-only" in shown.stdout
    shape = json.loads(fsagent("-w", "ws", "block", "list", "--json").stdout)
    assert [one["label"] for one in shape["blocks"]] == ["fixed", "human", "persona", "pets"]
    assert shape["core_tokens"] == 2000
    assert shape["tokens"] == sum(one["tokens"] for one in shape["blocks"])


def test_a_block_that_cannot_be_read_is_told_and_the_others_shown(fsagent: Run, ws: Path) -> None:
    (ws / "core/pets.md").write_bytes(b"---\nlimit: [\n---\nx\n")
    shown = fsagent("-w", "ws", "block", "list")
    assert shown.returncode == 2
    assert "human" in shown.stdout
    assert "core/pets.md:3: the front matter is not valid YAML" in shown.stderr
    shape = json.loads(fsagent("-w", "ws", "block", "list", "--json").stdout)
    assert [one["path"] for one in shape["unreadable"]] == ["core/pets.md"]
    refused = fsagent("-w", "ws", "block", "edit", "pets", "--value", "y")
    assert refused.returncode == 2
    assert (ws / "core/pets.md").read_bytes() == b"---\nlimit: [\n---\nx\n"


def test_show_prints_the_text_alone(fsagent: Run, ws: Path) -> None:
    shown = fsagent("-w", "ws", "block", "show", "pets")
    assert shown.stdout == "- a dog\n"
    assert "core/pets.md: 7 of 40 characters. Pets." in shown.stderr
    shape = json.loads(fsagent("-w", "ws", "block", "show", "pets", "--json").stdout)
    assert (shape["value"], shape["limit"]) == ("- a dog", 40)
    missing = fsagent("-w", "ws", "block", "show", "petz")
    assert missing.returncode == 2
    assert "human, persona, pets" in missing.stderr


@pytest.mark.parametrize("way", ["value", "stdin", "file"])
def test_edit_from_a_script_keeps_the_head_and_is_committed(
    fsagent: Run, ws: Path, tmp_path: Path, way: str
) -> None:
    whole = HEAD + "- a dog\n- a cat\n"
    (tmp_path / "new.md").write_text(whole)
    options, stdin = {
        "value": (["--value", "- a dog\n- a cat"], None),
        "stdin": ([], "- a dog\n- a cat\n"),
        "file": (["--file", "new.md"], None),
    }[way]
    done = fsagent("-w", "ws", "block", "edit", "pets", *options, stdin=stdin)
    assert (done.returncode, done.stdout) == (0, "pets now has 15 of 40 characters.\n")
    assert (ws / "core/pets.md").read_text() == whole
    assert subjects(fsagent)[0] == 'person edit: pets: add "a cat"'
    again = fsagent("-w", "ws", "block", "edit", "pets", *options, stdin=stdin)
    assert again.returncode == 1
    assert len(subjects(fsagent)) == 2


def test_edit_refuses_nothing_on_standard_input(fsagent: Run, ws: Path) -> None:
    for stdin in (None, "", " \n"):
        assert fsagent("-w", "ws", "block", "edit", "pets", stdin=stdin).returncode == 2
    assert (ws / "core/pets.md").read_text() == HEAD + "- a dog\n"
    assert fsagent("-w", "ws", "block", "edit", "pets", "--value", "").returncode == 0
    assert (ws / "core/pets.md").read_text() == HEAD


def test_the_limits_hold_for_a_person_with_advice(fsagent: Run, ws: Path) -> None:
    done = fsagent("-w", "ws", "block", "edit", "pets", "--value", "x" * 41)
    assert done.returncode == 2
    assert "would hold 41 characters, its limit is 40" in done.stderr
    assert "raise limit in the block's front matter" in done.stderr
    (ws / "fsagent.yaml").write_text("core_tokens: 40\n")
    done = fsagent("-w", "ws", "block", "new", "more", "--value", "x" * 100)
    assert done.returncode == 2
    assert "raise core_tokens in fsagent.yaml" in done.stderr
    assert not (ws / "core/more.md").exists()
    assert (ws / "core/pets.md").read_text() == HEAD + "- a dog\n"


def test_the_editor_gets_the_whole_file(in_editor: OnTerminal, fsagent: Run, ws: Path) -> None:
    script = (
        "file.write_bytes(file.read_bytes().replace(b'limit: 40', b'limit: 90') + b'- a cat\\n')"
    )
    done = in_editor(script, "block", "edit", "pets")
    assert done.returncode == 0, done.stderr
    text = (ws / "core/pets.md").read_text()
    assert text == HEAD.replace("limit: 40", "limit: 90") + "- a dog\n- a cat\n"
    unchanged = in_editor("", "block", "edit", "pets")
    assert (unchanged.returncode, (ws / "core/pets.md").read_text()) == (1, text)


def test_the_editor_opens_again_with_the_text_that_was_refused(
    in_editor: OnTerminal, ws: Path
) -> None:
    script = (
        "data = file.read_bytes()\n"
        "file.write_bytes(data[:-10] + b'\\n' if b'yyyyyyyy' in data else data + b'- ' + b'y' * 40)"
    )
    done = in_editor(script, "block", "edit", "pets", typed="y\n")
    assert "would hold 50 characters" in done.stderr
    assert done.returncode == 0, done.stderr
    assert (ws / "core/pets.md").read_text() == HEAD + "- a dog\n- " + "y" * 30 + "\n"


def test_a_text_given_up_is_kept(in_editor: OnTerminal, ws: Path) -> None:
    script = "file.write_bytes(file.read_bytes() + b'- ' + b'y' * 40)"
    done = in_editor(script, "block", "edit", "pets", typed="n\n")
    assert done.returncode == 2
    assert "kept in .fsagent/quarantine/block-pets.md" in done.stderr
    kept = (ws / ".fsagent/quarantine/block-pets.md").read_text()
    assert kept == HEAD + "- a dog\n- " + "y" * 40
    assert (ws / "core/pets.md").read_text() == HEAD + "- a dog\n"


def _meanwhile(ws: Path, edit: str) -> str:
    """Return an editor's script that lets the agent write while the person edits."""
    return f"from fsagent import Workspace\nwith Workspace.open({str(ws)!r}) as memory: memory.core.{edit}"


def test_what_the_agent_wrote_meanwhile_is_merged(in_editor: OnTerminal, ws: Path) -> None:
    script = _meanwhile(ws, "append('pets', '- a fish')")
    script += "\nfile.write_text(file.read_text().replace('a dog', 'an old dog'))"
    done = in_editor(script, "block", "edit", "pets")
    assert done.returncode == 0, done.stderr
    assert (ws / "core/pets.md").read_text() == HEAD + "- an old dog\n- a fish\n"


def test_a_conflict_is_shown_and_the_text_kept(in_editor: OnTerminal, ws: Path) -> None:
    script = _meanwhile(ws, "replace('pets', 'a dog', 'a wolf')")
    script += "\nfile.write_text(file.read_text().replace('a dog', 'an old dog'))"
    done = in_editor(script, "block", "edit", "pets")
    assert done.returncode == 2
    assert "-- a wolf\n+- an old dog" in done.stderr
    assert "- a wolf" in (ws / "core/pets.md").read_text()
    assert "- an old dog" in (ws / ".fsagent/quarantine/block-pets.md").read_text()


def test_a_broken_block_is_repaired_in_the_editor(in_editor: OnTerminal, ws: Path) -> None:
    (ws / "core/pets.md").write_bytes(b"---\nlimit: [\n---\n- a dog\n")
    done = in_editor(
        "file.write_bytes(file.read_bytes().replace(b'[', b'9'))", "block", "edit", "pets"
    )
    assert done.returncode == 0, done.stderr
    assert (ws / "core/pets.md").read_bytes() == b"---\nlimit: 9\n---\n- a dog\n"


def test_new_makes_a_block_and_never_overwrites(fsagent: Run, ws: Path) -> None:
    options = ("--description", "Plans: 2027", "--limit", "300", "--read-only", "--value", "- Rome")
    done = fsagent("-w", "ws", "block", "new", "plans", *options)
    assert (done.returncode, done.stdout) == (0, "Made core/plans.md.\n")
    shape = json.loads(fsagent("-w", "ws", "block", "show", "plans", "--json").stdout)
    assert (shape["description"], shape["limit"], shape["read_only"], shape["value"]) == (
        "Plans: 2027",
        300,
        True,
        "- Rome",
    )
    assert subjects(fsagent)[0] == "person new block: plans: new"
    before = (ws / "core/plans.md").read_bytes()
    assert fsagent("-w", "ws", "block", "new", "plans").returncode == 2
    assert fsagent("-w", "ws", "block", "new", "../x").returncode == 2
    assert (ws / "core/plans.md").read_bytes() == before


def test_rm_asks_and_undo_brings_it_back(fsagent: Run, ws: Path) -> None:
    preview = fsagent("-w", "ws", "block", "rm", "pets")
    assert preview.returncode == 1
    assert "- a dog" in preview.stdout
    assert (ws / "core/pets.md").exists()
    done = fsagent("-w", "ws", "block", "rm", "pets", "--yes")
    assert done.returncode == 0
    assert not (ws / "core/pets.md").exists()
    commit = done.stdout.split("fsagent undo ")[1].split()[0]
    assert fsagent("-w", "ws", "undo", commit, "--yes").returncode == 0
    assert (ws / "core/pets.md").read_text() == HEAD + "- a dog\n"


def test_rm_without_git_keeps_the_text(fsagent: Run, ws: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = fsagent("-w", "ws", "block", "rm", "pets", "--yes")
    assert done.returncode == 0, done.stderr
    assert "kept in .fsagent/quarantine/block-pets.md" in done.stdout
    assert (ws / ".fsagent/quarantine/block-pets.md").read_text() == HEAD + "- a dog\n"
