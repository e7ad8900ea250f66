"""Sentence vectors beside the index: int8 rows at the documents' ordinals, made when asked for.

They stand in the index's folder, so that they are swapped and deleted with it. `vectors.json` names
the encoder and how many rows count; it is written after the rows, so that a crash loses rows and
never mixes them. A speaker's name is left out of what is encoded: it outweighs the words.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fsagent.errors import PathRejected, WorkspaceLocked
from fsagent.search.documents import documents_of
from fsagent.search.index import Step
from fsagent.search.manifest import write_atomically
from fsagent.search.query import NO_NAMES
from fsagent.search.snapshot import Snapshot
from fsagent.search.text import is_stop_word
from fsagent.workspace.tree import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

LOCK = "vectors"
META, ROWS, SCALES = "vectors.json", "vectors", "vectors.scales"
BATCH = 256
MAX_NOW = 1_000
"""Rows that a search makes by itself; the rest is for `catch_up`."""

BEFORE, AFTER = 0.3, 0.1
"""A turn is lent so much of the likeness of the turn before it, and of the one after."""

_REMEMBERED = 1_024


class Encoder(Protocol):
    """Makes sentence vectors. `name` tells one model's vectors from another's."""

    @property
    def name(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> Array:
        """Return one row of unit length a text."""
        ...


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like the question each document is, by ordinal: the cosine, some of its neighbours' added."""

    values: Array

    def of(self, ordinals: Sequence[int]) -> list[float]:
        """Return the likeness of some documents."""
        found: list[float] = self.values[list(ordinals)].tolist()
        return found

    def best(self) -> Iterable[int]:
        """Yield ordinals, the most alike first."""
        yield from self.values.argsort()[::-1].tolist()


class Vectors:
    """The vectors of one workspace by one encoder."""

    def __init__(self, tree: Tree, encoder: Encoder) -> None:
        self._tree, self._encoder = tree, encoder
        self._memo: OrderedDict[str, Array] = OrderedDict()

    def count(self, snapshot: Snapshot) -> int:
        """Return how many of the index's documents have their vector."""
        folder = snapshot.commit.folder
        return min(_rows(folder, self._encoder.name), snapshot.documents.base) if folder else 0

    def catch_up(
        self,
        snapshot: Snapshot,
        *,
        most: int | None = None,
        timeout_s: float = 0,
        on_step: Step | None = None,
    ) -> int:
        """Encode what the index holds and the vectors do not, at most so many; return what is missing."""
        folder = snapshot.commit.folder
        if folder is None:
            return 0
        try:
            with self._tree.lock(LOCK, timeout_s=timeout_s):
                start = self.count(snapshot)
                last = snapshot.documents.base
                stop = last if most is None else min(last, start + most)
                for first in range(start, stop, BATCH):
                    self._extend(folder, snapshot, range(first, min(first + BATCH, stop)))
                    if on_step is not None:
                        on_step("vectors", min(first + BATCH, stop))
        except WorkspaceLocked:
            pass  # another process is at it; what it has done so far counts
        return snapshot.documents.base - self.count(snapshot)

    def likeness(self, snapshot: Snapshot, query: str) -> Likeness:
        """Return how like `query` every document of the snapshot is; those not encoded count as the mean."""
        import numpy as np

        names = _names(snapshot)
        (wanted,) = self._encoder.vectors([_bare(query, names)])
        dots = np.full(snapshot.documents.count, np.nan, dtype=np.float32)
        count = self.count(snapshot)
        if count and snapshot.commit.folder is not None:
            with contextlib.suppress(OSError, ValueError):  # swapped meanwhile: ranked without them
                dots[:count] = _dots(snapshot.commit.folder, count, wanted)
        if snapshot.tail_count:
            base = snapshot.documents.base
            dots[base:] = self._tail(_texts(self._tree, snapshot, range(base, len(dots)))) @ wanted
        known = ~np.isnan(dots)
        dots[~known] = dots[known].mean() if known.any() else 0.0
        return Likeness(_lend(dots, _follows(snapshot)))

    def _extend(self, folder: Path, snapshot: Snapshot, ordinals: range) -> None:
        """Append the rows of some documents, then say that they count."""
        import numpy as np

        rows = self._encoder.vectors(_texts(self._tree, snapshot, ordinals))
        scales = np.abs(rows).max(axis=1)
        scales[scales == 0] = 1.0
        packed = np.round(rows / scales[:, None] * 127).astype(np.int8)
        width = packed.shape[1]
        if ordinals.start == 0:
            for name in (META, ROWS, SCALES):
                (folder / name).unlink(missing_ok=True)
        _append(folder / ROWS, ordinals.start * width, packed.tobytes())
        _append(folder / SCALES, ordinals.start * 4, (scales / 127).astype("<f4").tobytes())
        meta = {"encoder": self._encoder.name, "width": width, "count": ordinals.stop}
        write_atomically(folder / META, json.dumps(meta).encode())

    def _tail(self, texts: list[str]) -> Array:
        """Return the vectors of lines that wait for the index, remembering them."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._memo]
        if new:
            self._memo.update(zip(new, self._encoder.vectors(new), strict=True))
        found: Array = np.stack([self._memo[text] for text in texts])
        while len(self._memo) > _REMEMBERED:
            self._memo.popitem(last=False)
        return found


def _append(path: Path, size: int, data: bytes) -> None:
    """Write `data` behind the first `size` bytes; what a crash left there is overwritten."""
    path.touch()
    with path.open("r+b") as file:
        file.truncate(size)
        file.seek(size)
        file.write(data)


def _meta(folder: Path) -> dict[str, Any]:
    try:
        shape = json.loads((folder / META).read_bytes())
        return {
            "encoder": shape["encoder"],
            "width": int(shape["width"]),
            "count": int(shape["count"]),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {"encoder": "", "width": 0, "count": 0}


def _rows(folder: Path, encoder: str) -> int:
    """Return how many rows of this encoder a folder holds; 0 where a file is shorter than it should be."""
    meta = _meta(folder)
    if meta["encoder"] != encoder:
        return 0
    for name, width in ((ROWS, meta["width"]), (SCALES, 4)):
        try:
            if (folder / name).stat().st_size < meta["count"] * width:
                return 0
        except OSError:
            return 0
    return int(meta["count"])


def _dots(folder: Path, count: int, wanted: Array) -> Array:
    """Return the rows' dot products with a vector, a block at a time."""
    import numpy as np

    width = len(wanted)
    rows = np.memmap(folder / ROWS, dtype=np.int8, mode="r", shape=(count, width))
    scales = np.memmap(folder / SCALES, dtype="<f4", mode="r", shape=(count,))
    found = np.empty(count, dtype=np.float32)
    for start in range(0, count, 16_384):
        block = rows[start : start + 16_384].astype(np.float32)
        found[start : start + 16_384] = block @ wanted
    scaled: Array = found * scales
    return scaled


