"""Reports: Markdown tables and the self-contained page."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fsagent.bench.errata import Erratum
from fsagent.bench.options import BenchOptions
from fsagent.bench.report import report, table
from fsagent.bench.report_html import page_of
from fsagent.bench.runner import run_benchmark


@pytest.fixture
def runs(demo_file: Path, tmp_path: Path) -> list[Path]:
    for system in ("bm25", "oracle"):
        run_benchmark(BenchOptions(data=demo_file, out=tmp_path / system, system=system))
    return [tmp_path / "bm25", tmp_path / "oracle"]


def embedded(text: str) -> dict[str, object]:
    """Return the data a page carries."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


def test_the_table_has_n_intervals_and_category_5_apart(runs: list[Path]) -> None:
    text = report(runs)
    assert "n=5" in text
    assert re.search(r"\| bm25 / offline \| 13 \| [\d.]+ \[[\d.]+, [\d.]+\]", text)
    assert "Adversarial questions (category 5, never blended in)" in text
    assert "76 turns and 6 sessions" in text
    assert re.search(r"Run \d{4}-\d\d-\d\d, commit \S+; \w+ \w+, Python 3\.\d+", text)


def test_a_run_without_a_summary_is_scored_for_the_report(runs: list[Path]) -> None:
    (runs[0] / "summary.json").unlink()
    assert "bm25" in report(runs)
    assert (runs[0] / "summary.json").exists()


def test_what_does_not_rank_stands_in_no_retrieval_table(demo_file: Path, tmp_path: Path) -> None:
    for system in ("bm25", "full-context"):
        run_benchmark(BenchOptions(data=demo_file, out=tmp_path / system, system=system))
    tables = dict(
        re.findall(r"## (.+?)\n\n(.+?)(?=\n\n|\Z)", report([*tmp_path.iterdir()]), re.DOTALL)
    )
    for title, rows in tables.items():
        assert ("| full-context" in rows) == (not title.startswith("Retrieval")), title
        assert "| bm25" in rows


def test_cells_cannot_break_a_table() -> None:
    assert table(["a"], [["x|y"]]).splitlines()[-1] == "| x/y |"
    assert table(["a"], []) == ""


def test_the_page_needs_nothing_beside_it(runs: list[Path]) -> None:
    text = page_of(runs)
    assert not re.search(r"""(src|href)\s*=|@import|url\(|https?://""", text)
    assert text.count("<svg class") == 5
    assert "$" not in text.replace("${", "")
    rows = embedded(text)["rows"]
    assert isinstance(rows, list)
    assert len(rows) == 32


def test_the_browser_has_evidence_verdicts_and_flags(runs: list[Path]) -> None:
    flags = {("demo", 3): Erratum("HALLUCINATION", True, "Commodore", ())}
    data = embedded(page_of(runs, errata=flags))
    rows = data["rows"]
    assert isinstance(rows, list)
    row = next(row for row in rows if (row["run"], row["index"]) == ("oracle", 3))
    assert row["flag"] == "HALLUCINATION; suggested: Commodore"
    assert (row["evidence"], row["shown"], row["gold"]) == (["D2:8"], ["D2:8"], "Admiral")
    lines = data["lines"]
    assert isinstance(lines, dict)
    assert "parrot is called Admiral" in lines["demo"]["D2:8"]
    assert {row["outcome"] for row in rows if row["category"] == "adversarial"} <= {
        "refused",
        "answered what has no answer",
    }


def test_text_of_the_data_cannot_become_markup(demo_file: Path, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)><!--"
    content = json.loads(demo_file.read_text(encoding="utf-8"))
    content[0]["qa"][0]["question"] = hostile
    content[0]["sample_id"] = "<b>demo</b>"
    data = tmp_path / "hostile.json"
    data.write_text(json.dumps(content), encoding="utf-8")
    run_benchmark(BenchOptions(data=data, out=tmp_path / "run", system="bm25"))
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert "<b>" not in text
    assert text.count("</script>") == 2
    rows = embedded(text)["rows"]
    assert isinstance(rows, list)
    assert rows[0]["question"] == hostile


def test_evidence_is_shown_without_text_where_the_data_is_gone(
    demo_file: Path, tmp_path: Path
) -> None:
    data = tmp_path / "copy.json"
    shutil.copyfile(demo_file, data)
    run_benchmark(BenchOptions(data=data, out=tmp_path / "run", system="bm25"))
    data.unlink()
    assert embedded(page_of([tmp_path / "run"]))["lines"] == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_runs_in_a_browser(runs: list[Path], tmp_path: Path, width: int) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium")
    file = tmp_path / "page.html"
    file.write_text(page_of(runs), encoding="utf-8")
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},900",
        "--dump-dom",
        file.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert done.stdout.count("<details>") == 32
    assert "32 of 32" in done.stdout
