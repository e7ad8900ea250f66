"""A core block's edits: the bytes outside the edit stay, whatever the file's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsagent.errors import BlockLimitExceeded, CorruptFile, ToolError
from fsagent.memory.workspace import Workspace

HEAD = b"---\ndescription: What I know.   # a comment\nlimit: 100\nmine: [1, 2]\n---\n"
BODY = b"- has a dog\n- likes tea\n- lives in Rome\n"

# id: (file before, file after replacing "tea" by "coffee\nand milk", after appending "- new")
FORMS: dict[str, tuple[bytes, bytes, bytes]] = {
    "plain": (
        HEAD + BODY,
        HEAD + BODY.replace(b"tea", b"coffee\nand milk"),
        HEAD + BODY + b"- new\n",
    ),
    "no front matter": (BODY, BODY.replace(b"tea", b"coffee\nand milk"), BODY + b"- new\n"),
    "CRLF": (
        (HEAD + BODY).replace(b"\n", b"\r\n"),
        (HEAD + BODY.replace(b"tea", b"coffee\nand milk")).replace(b"\n", b"\r\n"),
        (HEAD + BODY + b"- new\n").replace(b"\n", b"\r\n"),
    ),
    "mixed line ends": (
        HEAD + b"- a\r\n- likes tea\n\r\n- b\r\n",
        HEAD + b"- a\r\n- likes coffee\r\nand milk\n\r\n- b\r\n",
        HEAD + b"- a\r\n- likes tea\n\r\n- b\r\n- new\r\n",
    ),
    "BOM": (
        b"\xef\xbb\xbf" + HEAD + BODY,
        b"\xef\xbb\xbf" + HEAD + BODY.replace(b"tea", b"coffee\nand milk"),
        b"\xef\xbb\xbf" + HEAD + BODY + b"- new\n",
    ),
    "BOM, no front matter": (
        b"\xef\xbb\xbf" + BODY,
        b"\xef\xbb\xbf" + BODY.replace(b"tea", b"coffee\nand milk"),
        b"\xef\xbb\xbf" + BODY + b"- new\n",
    ),
    "empty lines around": (
        HEAD + b"\n\n- likes tea\n\n\n",
        HEAD + b"\n\n- likes coffee\nand milk\n\n\n",
        HEAD + b"\n\n- likes tea\n- new\n\n\n",
    ),
    "no last line end": (
        HEAD + b"- likes tea",
        HEAD + b"- likes coffee\nand milk",
        HEAD + b"- likes tea\n- new\n",
    ),
    "U+2028 and U+0085": (
        HEAD + "- a\u2028---\u0085b tea\u2028\n".encode(),
        HEAD + "- a\u2028---\u0085b coffee\nand milk\u2028\n".encode(),
        HEAD + "- a\u2028---\u0085b tea\u2028\n- new\n".encode(),
    ),
    "U+2028 in the head": (
        b'---\ndescription: "a\xe2\x80\xa8 --- b"\n---\n- tea\n',
        b'---\ndescription: "a\xe2\x80\xa8 --- b"\n---\n- coffee\nand milk\n',
        b'---\ndescription: "a\xe2\x80\xa8 --- b"\n---\n- tea\n- new\n',
    ),
    "a rule in the body": (
        HEAD + b"- tea\n---\n- b\n",
        HEAD + b"- coffee\nand milk\n---\n- b\n",
        HEAD + b"- tea\n---\n- b\n- new\n",
    ),
    "NFD text": (
        HEAD + "- cafe\u0301 tea\n".encode(),
        HEAD + "- cafe\u0301 coffee\nand milk\n".encode(),
        HEAD + "- cafe\u0301 tea\n- new\n".encode(),
    ),
}


@pytest.fixture
def block(memory: Workspace) -> Path:
    return memory.root / "core" / "human.md"


@pytest.mark.parametrize("form", FORMS)
def test_an_edit_leaves_every_other_byte(memory: Workspace, block: Path, form: str) -> None:
    before, replaced, appended = FORMS[form]
    block.write_bytes(before)
    after = memory.core.replace("human", "tea", "coffee\nand milk")
    assert block.read_bytes() == replaced
    assert after == memory.core.block("human")
    block.write_bytes(before)
    memory.core.append("human", "- new")
    assert block.read_bytes() == appended


def test_the_forms_are_told_at_the_end(suite_line: list[str]) -> None:
    suite_line.append(f"encodings: {2 * len(FORMS)} round trips byte-identical outside the edit")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"- a\n- \xff\xfe\n", 2),
        ("- a\n".encode("utf-16"), 1),
        (b"---\nlimit: [\n---\n- a\n", None),
        (b"---\n- a list\n---\n- a\n", 2),
        (b"---\nlimit: 5\n- a\n", 1),
        (b"---\nlimit: many\n---\n- a\n", None),
        (b"---\nread_only: perhaps\n---\n- a\n", None),
    ],
    ids=["bad UTF-8", "UTF-16", "bad YAML", "a list", "no end", "limit", "read_only"],
)
def test_a_file_that_cannot_be_read_is_kept_and_named(
    memory: Workspace, block: Path, data: bytes, line: int | None
) -> None:
    block.write_bytes(data)
    with pytest.raises(CorruptFile) as caught:
        memory.core.append("human", "- new")
    assert caught.value.path == "core/human.md"
    assert line is None or caught.value.line == line
    assert block.read_bytes() == data


def test_a_bad_block_does_not_switch_off_the_others(memory: Workspace, block: Path) -> None:
    block.write_bytes(b"\xff")
    bad: list[CorruptFile] = []
    assert [found.label for found in memory.core.blocks(bad)] == ["persona"]
    assert [err.path for err in bad] == ["core/human.md"]
    memory.core.append("persona", "- curious")
    with pytest.raises(CorruptFile):
        memory.core.blocks()
    with pytest.raises(ToolError, match="blocks are: persona"):
        memory.core.append("humen", "x")


def test_the_model_cannot_write_front_matter(memory: Workspace, block: Path) -> None:
    block.write_bytes(b"- likes tea\n")
    for edit in (
        lambda: memory.core.replace("human", "- likes", "---\nlimit: 999999\n---\n- likes"),
        lambda: memory.core.replace("human", "- likes tea", "---\nread_only: true\n---"),
    ):
        with pytest.raises(ToolError, match="Not written"):
            edit()
    block.write_bytes(b"")
    with pytest.raises(ToolError, match="Not written"):
        memory.core.append("human", "---\nlimit: 999999\n---")
    assert block.read_bytes() == b""


def test_the_model_cannot_write_the_marks_of_a_merge(memory: Workspace, block: Path) -> None:
    before = block.read_bytes()
    with pytest.raises(ToolError, match="Not written"):
        memory.core.append("human", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs")
    assert block.read_bytes() == before


def test_a_limit_refuses_growth_and_shows_what_to_do(memory: Workspace, block: Path) -> None:
    block.write_bytes(HEAD + BODY)
    with pytest.raises(BlockLimitExceeded, match="archival_memory_insert") as caught:
        memory.core.append("human", "x" * 100)
    assert (caught.value.limit, caught.value.size) == (100, 140)
    assert block.read_bytes() == HEAD + BODY


def test_a_block_over_its_limit_may_be_shortened(memory: Workspace, block: Path) -> None:
    block.write_bytes(b"---\nlimit: 10\n---\n" + BODY)
    memory.core.replace("human", "- has a dog", "- dog")
    with pytest.raises(BlockLimitExceeded):
        memory.core.replace("human", "- dog", "- a dog and a cat")
    with pytest.raises(BlockLimitExceeded):
        memory.core.replace("human", "- dog", "- cat")


def test_places_that_overlap_are_more_than_one(memory: Workspace, block: Path) -> None:
    block.write_bytes(b"aaa\n")
    with pytest.raises(ToolError, match="stands 2 times"):
        memory.core.replace("human", "aa", "b")


@pytest.mark.parametrize(
    ("old", "after"),
    [
        ("- likes tea", b"- has a dog\n- lives in Rome\n"),
        ("- lives in Rome", b"- has a dog\n- likes tea\n"),
        ("- has a dog\n- likes tea\n- lives in Rome", b""),
        (" tea", b"- has a dog\n- likes\n- lives in Rome\n"),
    ],
)
def test_an_empty_new_text_deletes_whole_lines(
    memory: Workspace, block: Path, old: str, after: bytes
) -> None:
    block.write_bytes(HEAD + BODY)
    memory.core.replace("human", old, "")
    assert block.read_bytes() == HEAD + after


def test_a_block_a_person_named_freely_can_be_edited(memory: Workspace) -> None:
    (memory.root / "core" / "Über uns.md").write_bytes(b"- a\n")
    assert "Über uns" in [block.label for block in memory.core.blocks()]
    memory.core.append("Über uns", "- b")
    assert (memory.root / "core" / "Über uns.md").read_bytes() == b"- a\n- b\n"


@pytest.mark.parametrize("label", ["../x", "a/b", "", " ", ".git", "con", "x" * 300, "a\0b"])
def test_a_label_is_no_way_out(memory: Workspace, label: str) -> None:
    with pytest.raises(ToolError):
        memory.core.append(label, "x")
    with pytest.raises(ToolError):
        memory.core.block(label)


def test_a_read_only_block_is_not_written(memory: Workspace, block: Path) -> None:
    block.write_bytes(b"---\nread_only: true\n---\n- a\n")
    with pytest.raises(ToolError, match="read-only"):
        memory.core.append("human", "- b")
