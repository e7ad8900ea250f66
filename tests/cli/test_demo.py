"""demo: the README's main command, as a newcomer runs it."""

from __future__ import annotations

from pathlib import Path

from support import Run


def test_demo_answers_with_citations_refuses_and_prints_the_table(
    fsagent: Run, tmp_path: Path
) -> None:
    done = fsagent("demo", "shown")
    assert done.returncode == 0, done.stderr
    assert "A: Admiral [2024-03-28:8]" in done.stdout
    assert "recall/2024/2024-03-28.jsonl:8: 2024-03-28 09:15" in done.stdout
    assert "A: No information available" in done.stdout
    for system in ("agent", "search", "bm25", "grep", "full-context", "no-memory"):
        assert f"| {system} / offline | 13 |" in done.stdout
    assert (tmp_path / "shown/memory/recall/2024/2024-03-03.jsonl").is_file()


def test_demo_sleeps_over_a_chat_and_answers_from_core(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent("demo", "shown")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "+- Sister Irene lives in Rome." in done.stdout
    assert any(line.startswith("-- Lives in Bremen. [") for line in lines)
    assert any(line.startswith("+- Lives in Lisbon (since ") for line in lines)
    assert "Tahiti" not in (tmp_path / "shown/chat/core/human.md").read_text(encoding="utf-8")
    answer = lines[lines.index("Q: Where do I live?") + 1 :]
    assert answer[0].startswith("A: Lisbon [")
    assert answer[0].endswith("(from core, 0 searches)")
    assert answer[1].endswith("Actually, I moved to Lisbon yesterday.")


def test_demo_leaves_nothing_behind_without_a_folder(fsagent: Run, tmp_path: Path) -> None:
    assert fsagent("demo").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_demo_never_writes_over_a_folder(fsagent: Run, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    done = fsagent("demo", ".")
    assert done.returncode == 2
    assert "exists; choose another folder" in done.stderr
