"""What the model may write: text files of its own under `core/` and `archival/`, nothing else.

A turn asks here before any of its tools writes a file, one's own tools among them; the tree guards
the opening itself. Blocks of the mounted folder are the exception, guarded by their labels.
Every tool may read any file the tree opens, `fsagent.yaml` and `prompts/` included.
"""

from __future__ import annotations

from fsagent.errors import PathRejected
from fsagent.workspace.paths import canonical, canonical_dir
from fsagent.workspace.view import TEXT_SUFFIXES

WRITABLE = {"core": (".md",), "archival": TEXT_SUFFIXES}
_WHERE = "the model writes under core/ and archival/ only"


def check_model_write(path: str) -> str:
    """Return the canonical path of a file the model may write, delete or rename to.

    Raises `PathRejected`: POL for a place or an ending it may not write, else the syntax rule's code.
    """
    folder = canonical_dir(path)
    top, slash, _ = folder.partition("/")
    if top == "recall":
        raise PathRejected(path, "POL", "recall is append-only and read-only to tools")
    if top not in WRITABLE:
        raise PathRejected(path, "POL", f"may not be written; {_WHERE}")
    if not slash:
        raise PathRejected(path, "POL", f"is a folder of the workspace itself; {_WHERE}")
    name = canonical(path)
    if not name.lower().endswith(WRITABLE[top]):
        endings = ", ".join(WRITABLE[top])
        raise PathRejected(path, "POL", f"is not a text file; under {top}/ names end in {endings}")
    return name
