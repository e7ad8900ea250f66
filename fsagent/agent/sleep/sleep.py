"""One sleep: read what was said since the last, ask for edits, gate them, land them piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from fsagent.agent.budget import Spent
from fsagent.agent.prompts import read_prompt
from fsagent.agent.sleep.cursor import Cursor, read_cursor, slept_trailer, write_cursor
from fsagent.agent.sleep.edited import fresh_edit
from fsagent.agent.sleep.gates import Gates, Verdict
from fsagent.agent.sleep.landing import MemoryMoved, land
from fsagent.agent.sleep.log import spent_asleep, write_log
from fsagent.agent.sleep.material import Material, Said, material_since, pieces
from fsagent.agent.sleep.patch import Patch, patch_of
from fsagent.agent.sleep.report import Outlook, SleepReport
from fsagent.agent.sleep.request import propose, request_messages
from fsagent.agent.sleep.room import Room
from fsagent.agent.sleep.untouched import RecallMark, mark_recall
from fsagent.agent.sleep.witnesses import Witnesses
from fsagent.agent.usage import known_price, spent_in
from fsagent.config import Settings
from fsagent.errors import ConfigError, FsagentError, ModelError, WorkspaceError, WorkspaceLocked
from fsagent.memory.core import Block
from fsagent.memory.edits import CoreEdit
from fsagent.memory.workspace import Workspace
from fsagent.tokens import estimate_request
from fsagent.types import Message, Model, Usage

PREVIEW = "sleep-preview.json"
PIECE_SHARE = 0.4
"""The share of the context window that one piece of what was said may fill."""

MOST_PIECE_TOKENS = 6_000
_NO_ROOM = "core memory has no room: shorten a block, or raise core_tokens or its limit"
MOST_FAILURES = 3
"""After so many failures on the same material the idle timer leaves it alone."""


class _Stopped(Exception):
    def __init__(self, stop: str, text: str) -> None:
        self.stop = stop
        super().__init__(text)


def sleep(
    workspace: Workspace,
    model: Model | str | None = None,
    *,
    settings: Settings | None = None,
    preview: bool = False,
    idle: bool = False,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> SleepReport:
    """Consolidate what recall holds since the last sleep into core memory.

    `model` is a model or its name (None: the setting `sleep_model`, else `model`). With `preview`
    nothing lands; `apply_preview` lands what it proposed. `idle` leaves alone what has failed
    several times. `is_cancelled` is asked between requests; a reply that came too late is not used.
    """
    worker = _Sleep(
        workspace,
        model,
        settings or workspace.settings,
        preview=preview,
        idle=idle,
        is_cancelled=is_cancelled,
    )
    with _told():
        return worker.run()


def apply_preview(workspace: Workspace) -> SleepReport:
    """Land exactly what the last preview proposed. Raises `ConfigError` where there is none."""
    data = workspace.tree.state.read(PREVIEW)
    if not data:
        raise ConfigError("there is no preview to apply; make one with: fsagent sleep --diff")
    patch = patch_of(data)
    try:
        with _told():
            commit = land(workspace, patch, model="", cost="")
    except MemoryMoved as err:
        raise ConfigError(f"{err}: memory changed since the preview; fsagent sleep --diff") from err
    workspace.tree.state.drop(PREVIEW)
    text = f"{len(patch.changed)} block(s) changed" if patch.changed else "nothing to change"
    commits = (commit,) if commit else ()
    return SleepReport(
        "landed", text, commits=commits, verdicts=tuple(patch.verdicts), diff=patch.diff()
    )


@contextmanager
def _told() -> Iterator[None]:
    """Turn what the disk refuses into a sentence."""
    try:
        yield
    except OSError as err:
        raise WorkspaceError(
            f"this sleep is not saved whole ({err.strerror}); what it wrote stands, and the next "
            "sleep does the rest"
        ) from err


def outlook(
    workspace: Workspace, model: Model | str | None = None, *, settings: Settings | None = None
) -> Outlook:
    """Return what a sleep would read and ask."""
    return _Sleep(workspace, model, settings or workspace.settings, preview=True).outlook()


class _Sleep:
    """The state of one sleep."""

    def __init__(
        self,
        workspace: Workspace,
        model: Model | str | None,
        settings: Settings,
        *,
        preview: bool = False,
        idle: bool = False,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.workspace, self.settings = workspace, settings
        self._chosen = model if model is not None else settings.sleep_model or settings.model
        self.preview, self.idle, self.is_cancelled = preview, idle, is_cancelled
        self.prompt = read_prompt(workspace.tree, "sleep")
        self.usage, self.spent, self.spent_before = Usage(), Spent(), Spent()
        self.verdicts: list[Verdict] = []
        self.commits: list[str] = []
        self.patch: Patch | None = None
        self.changed = False
        self.since = 0

    @cached_property
    def model(self) -> Model:
        """The model, loaded when it is first asked: most sleeps find that nothing was said."""
        if not isinstance(self._chosen, str):
            return self._chosen
        from fsagent.models.registry import load_model

        quirks = self.workspace.tree.derived / "endpoints.json"
        return load_model(self._chosen, self.settings, quirks_path=quirks)

    @property
    def _model_name(self) -> str:
        return self._chosen if isinstance(self._chosen, str) else self._chosen.name

    def run(self) -> SleepReport:
        """Sleep, and note in the log what it cost."""
        self.workspace.history.look()
        cursor = read_cursor(self.workspace)
        material = material_since(self.workspace, cursor.seq)
        try:
            stop, text = self._run(cursor, material)
        except _Stopped as err:
            stop, text = err.stop, str(err)
        except ModelError as err:
            self._note_failure(cursor, material)
            stop = "failed"
            text = f"the model failed, what was said waits for the next sleep: {err}"
        except FsagentError as err:
            write_log(self.workspace, self._report("failed", str(err), material))
            raise
        report = self._report(stop, text, material)
        write_log(self.workspace, report)
        return report

    def _report(self, stop: str, text: str, material: Material) -> SleepReport:
        return SleepReport(
            stop,
            text,
            len(material.lines),
            tuple(self.commits),
            tuple(self.verdicts),
            self.patch.diff() if self.patch else "",
            self.usage,
            self.spent.usd,
            self._model_name,
        )

    def outlook(self) -> Outlook:
        """Count what would be read."""
        cursor = read_cursor(self.workspace)
        material = material_since(self.workspace, cursor.seq)
        requests = [self._messages(piece) for piece in self._pieces(material)]
        tokens = sum(estimate_request(messages, ()) for messages in requests)
        price = known_price(self._model_name, Usage(tokens, 200 * len(requests)))
        return Outlook(len(material.lines), len(requests), tokens, self._model_name, price)

    def _run(self, cursor: Cursor, material: Material) -> tuple[str, str]:
        if self.idle and cursor.failures >= MOST_FAILURES and cursor.failed_at == material.through:
            raise _Stopped(
                "failed", f"left alone: it failed {cursor.failures} times on these lines"
            )
        todo = list(self._pieces(material))
        if not todo:
            self._pass_over(cursor, material)
            return "nothing", "nothing to change: nothing was said since the last sleep"
        self._check_blocks()
        self._check_fresh()
        self._count_today()
        self.since, mark = cursor.seq, mark_recall(self.workspace)
        for place, piece in enumerate(todo):
            last = place == len(todo) - 1
            self._piece(piece, mark, through=material.through if last else piece[-1].seq)
        if self.preview:
            self._save_preview()
            return "proposed", f"{self._said()}; land it with: fsagent sleep --apply"
        return ("landed" if self.changed else "nothing"), self._said()

    def _said(self) -> str:
        landed = sum(one.outcome == "pass" for one in self.verdicts)
        kept = sum(one.outcome == "keep" for one in self.verdicts)
        text = (
            f"{landed} edit{'s' * (landed != 1)}" if landed or self.changed else "nothing to change"
        )
        return f"{text}; {kept} wait for review (fsagent review)" if kept else text

    def _pieces(self, material: Material) -> list[list[Said]]:
        """Return the pieces in which a person speaks."""
        limit = min(MOST_PIECE_TOKENS, int(self.settings.context_tokens * PIECE_SHARE))
        return [
            piece
            for piece in pieces(material.lines, limit)
            if any(line.is_citable for line in piece)
        ]

    def _pass_over(self, cursor: Cursor, material: Material) -> None:
        if not self.preview and material.through > cursor.seq:
            write_cursor(self.workspace, Cursor(material.through))

    def _check_blocks(self) -> None:
        if all(block.read_only for block in self.workspace.core.blocks()):
            raise _Stopped(
                "deferred", "there is no block to write to; make one with: fsagent block new human"
            )

    def _check_fresh(self) -> None:
        fresh = fresh_edit(self.workspace)
        if fresh is not None:
            path, age_s = fresh
            raise _Stopped(
                "deferred", f"{path} was edited {age_s:.0f} s ago; sleep waits two minutes"
            )

    def _piece(self, piece: list[Said], mark: RecallMark, *, through: int) -> None:
        self._check_budget()
        if self.is_cancelled():
            raise _Stopped(
                "cancelled", "cancelled by a message; what is left waits for the next sleep"
            )
        proposed = propose(self.model, self._messages(piece), self._spend)
        if self.is_cancelled():
            raise _Stopped("cancelled", "cancelled by a message; the reply was not used")
        patch = self._gated(proposed.edits, piece, through)
        mark.check(self.workspace.tree, self.workspace.recall.days())
        if self.preview:
            self.patch = patch if self.patch is None else self.patch.then(patch)
        else:
            self._land(patch)
        self.verdicts += patch.verdicts

    def _messages(self, piece: list[Said]) -> list[Message]:
        now = self.workspace.recall.now()
        return request_messages(self.prompt, now, self._blocks().values(), piece)

    def _blocks(self) -> dict[str, Block]:
        """Return the blocks, as a preview under way would leave them."""
        blocks = {block.label: block for block in self.workspace.core.blocks()}
        if self.patch is not None and self.preview:
            blocks = {
                label: replace(block, value=self.patch.values.get(label, block.value))
                for label, block in blocks.items()
            }
        return blocks

    def _gated(self, edits: Sequence[CoreEdit], piece: list[Said], through: int) -> Patch:
        blocks = self._blocks()
        gates = Gates(blocks, Witnesses(self.workspace, piece), self._secret_in)
        verdicts = gates.check(edits)
        room = self._room(gates, verdicts)
        while full := room.fit():
            for label in full:
                verdicts = gates.refuse(verdicts, label, _NO_ROOM)
            room = self._room(gates, verdicts)
        return Patch(
            {label: block.value for label, block in blocks.items()},
            room.values,
            room.moved,
            slept_trailer(piece[-1], through),
            through,
            self.since,
            verdicts,
        )

    def _room(self, gates: Gates, verdicts: Sequence[Verdict]) -> Room:
        moved: dict[str, list[str]] = {}
        for one in verdicts:
            if one.outcome == "pass" and one.edit.op == "archive":
                moved.setdefault(one.edit.block, []).append(one.edit.old)
        return Room(gates.blocks, dict(gates.values), self.settings.core_tokens, moved)

    def _secret_in(self, text: str) -> str | None:
        found = self.workspace.tree.secrets.find(text)
        return found[0].kind if found else None

    def _land(self, patch: Patch) -> None:
        self._check_fresh()
        try:
            commit = land(
                self.workspace, patch, model=self._model_name, cost=f"{self.spent.tokens} tokens"
            )
        except (WorkspaceLocked, MemoryMoved) as err:
            raise _Stopped("deferred", f"not written: {err}") from err
        self.since = patch.seq
        self.changed = self.changed or bool(patch.changed)
        self.patch = patch if self.patch is None else self.patch.then(patch)
        if commit:
            self.commits.append(commit)

    def _save_preview(self) -> None:
        state = self.workspace.tree.state
        state.drop(PREVIEW)
        if self.patch is not None:
            state.write(PREVIEW, self.patch.as_json())

    # Budgets, failures, the model.

    def _spend(self, usage: Usage) -> None:
        self.usage += usage
        self.spent.add(usage, known_price(self._model_name, usage))

    def _count_today(self) -> None:
        if self.settings.max_day_tokens is None and self.settings.max_day_usd is None:
            return
        recall = self.workspace.recall
        day = recall.path_of(recall.now())
        self.spent_before = spent_in(recall, day, known_price)
        asleep = spent_asleep(self.workspace, day)
        self.spent_before.tokens += asleep.tokens
        self.spent_before.usd += asleep.usd

    def _check_budget(self) -> None:
        settings, spent, before = self.settings, self.spent, self.spent_before
        for stop, used, limit, unit in (
            ("max_sleep_tokens", spent.tokens, settings.max_sleep_tokens, "tokens"),
            ("max_sleep_usd", spent.usd, settings.max_sleep_usd, "USD"),
            ("max_day_tokens", before.tokens + spent.tokens, settings.max_day_tokens, "tokens"),
            ("max_day_usd", before.usd + spent.usd, settings.max_day_usd, "USD"),
        ):
            if limit is not None and used >= limit:
                raise _Stopped(
                    stop,
                    f"stopped: {used:.6g} of {limit:.6g} {unit} are used (setting {stop}); "
                    "the rest waits for the next sleep",
                )

    def _note_failure(self, cursor: Cursor, material: Material) -> None:
        now = read_cursor(self.workspace)
        same = cursor.failed_at == material.through
        failures = cursor.failures + 1 if same else 1
        write_cursor(self.workspace, replace(now, failures=failures, failed_at=material.through))
