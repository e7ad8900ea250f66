"""What is published: tables that come from the committed manifests, and none of the data's text."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


def test_the_readmes_tables_are_those_of_the_manifests() -> None:
    command = [sys.executable, "benchmarks/readme_tables.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, check=False, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, "run: python benchmarks/readme_tables.py"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_published_run_says_where_it_comes_from(path: Path) -> None:
    assert path.with_suffix(".md").is_file()
    for run in json.loads(path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[0-9a-f]{12}", run["commit"]), "a dirty tree is no source"
        assert "path" not in run["dataset"]
        assert run["summary"]["missing"] == 0


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_published_report_holds_no_text_of_the_data(path: Path, locomo_file: Path) -> None:
    published = path.read_text(encoding="utf-8") + path.with_suffix(".md").read_text("utf-8")
    for sample in json.loads(locomo_file.read_text(encoding="utf-8")):
        texts = [question["question"] for question in sample["qa"]]
        texts += [
            turn["text"]
            for key, turns in sample["conversation"].items()
            if key.startswith("session_") and isinstance(turns, list)
            for turn in turns
        ]
        assert [text for text in texts if len(text) > 20 and text in published] == []


@pytest.mark.parametrize(
    "script", sorted((ROOT / "benchmarks" / "runs").glob("*.sh")), ids=lambda path: path.stem
)
def test_a_run_script_parses_and_says_what_it_wants(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.search(r": [12]: (a|the) ", done.stderr), done.stderr
