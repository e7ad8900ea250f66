"""grep finds the lines that ripgrep finds in the exported text view."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.search.grep import grep
from fsagent.types import ToolCall
from fsagent.workspace.view import view_lines

RG = shutil.which("rg")
pytestmark = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")

_TEXT = """the quick brown fox jumps over a lazy dog while Anna paints a sunrise in Berlin café
    naïve Straße 你好 世界 我喜歡喝茶 привет мир Ελλάδα über-cool foo_bar x1 42 3.14 a+b (ok) user
    role content name crc image called result record unreadable characters tool ts seq
    C:\\temp "quoted" it's don't email@example.org http://a.b/c?d=e [x] {y} ^caret $5 50%
    #tag Kick kickboxing BOXING box réseau ÉTÉ été I İstanbul ſ K nbsp"""
WORDS = (*_TEXT.split(), "\u00a0")

# A line is `c` (case as it stands) or `i` (ignored), a space, and the pattern.
CASES = [
    (line[2:], line[0] == "i")
    for line in (Path(__file__).parent / "grep_patterns.txt").read_text("utf-8").split("\n")
    if line
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace.init(tmp_path_factory.mktemp("diff") / "memory")
    _fill(workspace)
    return workspace


@pytest.fixture(scope="module")
def exported(memory: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The text view of every file, written out as plain files."""
    out = tmp_path_factory.mktemp("view")
    for entry in memory.tree.walk("."):
        lines = view_lines(entry.path, memory.tree.read_bytes(entry.path))
        target = out / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(line + "\n" for line in lines)
        target.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    return out


def _fill(workspace: Workspace) -> None:
    from datetime import datetime, timedelta
    from random import Random

    dice = Random(7)
    start = datetime.fromisoformat("2026-11-20T13:50:00+08:00")
    drafts = []
    for index in range(600):
        words = dice.choices(WORDS, k=dice.randint(0, 40))
        text = dice.choice([" ", " ", "\n", "  ", "\t"]).join(words)
        kind, calls, images = None, (), ()
        role = dice.choice(["user", "user", "assistant", "tool", "system"])
        if dice.random() < 0.1:
            images = (f"a sunrise over {dice.choice(WORDS)}",)
        if role == "assistant" and dice.random() < 0.3:
            calls = (ToolCall("c1", "search_files", '{"query": "fox"}'),)
        if dice.random() < 0.05:
            kind = "begin"
        if dice.random() < 0.05:
            text = "x" * dice.randint(300, 900) + "fox" + "y" * 200
        drafts.append(
            Draft(
                role=role,  # type: ignore[arg-type]
                name=dice.choice(["Ann", "Bob", "José", 'A "B"']),
                content=text,
                turn=f"t{index}",
                ts=start + timedelta(minutes=index * 20),
                session=dice.choice([None, "s/1", 's"2']),
                images=images,
                tool_calls=calls,
                kind=kind,
                usage={"prompt_tokens": 12} if dice.random() < 0.3 else None,
                model="m" if dice.random() < 0.3 else None,
            )
        )
    workspace.recall.append_many(drafts)
    day = workspace.root / workspace.recall.days()[0]
    data = day.read_bytes().splitlines(keepends=True)
    data[2] = data[2].replace(b'"content":"', b'"content":"fox edited ')
    data.insert(4, b"not json at all fox\n")
    data.insert(
        5,
        b'{"seq": 1, "ts": "2026-11-20T14:00:00+08:00", "role": "user", "content": "caf\\u00e9 fox"}\n',
    )
    data.insert(6, b"\n")
    day.write_bytes(b"".join(data))
    notes = workspace.root / "archival" / "notes"
    notes.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(dice.choices(WORDS, k=dice.randint(0, 15))) for _ in range(200)]
    (notes / "crlf.md").write_bytes("\r\n".join(lines).encode())
    (notes / "lf.md").write_bytes("\n".join(lines[:50]).encode() + b"\n\n\n")
    (notes / "bom.md").write_bytes(b"\xef\xbb\xbf" + "\n".join(lines[50:80]).encode())
    (notes / "wide.txt").write_bytes("\n".join(lines[80:120]).encode("utf-16"))
    (notes / "broken.txt").write_bytes(b"caf\xe9 fox\nna\xffve dog\n\xe4\xbd fox\n")
    (notes / "empty.md").write_bytes(b"")


def _ripgrep(pattern: str, ignore_case: bool, folder: Path) -> set[tuple[str, int]]:
    command = [
        str(RG),
        "-n",
        "--no-heading",
        "--null",
        "--no-ignore",
        "--text",
        "--encoding",
        "utf-8",
    ]
    command += ["-i"] if ignore_case else []
    done = subprocess.run(
        [*command, "-e", _rust(pattern), "."], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    found = set()
    for line in done.stdout.split(b"\n"):
        name, zero, rest = line.partition(b"\0")
        if zero:
            found.add((name.decode().removeprefix("./"), int(rest.partition(b":")[0])))
    return found


def _rust(pattern: str) -> str:
    """Say in Rust's regex what RE2 means: classes are ASCII, quotes are spelt out."""
    pattern = re.sub(r"\\Q(.*?)\\E", lambda m: re.escape(m[1]), pattern)
    inner = {"w": "0-9A-Za-z_", "d": "0-9", "s": r"\t\n\f\r "}
    out, in_class, at = "", False, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            after = pattern[at + 1]
            at += 2
            if after in inner:
                out += inner[after] if in_class else f"[{inner[after]}]"
            elif after.lower() in inner:
                out += f"[^{inner[after.lower()]}]"
            elif after == "b":
                out += r"(?-u:\b)"
            else:
                out += "\\" + after
            continue
        if char == "[" and not in_class:
            in_class = True
        elif char == "]" and in_class and pattern[at - 1] not in "[^:":
            in_class = False
        elif char == "]" and in_class and pattern[at - 1] == ":":
            in_class = True
        out += char
        at += 1
    return out


def _found(memory: Workspace, pattern: str, ignore_case: bool) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    offset = 0
    while True:
        page = grep(
            memory.tree, pattern, ignore_case=ignore_case, limit=100, offset=offset, deadline_s=60
        )
        found |= {(hit.path, hit.line) for hit in page.hits}
        offset += len(page.hits)
        if not page.next:
            return found


def test_there_are_at_least_200_patterns() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize(("pattern", "ignore_case"), CASES, ids=[f"{p}-{i}" for p, i in CASES])
def test_the_same_lines_as_ripgrep(
    memory: Workspace, exported: Path, pattern: str, ignore_case: bool
) -> None:
    expected = _ripgrep(pattern, ignore_case, exported)
    assert _found(memory, pattern, ignore_case) == expected
    page = grep(memory.tree, pattern, ignore_case=ignore_case, count_all=True, deadline_s=60)
    assert page.total == len(expected)


@pytest.mark.parametrize(
    "pattern", ["fox", "^the", "dog$", "^$", r"\bbox\b", "café", ".", "[^a-z]+$"]
)
def test_the_same_lines_as_ripgrep_on_markdown_itself(memory: Workspace, pattern: str) -> None:
    folder = memory.root / "archival" / "notes"
    done = subprocess.run(
        [str(RG), "-n", "--no-heading", "--null", "--crlf", "-g", "*.md", "-e", _rust(pattern), "."],
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    expected = {
        (
            line.partition(b"\0")[0].decode().removeprefix("./"),
            int(line.split(b"\0")[1].split(b":")[0]),
        )
        for line in done.stdout.split(b"\n")
        if b"\0" in line
    }
    page = grep(
        memory.tree, pattern, path="archival/notes", globs=("*.md",), limit=100, count_all=True
    )
    assert page.total == len(expected)
    names = {(hit.path.removeprefix("archival/notes/"), hit.line) for hit in page.hits}
    assert names <= expected
