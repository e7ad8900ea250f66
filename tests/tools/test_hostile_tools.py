"""Every hostile name through every tool that takes a path: a text, no escape, no host path."""

from __future__ import annotations

import json
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from fsagent.types import ToolCall

_SPEC = spec_from_file_location(
    "hostile", Path(__file__).parent.parent / "workspace" / "hostile.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
hostile = module_from_spec(_SPEC)
_SPEC.loader.exec_module(hostile)

MORE: dict[str, dict[str, str]] = {
    "open": {},
    "close": {},
    "list_files": {},
    "grep": {"pattern": "."},
    "search_files": {"query": "root secret"},
}
LIMIT_S = 0.2
FOLDERS = {"", ".", "./", "core/persona.md/"}
"""Names that are no file and yet a folder's, or nearly: a listing may take them."""


@pytest.mark.parametrize("tool", sorted(MORE))
def test_hostile_names(tool: str, box: Any, workspace: Any) -> None:
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("canary\n", encoding="utf-8")
    crashed, leaked, slow, opened = [], [], [], []
    for row, name, _ in hostile.ROWS:
        arguments = json.dumps({"path": name, **MORE[tool]})
        begun = time.perf_counter()
        result = box.run(ToolCall("c", tool, arguments))
        if time.perf_counter() - begun > LIMIT_S:
            slow.append(row)
        if "failed inside" in result.text:
            crashed.append((row, name))
        if str(workspace.root) in result.text or "canary" in result.text.replace(name, ""):
            leaked.append((row, name))
        if not result.failed and name not in FOLDERS and tool in ("open", "list_files"):
            opened.append((row, name))
    assert (crashed, leaked, slow, opened) == ([], [], [], [])
    assert (outside / "secret.md").read_text(encoding="utf-8") == "canary\n"


def test_benign_names_open(box: Any, workspace: Any) -> None:
    refused = []
    for name in hostile.BENIGN:
        if not name.endswith((".md", ".txt")):
            continue
        workspace.tree.replace(name, b"Here.\n")
        result = box.run(ToolCall("c", "open", json.dumps({"path": name})))
        if result.failed:
            refused.append((name, result.text))
    assert refused == []
