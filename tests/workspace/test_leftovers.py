"""What killed writes leave behind is deleted when its folder is written to again."""

from __future__ import annotations

import os
import time
from contextlib import closing

from fsagent.workspace.durable import LEFTOVER_S, TEMPORARY_PREFIX
from fsagent.workspace.tree import Tree


def test_an_old_temporary_file_goes_at_the_next_write_and_a_young_one_stays(tree: Tree) -> None:
    tree.replace("core/human.md", b"one")
    old, young, odd = (
        tree.root / "core" / f"{TEMPORARY_PREFIX}{name}" for name in ("old", "young", "folder")
    )
    elsewhere = tree.root / f"{TEMPORARY_PREFIX}elsewhere"
    odd.mkdir()
    past = time.time() - LEFTOVER_S - 60
    for path in (old, young, elsewhere):
        path.write_bytes(b"half")
    for path in (old, elsewhere, odd):
        os.utime(path, (past, past))
    tree.replace("core/human.md", b"two")
    assert old.exists(), "the folder was swept by this process already"
    with closing(Tree(tree.root)) as later:
        later.replace("core/human.md", b"three")
    assert (old.exists(), young.exists(), odd.exists(), elsewhere.exists()) == (
        False, True, True, True,
    )  # fmt: skip
    assert tree.read_bytes("core/human.md") == b"three"
