"""init and config: a new workspace, and where each setting came from."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support import Run


def test_init_lays_the_template(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent("init", "memory")
    assert done.returncode == 0
    made = {
        path.relative_to(tmp_path / "memory").as_posix()
        for path in (tmp_path / "memory").rglob("*")
    }
    assert {
        "fsagent.yaml",
        "core/persona.md",
        "core/human.md",
        "prompts/filesystem.md",
        "recall",
    } <= made


def test_init_never_overwrites(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    mine = tmp_path / "memory/core/human.md"
    mine.write_text("- mine")
    done = fsagent("init", "memory")
    assert done.returncode == 0
    assert "0 files made" in done.stdout
    assert mine.read_text() == "- mine"


def test_config_says_where_each_value_came_from(fsagent: Run, tmp_path: Path, monkeypatch) -> None:
    fsagent("init", "memory")
    (tmp_path / "memory/fsagent.yaml").write_text("max_steps: 7\nfuture_key: 1\n")
    (tmp_path / "user.yaml").write_text("profile: memgpt\nmax_steps: 3\n")
    monkeypatch.setenv("FSAGENT_CONFIG", str(tmp_path / "user.yaml"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-value")
    done = fsagent("config", "-w", "memory", "--json")
    shown = json.loads(done.stdout)
    assert shown["max_steps"] == {"value": "7", "origin": "fsagent.yaml"}
    assert shown["profile"] == {"value": "memgpt", "origin": str(tmp_path / "user.yaml")}
    assert shown["api_key"]["origin"] == "environment OPENAI_API_KEY"
    assert "secret" not in done.stdout
    assert "future_key" in fsagent("config", "-w", "memory").stderr


def test_a_key_in_the_versioned_file_is_refused(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    (tmp_path / "memory/fsagent.yaml").write_text("api_key: sk-1\n")
    done = fsagent("config", "-w", "memory")
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr


def test_a_setting_of_the_wrong_type_names_the_file_and_what_to_write(
    fsagent: Run, tmp_path: Path
) -> None:
    fsagent("init", "memory")
    (tmp_path / "memory/fsagent.yaml").write_text("max_steps: many\n")
    done = fsagent("config", "-w", "memory")
    assert done.returncode == 2
    assert "max_steps is 'many' (fsagent.yaml); write a whole number" in done.stderr


def test_doctor_reports_a_broken_block_with_file_and_line(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    block = tmp_path / "memory/core/human.md"
    block.write_text("---\ndescription: [open\n---\n- fact\n")
    done = fsagent("doctor", "-w", "memory")
    assert done.returncode == 2
    assert "core/human.md:3" in done.stdout
    assert block.read_text() == "---\ndescription: [open\n---\n- fact\n"


def test_doctor_counts_a_torn_recall_line(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    day = tmp_path / "memory/recall/2026/2026-11-29.jsonl"
    day.parent.mkdir()
    day.write_bytes(
        b'{"seq":1,"ts":"2026-11-29T10:00:00+00:00","role":"user","content":"hi"}\n{"seq":2,"ts"'
    )
    done = fsagent("doctor", "-w", "memory")
    assert done.returncode == 0
    assert (
        "1 unreadable lines are kept and skipped, first recall/2026/2026-11-29.jsonl:2"
        in done.stdout
    )
    assert day.read_bytes().endswith(b'"ts"')


def test_doctor_warns_of_a_workspace_that_may_not_be_written(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    folder = tmp_path / "memory"
    folder.chmod(0o555)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("root may write everything")
        done = fsagent("doctor", "-w", "memory")
    finally:
        folder.chmod(0o755)
    assert "warn  workspace" in done.stdout and "may not be written" in done.stdout


def test_doctor_says_which_extras_are_there_and_how_to_get_the_others(fsagent: Run) -> None:
    done = fsagent("doctor", "--json")
    extras = {
        check["name"].strip(): check
        for check in json.loads(done.stdout)
        if check["name"].startswith("  [")
    }
    assert set(extras) == {"[bench]", "[vectors]", "[ray]"}
    for name, check in extras.items():
        assert check["status"] == "ok"
        installed = check["words"] == "installed"
        assert installed or f"pip install 'fsagent{name}'" in check["words"]