def _follows(snapshot: Snapshot) -> Any:
    """Return, for each document, whether the one before it is of the same conversation."""
    import numpy as np

    parts = [np.asarray(places, dtype=np.uint16) for places in snapshot.documents.all_places()]
    return np.concatenate(parts) > 0


def _lend(dots: Array, follows: Any) -> Array:
    lent = dots.copy()
    lent[1:] += BEFORE * dots[:-1] * follows[1:]
    lent[:-1] += AFTER * dots[1:] * follows[1:]
    return lent


def _names(snapshot: Snapshot) -> re.Pattern[str] | None:
    """Return what finds the speakers' names, each name's words too."""
    named = [name for name in snapshot.speakers if name.lower() not in NO_NAMES]
    known = {word for name in named for word in (name, *name.split()) if len(word) > 1}
    known = {word for word in known if not is_stop_word(word.lower())}
    if not known:
        return None
    longest = sorted(known, key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})(?:['’]s)?\b", re.I)


def _bare(text: str, names: re.Pattern[str] | None) -> str:
    return " ".join((names.sub(" ", text) if names else text).split())


def _texts(tree: Tree, snapshot: Snapshot, ordinals: Iterable[int]) -> list[str]:
    """Return what documents say, without names; nothing for one whose file is gone or changed."""
    names = _names(snapshot)
    files: dict[str, dict[int, str]] = {}
    found = []
    for ordinal in ordinals:
        number, line = snapshot.documents.position(ordinal)
        path = snapshot.paths.get(number)
        if path is not None and path not in files:
            files[path] = _said(tree, path)
        found.append(_bare(files[path].get(line, ""), names) if path is not None else "")
    return found


def _said(tree: Tree, path: str) -> dict[int, str]:
    try:
        documents = documents_of(path, tree.read_bytes(path))
    except PathRejected:
        return {}
    return {
        item.line: f"{item.lead}. {item.text}" if item.lead else item.text for item in documents
    }
