"""The limits hold on every path that writes core, and a refusal says all there is to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from memory_kit import NOW

from fsagent.config import Settings
from fsagent.errors import (
    BlockConflict,
    BlockLimitExceeded,
    CoreTokensExceeded,
    CorruptFile,
    ToolError,
)
from fsagent.memory.core import Core
from fsagent.memory.workspace import Workspace
from fsagent.workspace.tree import StaleWrite, Tree

HEAD = b"---\n# mine\ndescription: What I know.\nlimit: 60\nmine: {a: 1}\n---\n"
VALUE = "- has a dog\n- likes tea"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace whose blocks may hold 30 tokens together; `human` holds VALUE."""
    with Workspace.init(
        tmp_path / "mem", settings=Settings(timezone="UTC", core_tokens=30), clock=lambda: NOW
    ) as made:
        (made.root / "core" / "persona.md").write_bytes(b"- kind\n")
        (made.root / "core" / "human.md").write_bytes(HEAD + VALUE.encode() + b"\n")
        yield made


def _file(core: Core, text: str) -> object:
    base = core.read_file("human")
    return core.save_file("human", base + text.encode() + b"\n", base=base)


WAYS: dict[str, Callable[[Core, str], object]] = {
    "append": lambda core, text: core.append("human", text),
    "replace": lambda core, text: core.replace("human", "- likes tea", text),
    "write": lambda core, text: core.write("human", f"{VALUE}\n{text}", base=VALUE),
    "a person's write": lambda core, text: core.write(
        "human", f"{VALUE}\n{text}", base=VALUE, by="person"
    ),
    "a person's file": _file,
    "create": lambda core, text: core.create("new", description="", limit=60, value=text),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_limit_of_a_block_holds(small: Workspace, way: str) -> None:
    with pytest.raises(BlockLimitExceeded) as caught:
        WAYS[way](small.core, "x" * 61)
    value = "" if way == "create" else VALUE
    assert (caught.value.limit, caught.value.value) == (60, value)
    assert caught.value.size > 60
    for told in (str(caught.value.size), "60", value, "Shorten"):
        assert told in str(caught.value)
    assert (small.root / "core" / "human.md").read_bytes() == HEAD + VALUE.encode() + b"\n"
    assert not (small.root / "core" / "new.md").exists()


@pytest.mark.parametrize("way", WAYS)
def test_the_limit_of_all_blocks_holds(small: Workspace, way: str) -> None:
    small.core.append("persona", "y" * 78)
    with pytest.raises(CoreTokensExceeded) as caught:
        WAYS[way](small.core, "x" * 33)
    value = "" if way == "create" else VALUE
    assert (caught.value.limit, caught.value.value) == (30, value)
    for told in (str(caught.value.tokens), "30", value, "Shorten"):
        assert told in str(caught.value)
    assert small.core.block("human").value == VALUE


def test_two_blocks_at_once_do_not_pass_the_limit_of_all(small: Workspace) -> None:
    """The budget is looked at under one lock: each of two writers alone would have fitted."""
    from threading import Barrier, Thread

    small.core.create("extra", description="", limit=100)
    barrier, refused = Barrier(2), []

    def write(label: str) -> None:
        with Workspace.open(small.root, settings=small.settings) as own:
            barrier.wait()
            try:
                own.core.append(label, "z" * 70)
            except CoreTokensExceeded:
                refused.append(label)

    threads = [Thread(target=write, args=(label,)) for label in ("persona", "extra")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert small.core.tokens() <= 30


def test_read_only_holds_for_the_model_and_not_for_a_person(small: Workspace) -> None:
    path = small.root / "core" / "persona.md"
    path.write_bytes(b"---\nread_only: true\n---\n- kind\n")
    for edit in (
        lambda: small.core.append("persona", "- b"),
        lambda: small.core.replace("persona", "kind", "rude"),
        lambda: small.core.write("persona", "- rude", base="- kind"),
    ):
        with pytest.raises(ToolError, match="read-only"):
            edit()
    small.core.write("persona", "- wise", base="- kind", by="person")
    assert path.read_bytes() == b"---\nread_only: true\n---\n- wise\n"


def test_a_write_keeps_the_bytes_of_what_stays(small: Workspace) -> None:
    path = small.root / "core" / "human.md"
    path.write_bytes(HEAD.replace(b"\n", b"\r\n") + b"- a\r\n- b\n- c\r\n")
    small.core.write("human", "- a\n- b\n- x\n- y", base="- a\n- b\n- c")
    assert path.read_bytes() == HEAD.replace(b"\n", b"\r\n") + b"- a\r\n- b\n- x\r\n- y\r\n"


def test_a_write_takes_in_what_another_wrote_meanwhile(small: Workspace) -> None:
    small.core.replace("human", "- has a dog", "- has a cat")
    after = small.core.write("human", f"{VALUE}\n- new", base=VALUE)
    assert after.value == "- has a cat\n- likes tea\n- new"
    again = small.core.write("human", f"{VALUE}\n- new", base=VALUE)
    assert again.value == after.value, "written twice by the same edit"


def test_a_write_on_lines_another_changed_is_told_with_both_texts(small: Workspace) -> None:
    small.core.replace("human", "- has a dog", "- has a cat")
    before = small.core.read_file("human")
    with pytest.raises(BlockConflict) as caught:
        small.core.write("human", "- has a bird\n- likes tea", base=VALUE)
    assert "- has a bird" in str(caught.value)
    assert "- has a cat" in str(caught.value)
    assert small.core.read_file("human") == before


class Disturbed(Tree):
    """A tree in which an editor, which takes no lock, writes between our reading and our writing."""

    left = 1

    def digest(self, path: str) -> str:
        if self.left:
            self.left -= 1
            file = self.root / path
            file.write_bytes(file.read_bytes() + b"- by hand\n")
        return super().digest(path)


def test_an_edit_is_made_anew_where_an_editor_wrote_in_between(small: Workspace) -> None:
    with closing(Disturbed(small.root)) as tree:
        core = Core(tree, small.settings)
        assert core.append("human", "- ours").value == f"{VALUE}\n- by hand\n- ours"
        tree.left = 1000
        with pytest.raises(StaleWrite):
            core.append("persona", "- more")


def test_a_person_may_lower_a_limit_below_the_size(small: Workspace) -> None:
    base = small.core.read_file("human")
    after = small.core.save_file("human", base.replace(b"limit: 60", b"limit: 5"), base=base)
    assert (after.limit, after.value) == (5, VALUE)


def test_a_persons_file_that_is_no_block_is_refused_by_line(small: Workspace) -> None:
    base = small.core.read_file("human")
    with pytest.raises(CorruptFile) as caught:
        small.core.save_file("human", base.replace(b"limit: 60", b"limit: [6"), base=base)
    assert caught.value.line is not None
    assert small.core.read_file("human") == base


def test_a_person_repairs_a_block_that_cannot_be_read(small: Workspace) -> None:
    path = small.root / "core" / "human.md"
    path.write_bytes(b"---\nlimit: [\n---\n- a\n")
    base = small.core.read_file("human")
    after = small.core.save_file("human", b"---\nlimit: 60\n---\n- a\n", base=base)
    assert (after.value, after.limit) == ("- a", 60)


def test_a_new_block_never_takes_the_place_of_one(small: Workspace) -> None:
    before = small.core.read_file("human")
    with pytest.raises(ToolError, match="already"):
        small.core.create("human", description="", limit=50)
    with pytest.raises(ToolError):
        small.core.create("Human", description="", limit=50)
    assert small.core.read_file("human") == before
    with pytest.raises(BlockConflict):
        small.core.remove("human", base=b"as it was yesterday")
    small.core.remove("human", base=before)
    assert [block.label for block in small.core.blocks()] == ["persona"]
