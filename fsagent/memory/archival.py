"""Archival memory: notes the agent writes and documents people put there, found by search."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsagent.errors import CorruptFile, PathRejected, ToolError, WorkspaceError
from fsagent.types import Clock
from fsagent.workspace import frontmatter
from fsagent.workspace.paths import legal_name
from fsagent.workspace.tree import Tree, sha256
from fsagent.workspace.view import TEXT_SUFFIXES, decode_text, is_binary

FOLDER = "archival"
NOTES = "archival/notes"
MAX_SLUG_BYTES = 80
_HEAD_BYTES = 16 * 1024
_NAME_JUNK = re.compile(r"[^\w.\- ]+")


@dataclass(frozen=True, slots=True)
class ArchivalEntry:
    """A note or document: its path, title, tags and size in bytes."""

    path: str
    title: str
    tags: tuple[str, ...]
    size: int


class Archival:
    """The archival folder: insert a note, import a document, list what there is."""

    def __init__(self, tree: Tree, clock: Clock) -> None:
        self._tree, self._clock = tree, clock

    def insert(
        self,
        title: str,
        content: str,
        tags: Sequence[str] = (),
        *,
        lineage: Sequence[str] = (),
    ) -> str:
        """Write a note with front matter and return its path; an existing note is never overwritten.

        `lineage` names the untrusted text its turn had seen; the note is then untrusted itself.
        """
        if not title.strip() or not content.strip():
            raise ToolError("a note needs a title and a content; give both")
        title = self._tree.secrets.clean(title)
        return self._create(
            f"{NOTES}/{slug(title)}", ".md", self._note(title, content, tags, lineage)
        )

    def extend(self, path: str, title: str, lines: Sequence[str]) -> None:
        """Add lines to a note's end, those it has already left out; the note is made where it is not there.

        `path` is such as `archival/notes/about-human.md`.
        """
        with self._tree.lock(path):
            old = self._tree.read_bytes(path) if self._tree.exists(path) else None
            if old is None:
                self._tree.create(path, self._note(title, "\n".join(lines)))
                return
            have = set(decode_text(old).split("\n"))
            clean = self._tree.secrets.clean("\n".join(lines)).split("\n")
            new = "".join(f"{line}\n" for line in clean if line not in have)
            ended = old if old.endswith(b"\n") else old + b"\n"
            if new:
                self._tree.replace(path, ended + new.encode(), expect=sha256(old))

    def import_document(self, name: str, data: bytes) -> str:
        """Put a text document into archival and return its path.

        The same bytes under the same name are there already and stay; other bytes under that name
        get the next free number. Secrets are replaced, in its name too; a file without any stays
        byte for byte. Raises `WorkspaceError` for a file that is not text.
        """
        secrets = self._tree.secrets
        stem, dot, suffix = secrets.clean(name).rpartition(".")
        if not dot or f".{suffix.lower()}" not in TEXT_SUFFIXES:
            raise WorkspaceError(
                f"{name} is not a text or Markdown document (endings: {', '.join(TEXT_SUFFIXES)})"
            )
        if is_binary(data):
            raise WorkspaceError(f"{name} holds binary bytes; convert it to text first")
        text = decode_text(data)
        clean = secrets.clean(text)
        data = data if clean == text else clean.encode("utf-8", "replace")
        return self._create(f"{FOLDER}/{slug(stem)}", f".{suffix.lower()}", data)

    def entries(self) -> Iterator[ArchivalEntry]:
        """Yield every note and document, in the order of their paths; a broken head gives no tags.

        Only the first 16 kB of a note are read.
        """
        if not self._tree.is_dir(FOLDER):
            return
        for entry in self._tree.walk(FOLDER):
            title, tags = self._head(entry.path)
            yield ArchivalEntry(entry.path, title, tags, entry.size)

    def _note(
        self,
        title: str,
        content: str,
        tags: Sequence[str] = (),
        lineage: Sequence[str] = (),
    ) -> bytes:
        secrets = self._tree.secrets
        meta: dict[str, object] = {
            "title": secrets.clean(title.strip()),
            "created": self._clock().isoformat(timespec="seconds"),
            "source": "agent",
        }
        if lineage:
            meta["trust"] = "untrusted"
            meta["from"] = [secrets.clean(place) for place in lineage]
        if tags:
            meta["tags"] = [secrets.clean(str(tag)) for tag in tags]
        text = frontmatter.dump(meta, secrets.clean(content.rstrip()) + "\n")
        return text.encode("utf-8", "replace")

    def _head(self, path: str) -> tuple[str, tuple[str, ...]]:
        fallback = path.rpartition("/")[2].rpartition(".")[0]
        if not path.endswith(".md"):
            return fallback, ()
        try:
            text = decode_text(self._tree.read_from(path, 0, _HEAD_BYTES))
            meta = frontmatter.parse(path, text).meta
        except (CorruptFile, PathRejected):
            return fallback, ()
        tags = meta.get("tags") or ()
        listed = tags if isinstance(tags, list) else [tags]
        return str(meta.get("title") or fallback), tuple(map(str, listed)) if tags else ()

    def _create(self, stem: str, suffix: str, data: bytes) -> str:
        for number in range(1, 10_000):
            path = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
            try:
                self._tree.create(path, data)
            except PathRejected as err:
                if err.code != "COL":
                    raise
                if self._tree.digest(path) == sha256(data):
                    return path
                continue
            return path
        raise WorkspaceError(f"{stem}{suffix}: too many documents of this name")


def slug(title: str) -> str:
    """Return a file name made of a title: letters of any language, digits, hyphens; always legal."""
    # NFKC, since signs such as U+2488 (a one with its full stop) may not stand in a name.
    text = _NAME_JUNK.sub(" ", unicodedata.normalize("NFKC", title.strip()))
    text = re.sub(r"\s+", "-", text.strip()).lower().strip("-._ ")
    while len(text.encode("utf-8", "replace")) > MAX_SLUG_BYTES:
        text = text[:-1]
    text = unicodedata.normalize("NFC", text).rstrip("-._ ")
    if not text:
        return "note"
    # A device's name, or one that only begins so: "aux", "con.2".
    return text if legal_name(text) == text else f"note-{text}"
