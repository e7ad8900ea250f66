"""The documents say what is true: commands, help, links, and no traces of a machine."""

from __future__ import annotations

import re
import runpy
import shlex

import pytest
from support import ROOT

from fsagent.cli.main import COMMANDS

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]
)


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    made = runpy.run_path(str(ROOT / "docs/make_cli.py"))["page"]()
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == made, (
        "run: python docs/make_cli.py"
    )


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_pages_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.splitlines():
            for part in re.split(r"&&|\|", line.partition("#")[0]):
                words = shlex.split(part) if part.count("'") % 2 == 0 else part.split()
                if words and words[0].endswith("fsagent") and len(words) > 1:
                    assert words[1] in COMMANDS, f"{page}: {line}"
