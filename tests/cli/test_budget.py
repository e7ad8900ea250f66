"""usage and context: what the agent has used, and what fills its window."""

from __future__ import annotations

import json
from pathlib import Path

from support import Run


def test_usage_after_a_question(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    assert fsagent("-w", "memory", "usage").returncode == 1
    fsagent("-w", "memory", "ask", "Where do I live?")
    done = fsagent("-w", "memory", "usage", "--json")
    (row,) = json.loads(done.stdout)
    assert (row["role"], row["model"], row["usd"]) == ("chat", "offline", 0.0)
    assert row["prompt_tokens"] > 1_000
    assert "offline" in fsagent("-w", "memory", "usage").stdout


def test_context_by_section(fsagent: Run, tmp_path: Path) -> None:
    fsagent("init", "memory")
    fsagent("-w", "memory", "ask", "Where do I live?")
    shape = json.loads(fsagent("-w", "memory", "context", "--json").stdout)
    assert shape["sections"]["messages"] > 0
    assert shape["used_tokens"] + shape["free_tokens"] == shape["limit_tokens"]
    assert "open files" in fsagent("-w", "memory", "context").stdout
