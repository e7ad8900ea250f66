"""The Ray executor, on a local Ray of two workers. Run where the extra `ray` is installed."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
from pathlib import Path
from fsagent.bench.options import BenchOptions
from fsagent.bench.runner import run_benchmark
from fsagent.config import Settings
from fsagent.errors import ConfigError

if __name__ == "__main__":
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    for executor in ("local", "ray"):
        run_benchmark(BenchOptions(
            data=data, out=out / executor, system="grep", workers=2, executor=executor
        ))
    try:
        run_benchmark(BenchOptions(
            data=data, out=out / "none", system="bm25", executor="ray", workers=2,
            settings=Settings(model="nobody"),
        ))
    except ConfigError as err:
        print("refused:", err)
"""


@pytest.mark.timeout(180)
def test_ray_gives_the_same_predictions_bit_for_bit(demo_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    script = tmp_path / "run.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, str(script), str(demo_file), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused: no endpoint" in done.stdout
    local, ray = (rows(tmp_path / name) for name in ("local", "ray"))
    assert len(local) == 16
    assert local == ray


def rows(run: Path) -> list[str]:
    """Return the lines of a run's predictions without the time each took."""
    import re

    text = (run / "predictions.jsonl").read_text(encoding="utf-8")
    return [re.sub(r'"latency_s":[\d.e-]+', "", line) for line in text.splitlines()]


def test_without_ray_the_extra_is_named(
    demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsagent.bench.options import BenchOptions
    from fsagent.bench.runner import run_benchmark
    from fsagent.errors import ConfigError

    monkeypatch.setitem(sys.modules, "ray", None)
    options = BenchOptions(data=demo_file, out=tmp_path / "run", system="bm25")
    with pytest.raises(ConfigError, match=r"fsagent\[ray\]"):
        run_benchmark(dataclasses.replace(options, executor="ray"))
