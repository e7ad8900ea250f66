"""import: documents into archival, LoCoMo samples into a workspace each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from fsagent.cli.common import (
    complain,
    counted,
    json_option,
    note,
    open_workspace,
    say_json,
    workspace_option,
)
from fsagent.errors import ConfigError, FsagentError, WorkspaceError
from fsagent.workspace.view import TEXT_SUFFIXES, decode_text

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_PEEK_BYTES = 4096


@click.command(name="import")
@click.argument("sources", nargs=-1, required=True, metavar="PATH...")
@workspace_option
@click.option(
    "--to", "folder", default=".", metavar="DIR", help="Where the samples' workspaces are made."
)
@click.option(
    "--sample", "samples", multiple=True, metavar="ID", help="Only this sample (repeatable)."
)
@json_option
def import_(
    workspace: str | None,
    as_json: bool,
    sources: tuple[str, ...],
    folder: str,
    samples: tuple[str, ...],
) -> int:
    """Import documents, or LoCoMo samples, into memory.

    A text or Markdown file, or a folder of them, goes into archival/ of the workspace. A file in
    LoCoMo's schema makes a new workspace DIR/SAMPLE_ID for each of its samples: all, or none.
    """
    paths = [Path(source) for source in sources]
    for path in paths:
        if not path.exists():
            raise WorkspaceError(f"{path} does not exist")
    conversations = [path for path in paths if is_locomo(path)]
    documents = [path for path in paths if path not in conversations]
    if documents and (samples or folder != "."):
        raise ConfigError(
            f"{documents[0]} is no LoCoMo file; --to and --sample are for those alone. "
            "Documents go into the workspace of -w"
        )
    made = _import_samples(conversations, Path(folder), samples) if conversations else []
    if documents:
        rows, failed = _import_documents(workspace, documents)
        made += rows
    else:
        failed = 0
    if as_json:
        say_json(made)
    return 2 if failed else 0


def is_locomo(path: Path) -> bool:
    """Say whether a file looks like a list of conversations with questions."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_PEEK_BYTES)
    return head.lstrip()[:1] in (b"[", b"{") and any(
        key in path.read_bytes() for key in (b'"conversation"', b'"session_1"')
    )


def _import_samples(
    paths: Sequence[Path], folder: Path, wanted: Sequence[str]
) -> list[dict[str, object]]:
    from fsagent.bench.datasets.locomo import load
    from fsagent.bench.ingest import import_samples
    from fsagent.workspace.locate import check_outside

    check_outside(folder / "sample")
    found = [sample for path in paths for sample in load(path).samples]
    known = [sample.sample_id for sample in found]
    if unknown := sorted(set(wanted) - set(known)):
        raise WorkspaceError(
            f"there is no sample {', '.join(unknown)}; there are {', '.join(known)}"
        )
    chosen = [sample for sample in found if not wanted or sample.sample_id in wanted]
    rows: list[dict[str, object]] = []
    for sample, root in zip(chosen, import_samples(chosen, folder), strict=True):
        days = len(list(root.glob("recall/*/*.jsonl")))
        note(f"{root}: {counted(len(sample.turns), 'message')} in {counted(days, 'day')}")
        rows.append(
            {
                "workspace": str(root),
                "sample": sample.sample_id,
                "messages": len(sample.turns),
                "days": days,
            }
        )
    return rows


def _import_documents(
    workspace: str | None, documents: Iterable[Path]
) -> tuple[list[dict[str, object]], int]:
    rows: list[dict[str, object]] = []
    failed = 0
    with open_workspace(workspace) as memory:
        for path in (found for document in documents for found in _text_files(document)):
            try:
                data = path.read_bytes()
                stored = memory.archival.import_document(path.name, data)
            except (FsagentError, OSError) as err:
                complain(f"{path} was not imported: {err}")
                failed += 1
                continue
            rows.append({"source": str(path), "path": stored})
            note(f"{path} -> {stored}")
            _note_doubts(path, data)
            for kind in memory.tree.secrets.take_removed():
                complain(f"{path} holds a secret ({kind}); it was left out of the copy")
        if rows:
            memory.history.record("import")
            for text in memory.notices():
                complain(text)
    if not rows and not failed:
        complain(f"nothing to import: no text or Markdown file there ({', '.join(TEXT_SUFFIXES)})")
        failed = 1
    return rows, failed


def _note_doubts(path: Path, data: bytes) -> None:
    """Say what may not be as the person meant it: JSON kept as text, letters that cannot be read."""
    if path.suffix.lower() == ".json":
        note(f"fsagent: {path} has no conversation in LoCoMo's form; it was stored as a document")
    if REPLACEMENT in decode_text(data) and REPLACEMENT.encode() not in data:
        complain(
            f"{path} is not UTF-8 text; letters that cannot be read show as {REPLACEMENT}. Convert "
            "it and import it again, e.g. iconv -f latin1 -t utf-8"
        )


def _text_files(path: Path) -> Iterator[Path]:
    """Yield a file, or the text files below a folder; what links there lead to was not named."""
    if path.is_file():
        yield path
        return
    for found in sorted(path.rglob("*")):
        inner = found.relative_to(path).parts
        if found.is_symlink():
            note(f"fsagent: {found} is a link and was left out; name the file it leads to")
        elif (
            found.is_file()
            and found.suffix.lower() in TEXT_SUFFIXES
            and not any(p.startswith(".") for p in inner)
        ):
            yield found
