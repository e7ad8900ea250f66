"""The agent: a workspace, a model, a profile, and turns."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from fsagent.agent.budget import Budget, Spent
from fsagent.agent.compaction import ModelSummary, Summarise, summarise_by_rule
from fsagent.agent.context import SMALL_CONTEXT_TOKENS, Context
from fsagent.agent.events import Event, Notice, OnEvent
from fsagent.agent.pressure import Pressure
from fsagent.agent.profiles import profile_named, short_specs, with_heartbeat
from fsagent.agent.prompts import read_prompt, system_prompt
from fsagent.agent.recorder import RecallRecorder, Recorder
from fsagent.agent.recovery import Interrupted, recover, session_lock
from fsagent.agent.resume import last_session, restore
from fsagent.agent.session import Session
from fsagent.agent.streaming import iterate
from fsagent.agent.turn import Turn
from fsagent.agent.unanswered import Unanswered, last_unanswered
from fsagent.agent.usage import DaySpent, known_price
from fsagent.agent.versions import in_history
from fsagent.config import Settings
from fsagent.errors import ConfigError
from fsagent.memory.workspace import Workspace
from fsagent.tools.registry import Toolbox
from fsagent.tools.schema import Tool
from fsagent.tools.scope import Finder, Scope
from fsagent.tools.windows import Windows
from fsagent.types import Answer, HitPage, Model

log = logging.getLogger(__name__)

RULE_MODELS = ("offline", "scripted")
"""Models that write no summary; a list of messages takes its place."""


def _ignore(event: Event) -> None:
    pass


class Agent:
    """An agent over a workspace; its turns form one session.

    `model` is a model or its name (None: the setting's); `tools` are typed functions of one's own,
    beside the profile's; `recorder` keeps the turns (default: the recall log); `search` shares an
    index that is open already; `resume` goes on where the last session stopped; without `history`
    turns make no commits, and nothing is saved under memory pressure.
    """

    def __init__(
        self,
        workspace: Workspace,
        model: Model | str | None = None,
        *,
        profile: str | None = None,
        tools: Sequence[Tool] = (),
        recorder: Recorder | None = None,
        settings: Settings | None = None,
        search: Finder | None = None,
        summarise: Summarise | None = None,
        resume: bool = False,
        history: bool = True,
    ) -> None:
        self.workspace = workspace
        self.settings = settings or workspace.settings
        self.model = self._load(model if model is not None else self.settings.model)
        self._keeps_recall = recorder is None
        self._keeps_history = self._keeps_recall and history
        session = (last_session(workspace.recall) if resume else None) or new_turn_id(workspace)
        self._owns_search, self._own_summary = search is None, summarise is None
        self._pressure, self._day = Pressure(), DaySpent(workspace, known_price)
        self._scope = self._new_scope(search)
        self.session = self._new_session(session, profile, tools, recorder, summarise)
        self._notices = self._opening_notices()
        if self._keeps_recall:
            self._recover()
        self.restored = restore(self.session) if resume else 0

    def run(self, text: str, on_event: OnEvent = _ignore) -> Answer:
        """Answer one message, telling `on_event` what happens; the turn is on disk when this returns."""
        return self._turn(text, on_event)

    def stream(self, text: str) -> Iterator[Event]:
        """Answer one message, yielding what happens; the last event is `Finished`."""
        return iterate(lambda on_event: self._turn(text, on_event))

    def retry(self, on_event: OnEvent = _ignore) -> Answer:
        """Answer the last message that got no answer; it is not written again.

        What the broken turn had looked up or edited stays in the context, so nothing is done twice.
        Raises `ConfigError` where every message of this conversation has its answer.
        """
        left = self.unanswered
        if left is None:
            raise ConfigError(
                "there is nothing to retry: the last message of this conversation has its answer"
            )
        return self._turn(left.text, on_event, again=left)

    def notices(self) -> list[str]:
        """Return what the person should be told before the next turn, each sentence once."""
        said, self._notices = self._notices, []
        return said

    def find(self, query: str, *, limit: int = 10) -> HitPage:
        """Search all memory as the agent's tools do."""
        return self._scope.search.search(query, limit=limit)

    def use_model(self, model: Model | str) -> None:
        """Go on with another model; the conversation stays."""
        self.model = self.session.model = self._load(model)
        self._fit(self.session.context)
        if self._own_summary:
            self.session.summarise = self._summarise()

    @property
    def unanswered(self) -> Unanswered | None:
        """The last message of this conversation, where a crash, Ctrl-C or the model left it unanswered."""
        return (
            last_unanswered(self.workspace.recall, self.session.id) if self._keeps_recall else None
        )

    def close(self) -> None:
        """Let go of what the agent holds, where its parts need it."""
        closing = getattr(self._scope.search, "close", None)
        if self._owns_search and closing is not None:
            closing()

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _turn(self, text: str, on_event: OnEvent, *, again: Unanswered | None = None) -> Answer:
        if not text.strip():
            raise ConfigError("the message is empty; write what you want to say or ask")
        for sentence in self.notices():
            on_event(Notice(sentence))
        turn = Turn(self.session, new_turn_id(self.workspace), text, on_event, again=again)
        if self._keeps_history:
            self._relieve(turn, on_event)
        self._scope.writes.clear()
        self.session.budget.begin_turn(self._spent_today)
        with self._alive(), self._versioned(turn):
            return turn.run()

    def _alive(self) -> AbstractContextManager[None]:
        """Hold the session's lock, so that another process does not take the turn for a dead one."""
        if not self._keeps_recall:
            return nullcontext()
        return self.workspace.tree.lock(session_lock(self.session.id))

    def _versioned(self, turn: Turn) -> AbstractContextManager[None]:
        return in_history(self.session, turn) if self._keeps_history else nullcontext()

    def _relieve(self, turn: Turn, on_event: OnEvent) -> None:
        try:
            self._pressure.relieve(self.session, on_event)
        except KeyboardInterrupt:
            with self._alive():
                turn.leave()
            raise

    def _spent_today(self) -> Spent:
        if not self._keeps_recall:  # what it says is counted nowhere but here
            return self.session.budget.day
        recall = self.workspace.recall
        return self._day.until_now(recall.path_of(recall.now()))

    def _load(self, model: Model | str) -> Model:
        if not isinstance(model, str):
            return model
        from fsagent.models.registry import load_model

        quirks = self.workspace.tree.derived / "endpoints.json"
        return load_model(model, self.settings, quirks_path=quirks)

    def _new_scope(self, search: Finder | None) -> Scope:
        context_tokens = self.settings.context_tokens
        return Scope(
            self.workspace, search or self._own_search(), Windows(context_tokens), context_tokens
        )

    def _own_search(self) -> Finder:
        from fsagent.search.ranked import Search

        encoder = None
        if self.settings.embeddings is not None:
            from fsagent.models.embeddings import load_encoder

            encoder = load_encoder(self.settings)
        return Search(self.workspace.tree, self.settings, self.workspace.clock, encoder=encoder)

    def _new_session(
        self,
        session: str,
        profile_name: str | None,
        tools: Sequence[Tool],
        recorder: Recorder | None,
        summarise: Summarise | None,
    ) -> Session:
        workspace, settings = self.workspace, self.settings
        profile = profile_named(profile_name or settings.profile)
        toolbox = Toolbox([*profile.tools(self._scope), *tools])
        blocks = workspace.core.blocks()
        prompt = read_prompt(workspace.tree, profile.prompt)
        specs = with_heartbeat(toolbox.specs) if profile.heartbeats else toolbox.specs
        if settings.context_tokens <= SMALL_CONTEXT_TOKENS:
            specs = short_specs(specs)
        system = system_prompt(prompt, blocks, context_tokens=settings.context_tokens)
        context = Context(
            system, specs, self._scope.windows, context_tokens=settings.context_tokens
        )
        context.check_size()
        self._fit(context)
        heartbeat = settings.heartbeat_model
        return Session(
            id=session,
            workspace=workspace,
            settings=settings,
            model=self.model,
            heartbeat_model=self._load(heartbeat) if heartbeat and profile.heartbeats else None,
            profile=profile,
            toolbox=toolbox,
            scope=self._scope,
            context=context,
            recorder=recorder
            or RecallRecorder(workspace.recall, session=session, user_name=settings.user_name),
            budget=Budget(settings, known_price),
            summarise=summarise or self._summarise(),
            frozen={block.label: block.value for block in blocks},
            foreign_tools=frozenset(tool.__name__ for tool in tools),
        )

    def _fit(self, context: Context) -> None:
        """Take the window that the endpoint has told of, where it is smaller than the setting."""
        told: int | None = getattr(self.model, "context_tokens", None)
        context.resize(min(told or self.settings.context_tokens, self.settings.context_tokens))

    def _summarise(self) -> Summarise:
        if self.model.name.partition(":")[0] in RULE_MODELS:
            return summarise_by_rule
        prompt = read_prompt(self.workspace.tree, "summary")
        return ModelSummary(self.model, prompt, self.settings.context_tokens)

    def _opening_notices(self) -> list[str]:
        tokens = self.settings.context_tokens
        if tokens > SMALL_CONTEXT_TOKENS:
            return []
        return [
            f"The context window is small ({tokens} tokens): fewer lines fit at a time, and old "
            "messages are summarised sooner. Everything stays in recall."
        ]

    def _recover(self) -> None:
        """Close what an earlier process left open, and say so at the next turn."""
        self.interrupted: tuple[Interrupted, ...] = recover(self.workspace, self.session.toolbox)
        self._notices += [one.note() for one in self.interrupted]


def new_turn_id(workspace: Workspace) -> str:
    """Return an id that no other turn has, and that sorts by time."""
    return f"{workspace.recall.now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
