"""The command `index`: what stands behind `search`, made anew, or deleted. Nothing of memory is in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fsagent.cli.common import (
    EXIT_NOTHING,
    json_option,
    note,
    open_workspace,
    say,
    say_json,
    workspace_option,
)

if TYPE_CHECKING:
    from pathlib import Path

    from fsagent.memory.workspace import Workspace
    from fsagent.search.snapshot import SnapshotSource


@click.group(invoke_without_command=True)
@click.pass_context
def index(ctx: click.Context) -> None:
    """Show, rebuild or delete the index that search keeps.

    The index is derived from the files: search makes it, brings it up to date and rebuilds a damaged
    one by itself. Without a subcommand its status is shown.
    """
    if ctx.invoked_subcommand is None:
        ctx.exit(ctx.invoke(status))


@index.command()
@workspace_option
@json_option
def status(workspace: str | None, as_json: bool) -> int:
    """Show what the index holds, how large it is, and what waits.

    Status 1: there is no index, or it is damaged; the next search of more than a few lines makes it.
    """
    with open_workspace(workspace) as memory:
        facts = facts_of(memory)
    if as_json:
        say_json(facts)
    else:
        for name, value in facts.items():
            say(f"{name.replace('_', ' '):<14}{value}")
    return 0 if facts["state"] in ("ok", "behind") else EXIT_NOTHING


@index.command()
@workspace_option
@json_option
def rebuild(workspace: str | None, as_json: bool) -> int:
    """Build the index anew, beside the one in force, and swap; searches go on meanwhile."""
    import time

    from fsagent.search.index import rebuild as build

    with open_workspace(workspace) as memory:
        started = time.monotonic()
        with _progress("files indexed", "file") as on_step:
            count = build(memory.tree, memory.settings.language, on_step=on_step)
        encoded = _encode(memory)
        seconds = round(time.monotonic() - started, 3)
    if as_json:
        say_json({"documents": count, "vectors": encoded, "seconds": seconds})
    else:
        more = f", {encoded} vectors" if encoded is not None else ""
        note(f"{count} documents{more} in {seconds:.1f} s")
    return 0


@index.command()
@workspace_option
@json_option
def rm(workspace: str | None, as_json: bool) -> int:
    """Delete the index. Nothing is lost: the next search makes it again."""
    from fsagent.search.index import remove_index

    with open_workspace(workspace) as memory:
        freed = sum(path.stat().st_size for path in index_files(memory))
        remove_index(memory.tree)
    if as_json:
        say_json({"freed_bytes": freed})
    else:
        note(f"{_size(freed)} freed")
    return 0


def facts_of(memory: Workspace) -> dict[str, Any]:
    """Return what is known of a workspace's index."""
    from fsagent.search.manifest import read_manifest, read_pointer
    from fsagent.search.snapshot import SnapshotSource
    from fsagent.search.soundness import fault_of

    folder = read_pointer(memory.tree.derived)
    manifest = read_manifest(folder) if folder else None
    size = sum(path.stat().st_size for path in index_files(memory))
    facts: dict[str, Any] = {"state": "none", "documents": 0, "files": 0, "size": _size(size)}
    if folder is None or manifest is None:
        return facts | ({"state": "damaged", "fault": "no manifest"} if folder else {})
    fault = fault_of(folder, manifest)
    source = SnapshotSource(memory.tree, memory.settings.language)
    waiting = len(source.take().pending) if fault is None else len(manifest.files)
    facts |= {
        "state": "damaged" if fault else "behind" if waiting else "ok",
        "documents": manifest.live,
        "files": len(manifest.files),
        "files_waiting": waiting,
        "dead_rows": max(0, manifest.count - manifest.live),
        "language": manifest.language,
        "languages": ", ".join(manifest.languages),
        "folder": folder.relative_to(memory.root).as_posix(),
    }
    if fault:
        facts["fault"] = fault
    return facts | _vector_facts(memory, source)


def index_files(memory: Workspace) -> list[Path]:
    """Return the files of the index."""
    return [path for path in memory.tree.derived.glob("index*/**/*") if path.is_file()]


def _vector_facts(memory: Workspace, source: SnapshotSource) -> dict[str, Any]:
    if memory.settings.embeddings is None:
        return {}
    from fsagent.cli.find import encoder_of
    from fsagent.search.ranked import make_vectors

    vectors = make_vectors(memory.tree, memory.settings, encoder_of(memory.settings))
    if vectors is None:
        return {"vectors": "the extra is not installed: pip install 'fsagent[vectors]'"}
    return {"vectors": vectors.count(source.take())}


def _encode(memory: Workspace) -> int | None:
    """Make the vectors of a new index, where they are asked for; return how many there are."""
    if memory.settings.embeddings is None:
        return None
    from fsagent.cli.find import encoder_of
    from fsagent.search.ranked import make_vectors
    from fsagent.search.snapshot import SnapshotSource

    vectors = make_vectors(memory.tree, memory.settings, encoder_of(memory.settings))
    if vectors is None:
        return None
    snapshot = SnapshotSource(memory.tree, memory.settings.language).take()
    with _progress("lines encoded", "vectors") as on_step:
        vectors.catch_up(snapshot, on_step=on_step)
    return vectors.count(snapshot)


@contextmanager
def _progress(words: str, counted: str) -> Iterator[Callable[[str, int], None]]:
    """Show on a terminal how far a long work has come."""
    if not sys.stderr.isatty():
        yield lambda what, done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} " + words), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def on_step(what: str, done: int) -> None:
            if what == counted:
                bar.update(task, completed=done)

        yield on_step


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
