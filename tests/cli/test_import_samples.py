"""import of LoCoMo samples: all of them or none, whatever fails midway."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, Run

from fsagent.memory.workspace import Workspace


def sample(sample_id: str, *texts: str) -> dict[str, Any]:
    return {
        "sample_id": sample_id,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": f"D1:{i}", "text": text}
                for i, text in enumerate(texts, 1)
            ],
        },
        "qa": [],
    }


def written(tmp_path: Path, *samples: dict[str, Any], name: str = "data.json") -> str:
    (tmp_path / name).write_text(json.dumps(list(samples)), encoding="utf-8")
    return name


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_sample_gets_a_workspace(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent(
        "import", written(tmp_path, sample("a", "x"), sample("b", "y", "z")), "--to", "in"
    )
    assert done.returncode == 0, done.stderr
    assert left(tmp_path / "in") == ["a", "b"]
    with Workspace.open(tmp_path / "in" / "b") as memory:
        (day,) = memory.recall.days()
        assert [record.content for _, record in memory.recall.read(day)] == ["y", "z"]


def test_a_sample_that_fails_midway_leaves_nothing_of_any(tmp_path: Path) -> None:
    data = written(tmp_path, sample("small", "x"), sample("large", *["word " * 2000] * 40))

    def little_room() -> None:  # no file beyond 100 kB: as if the disk was full
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-m", "fsagent", "import", data, "--to", "in"],
        preexec_fn=little_room,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "sample large cannot be imported" in done.stderr
    assert "Nothing was imported" in done.stderr
    assert left(tmp_path / "in") == []


def test_a_place_that_is_taken_is_found_before_anything_is_written(
    fsagent: Run, tmp_path: Path
) -> None:
    (tmp_path / "in" / "b").mkdir(parents=True)
    (tmp_path / "in" / "b" / "mine.txt").write_text("mine", encoding="utf-8")
    done = fsagent("import", written(tmp_path, sample("a", "x"), sample("b", "y")), "--to", "in")
    assert done.returncode == 2
    assert "b exists already" in done.stderr
    assert left(tmp_path / "in") == ["b"]
    assert left(tmp_path / "in" / "b") == ["mine.txt"]


def test_of_two_files_the_second_that_is_broken_keeps_the_first_out(
    fsagent: Run, tmp_path: Path
) -> None:
    broken = sample("b", "y")
    del broken["conversation"]["session_1_date_time"]
    files = [written(tmp_path, sample("a", "x")), written(tmp_path, broken, name="two.json")]
    done = fsagent("import", *files, "--to", "in")
    assert done.returncode == 2
    assert "session_1_date_time" in done.stderr
    assert not (tmp_path / "in").exists()


def test_a_name_that_climbs_out_of_the_folder_stays_in_it(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent("import", written(tmp_path, sample("../../out", "x")), "--to", "in")
    assert done.returncode == 0, done.stderr
    assert left(tmp_path / "in") == ["out"]
    assert not (tmp_path.parent / "out").exists()


def test_names_that_fall_together_are_refused(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent(
        "import", written(tmp_path, sample("a/b", "x"), sample("a b", "y")), "--to", "in"
    )
    assert done.returncode == 2
    assert "same folder" in done.stderr


@pytest.mark.parametrize(("wanted", "names"), [(["a"], ["a"]), (["b", "a"], ["a", "b"])])
def test_only_the_named_samples(
    fsagent: Run, tmp_path: Path, wanted: list[str], names: list[str]
) -> None:
    data = written(tmp_path, sample("a", "x"), sample("b", "y"), sample("c", "z"))
    options = [word for name in wanted for word in ("--sample", name)]
    assert fsagent("import", data, "--to", "in", *options).returncode == 0
    assert left(tmp_path / "in") == names


def test_an_unknown_sample_is_refused_with_those_there_are(fsagent: Run, tmp_path: Path) -> None:
    done = fsagent("import", written(tmp_path, sample("a", "x")), "--sample", "q")
    assert done.returncode == 2
    assert "no sample q; there are a" in done.stderr
