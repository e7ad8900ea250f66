"""Put a sample into a workspace of its own: every turn a recall line, nothing else.

One store a sample, since speakers' names repeat across conversations. What goes in: speaker, text,
caption, date. Now is the date of the sample's last session, never the wall clock.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from fsagent.bench.datasets.schema import Sample, Session, Turn
from fsagent.config import Settings, zone
from fsagent.errors import FsagentError, WorkspaceError
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.types import Clock
from fsagent.workspace.records import Record
from fsagent.workspace.view import render

ZONE = "UTC"
"""The data knows no zone; its wall times are kept as they are."""


@dataclass(frozen=True, slots=True)
class Store:
    """A sample's workspace, and which turn stands on which of its lines."""

    workspace: Workspace
    dia_ids: Mapping[tuple[str, int], str]

    def close(self) -> None:
        """Let go of the workspace."""
        self.workspace.close()


def open_store(sample: Sample, folder: Path, settings: Settings) -> Store:
    """Lay a workspace in `folder`, put the sample in and return it open, its clock standing still."""
    workspace = Workspace.init(
        folder,
        settings=settings.with_values("benchmark", timezone=ZONE),
        clock=fixed_clock(sample),
    )
    return Store(workspace, ingest(sample, workspace))


def ingest(sample: Sample, workspace: Workspace) -> dict[tuple[str, int], str]:
    """Append all turns of a sample to recall; return `dia_id` by (path, line)."""
    zone_of = zone(workspace.settings.timezone or ZONE)
    references = workspace.recall.append_many(drafts(sample, zone_of))
    return {
        (reference.path, reference.line): turn.dia_id
        for reference, turn in zip(references, sample.turns, strict=True)
    }


def ingest_sample(sample: Sample, root: Path, *, settings: Settings | None = None) -> Workspace:
    """Make a workspace at `root` that holds the sample, and return it open.

    Raises `WorkspaceError` where `root` holds anything already. Whatever goes wrong, `root` is then
    as it was.
    """
    _check_free(root)
    stood = root.exists()
    try:
        workspace = Workspace.init(root, settings=settings)
        try:
            ingest(sample, workspace)
        except BaseException:
            workspace.close()
            raise
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        if stood:
            root.mkdir(exist_ok=True)
        raise
    return workspace


def import_samples(
    samples: Sequence[Sample], folder: Path, *, settings: Settings | None = None
) -> list[Path]:
    """Make a workspace under `folder` for each sample, and return where: all of them, or none.

    They are laid in a hidden folder beside their places and moved there when the last one is whole.
    Raises `WorkspaceError` naming the sample that could not be laid, or the places that are taken.
    """
    roots = {folder_name(sample.sample_id): sample for sample in samples}
    if len(roots) < len(samples):
        raise WorkspaceError(
            "two samples would have the same folder; choose one of them with --sample"
        )
    for name in roots:
        _check_free(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".fsagent-import-", dir=folder))
    except OSError as err:
        raise WorkspaceError(f"cannot import into {folder}: {err.strerror}") from err
    try:
        for name, sample in roots.items():
            _lay(sample, staging / name, settings)
        return _moved([staging / name for name in roots], folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _lay(sample: Sample, root: Path, settings: Settings | None) -> None:
    try:
        ingest_sample(sample, root, settings=settings).close()
    except (FsagentError, OSError, ValueError) as err:
        raise WorkspaceError(
            f"sample {sample.sample_id} cannot be imported: {err}. Nothing was imported; mend it, "
            "or choose the others with --sample"
        ) from err


def _moved(laid: Sequence[Path], folder: Path) -> list[Path]:
    """Move workspaces into `folder`; take them back if one cannot be moved."""
    moved: list[Path] = []
    try:
        for root in laid:
            moved.append(root.replace(folder / root.name))
    except OSError as err:
        for root in moved:
            shutil.rmtree(root, ignore_errors=True)
        raise WorkspaceError(
            f"{folder / root.name} cannot be made: {err.strerror}. Nothing was imported"
        ) from err
    return moved


def _check_free(root: Path) -> None:
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise WorkspaceError(
            f"{root} exists already; choose another folder, or delete it first. Nothing was imported"
        )


def drafts(sample: Sample, zone_of: tzinfo | None) -> Iterator[Draft]:
    """Yield a recall line for each turn; a turn is a second later than the one before it."""
    for session in sample.sessions:
        for place, turn in enumerate(session.turns):
            yield Draft(
                role="user",
                name=turn.speaker,
                content=turn.text,
                ts=(session.when + timedelta(seconds=place)).replace(tzinfo=zone_of),
                session=f"{sample.sample_id}/{session.number}",
                source=f"locomo:{turn.dia_id}",
                images=(turn.caption,) if turn.caption else (),
            )


def rendered_turns(sample: Sample) -> dict[str, str]:
    """Return each turn by `dia_id` as the line that every tool of a workspace shows."""
    return {
        turn.dia_id: render_turn(session, turn)
        for session in sample.sessions
        for turn in session.turns
    }


def render_turn(session: Session, turn: Turn) -> str:
    """Return a turn as one line: `2023-05-08 13:56 Caroline: text [image: caption]`."""
    return render(
        Record(
            seq=0,
            ts=session.when.isoformat(timespec="seconds"),
            turn="",
            role="user",
            name=turn.speaker,
            content=turn.text,
            images=(turn.caption,) if turn.caption else (),
        )
    )


def fixed_clock(sample: Sample) -> Clock:
    """Return a clock that stands at the sample's last session."""
    now = sample.now.replace(tzinfo=zone(ZONE))

    def clock() -> datetime:
        return now

    return clock


def folder_name(sample_id: str) -> str:
    """Return a folder's name for a sample: letters, digits, `.`, `_` and `-` only."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", sample_id).strip(".-") or "sample"


def chronological(dia_ids: Iterable[str], sample: Sample) -> list[str]:
    """Return `dia_ids` in the order of the conversation."""
    order = {turn.dia_id: place for place, turn in enumerate(sample.turns)}
    return sorted(dia_ids, key=order.__getitem__)
