"""Run one turn: the person's message, steps of the model and its tools, the final reply.

`begin` is on disk before the model is asked, each message before it is shown, `end` before the
answer returns. What a model gets wrong comes back to it as text; a budget ends the turn with a
name and a sentence the person sees.
"""

from __future__ import annotations

import json

from fsagent.agent import tail
from fsagent.agent.citations import citations_of
from fsagent.agent.events import (
    Compacted,
    Finished,
    Notice,
    OnEvent,
    TextDelta,
    ToolFinished,
    ToolStarted,
    call_summary,
    result_summary,
)
from fsagent.agent.limits import CUT, MAX_NUDGES, Repeats, TurnStopped
from fsagent.agent.profiles import SEND_MESSAGE, WRITING_TOOLS, Done, goes_on, take_heartbeat
from fsagent.agent.recorder import SAID
from fsagent.agent.recovery import cut_off
from fsagent.agent.session import Session
from fsagent.agent.taint import begin_taint, end_taint, fold_taint, keep_taint
from fsagent.agent.unanswered import RETRIES, Unanswered
from fsagent.errors import ContextOverflow, CorruptFile, ModelError
from fsagent.memory.history.messages import TurnNote
from fsagent.memory.history.shared import writing_for
from fsagent.tokens import estimate_message
from fsagent.tools.registry import ToolResult
from fsagent.tools.scope import clip_bytes
from fsagent.types import Answer, Completion, Message, Model, ToolCall, Usage
from fsagent.workspace.journal import journaling
from fsagent.workspace.paths import MOUNTED
from fsagent.workspace.policy import check_model_write

MAX_RESULT_BYTES = 64_000
"""The size at which any tool's result is cut, whatever the window."""

OVERFLOW_SCALE = 1.3
MAX_OVERFLOWS = 2
"""How often a request is made smaller: once to the limit that is told, once for estimates too low."""


class Turn:
    """One turn of a session; `run` it once.

    With `again` it answers a message that stands in recall already, and does not write it again.
    """

    def __init__(
        self,
        session: Session,
        turn: str,
        text: str,
        on_event: OnEvent,
        *,
        again: Unanswered | None = None,
    ) -> None:
        self.session, self.id, self.text, self._emit = session, turn, text, on_event
        self._again = again
        self.repeats = Repeats()
        self.step = self.tool_calls = self.heartbeats = self.empty = 0
        self.usage, self.counted = Usage(), Usage()
        self.model_name, self.note = session.model.name, ""
        self.said: list[str] = []
        self.writers: list[str] = []
        self.running = ""
        self.intents: dict[str, tuple[str, str]] = {}
        self.partial: list[str] = []
        self.told = False

    def run(self) -> Answer:
        """Run the turn to its end. Raises ModelError where the model's side failed for good."""
        self._begin()
        try:
            text, stop = self._steps()
        except TurnStopped as err:
            text, stop = self._stopped(err)
        except KeyboardInterrupt:
            self._close_calls()
            self._keep_partial()
            self.session.recorder.end(self.id, "interrupted")
            raise
        except ModelError:
            self.session.recorder.end(self.id, "model_error")
            raise
        finally:
            end_taint(self.session, self.id)
            self.session.context.queue.drop_unfinished()
        return self._end(text, stop)

    def leave(self) -> None:
        """Keep the message of a turn that Ctrl-C stopped before its begin: a retry answers it."""
        self._begin()
        end_taint(self.session, self.id)
        self.session.recorder.end(self.id, "interrupted")

    def _begin(self) -> None:
        session, message, again = self.session, Message("user", self.text), self._again
        session.workspace.tree.secrets.take_removed()
        if again is None:
            begins = session.recorder.begin(self.id, message)
        else:
            session.recorder.mark(self.id, "begin", {RETRIES: again.turns[0]})
            begins = again.begins
        scope = session.scope
        scope.turn = (again.turns[-1] if again else self.id) if begins is not None else None
        scope.turn_start = (begins.path, begins.line) if begins is not None else None
        begin_taint(session, self.id, self.text, again=again.turns if again else ())
        if again is None or not session.context.queue.take_up(again.turns, turn=self.id):
            session.context.add(message, turn=self.id, seq=begins.seq + 1 if begins else 0)
        self._tell_of_secrets("your message")

    def _tell_of_secrets(self, place: str) -> None:
        """Say, once a turn, that a secret was replaced before it was stored."""
        removed = self.session.workspace.tree.secrets.take_removed()
        if removed and not self.told:
            self.told = True
            self._emit(Notice(f"A secret in {place} is not stored ({', '.join(removed)})."))

    def _tell_of_reviews(self) -> None:
        count = len(self.session.scope.taint.kept)
        if count:
            waits = "1 edit waits" if count == 1 else f"{count} edits wait"
            self._emit(Notice(f"{waits} for review: fsagent review"))

    def _end(self, text: str, stop: str) -> Answer:
        session = self.session
        session.recorder.end(self.id, stop)
        self._tell_of_secrets("this turn")
        self._tell_of_reviews()
        if stop in CUT:
            self._emit(Notice(CUT[stop]))
        answer = Answer(
            text=text,
            citations=citations_of(text, session.workspace.tree),
            steps=self.step,
            tool_calls=self.tool_calls,
            usage=self.usage,
            model=self.model_name,
            turn=self.id,
            stop=stop,
        )
        self._emit(Finished(answer))
        return answer

    def _steps(self) -> tuple[str, str]:
        """Return the answer's text and why the turn ended."""
        limit = self.session.settings.max_steps
        while self.step < limit:
            self.session.budget.check()
            self.step += 1
            outcome = self._take(self._ask())
            if outcome is not None:
                return outcome
        raise TurnStopped(
            "max_steps", f"I stopped after {limit} steps without an answer (setting max_steps)."
        )

    def _ask(self) -> Completion:
        context, model = self.session.context, self._model()
        late = self._tail()
        if context.tokens(late) > context.limit_tokens:
            self._compact()
            late = self._tail()
        for _ in range(MAX_OVERFLOWS):
            try:
                return self._complete(model, late)
            except ContextOverflow as err:
                if err.limit_tokens and err.limit_tokens < context.context_tokens:
                    context.resize(err.limit_tokens)
                else:
                    context.scale *= OVERFLOW_SCALE
            self._compact()
            late = self._tail()
        return self._complete(model, late)

    def _complete(self, model: Model, late: str) -> Completion:
        context = self.session.context
        estimated = context.tokens(late)
        self.partial.clear()
        completion = model.complete(context.assemble(late), context.specs, on_text=self._on_text)
        context.calibrate(estimated, completion.usage)
        self.model_name, self.note = completion.model or model.name, ""
        self._spend(completion, estimated)
        return completion

    def _model(self) -> Model:
        session = self.session
        return (
            session.heartbeat_model if self.step > 1 and session.heartbeat_model else session.model
        )

    def _on_text(self, text: str) -> None:
        self.partial.append(text)
        if not self.session.profile.heartbeats:
            self._emit(TextDelta(text))

    def _spend(self, completion: Completion, estimated: int) -> None:
        self.usage += completion.usage
        said = estimate_message(completion.message)
        self.counted = completion.usage.or_estimate(estimated, said)
        self.session.budget.add(self.model_name, self.counted)

    def _tail(self) -> str:
        session, context = self.session, self.session.context
        percent = int(context.share() * 100)
        parts = [
            tail.clock_line(session.workspace.recall.now()),
            self._changed_blocks(),
            tail.outside_edits(session.outside),
            tail.open_files_line(session.scope.windows.open_windows),
            tail.PRESSURE.format(percent=min(percent, 100)) if context.is_pressed() else "",
            tail.LAST_STEP if self.step == session.settings.max_steps else "",
            tail.SPEAK if self._must_speak() else "",
            self.note,
        ]
        late = tail.join_tail(parts)
        context.note_tail(late)
        return late

    def _changed_blocks(self) -> str:
        try:
            blocks = self.session.workspace.core.blocks()
        except CorruptFile as err:
            return f"Core memory cannot be read: {err}"
        return tail.changed_blocks(self.session.frozen, blocks)

    def _must_speak(self) -> bool:
        limit = self.session.settings.max_heartbeats
        return self.session.profile.heartbeats and not self.said and self.heartbeats >= limit

    def _compact(self) -> None:
        """Evict the oldest half behind a summary; the summary is in recall before it is used."""
        session, context = self.session, self.session.context
        before = context.tokens()
        evicted = context.evict(turn=self.id)
        if evicted:
            summary = session.summarise(context.queue.summary, evicted, context.summary_tokens)
            fold_taint(session, evicted)
            facts = {
                "summary": summary.text,
                "through": max(unit.seq for unit in evicted),
                "sources": list(session.summary_sources),
            }
            session.recorder.mark(
                self.id, "compaction", facts, model=summary.model, usage=summary.usage
            )
            session.budget.add(summary.model or "", summary.usage)
            context.queue.summary = summary.text
        context.fit_step()
        self._emit(Compacted(before, context.tokens(), len(evicted)))

    def _take(self, completion: Completion) -> tuple[str, str] | None:
        """Keep a reply and run its calls; return the text and the stop where the turn is over."""
        message = self.session.with_own_ids(completion.message)
        if completion.calls_were_cut or (message.tool_calls and _stop_of(completion) == "length"):
            self._skip("cut", tail.CUT, completion)
            return None
        if not message.content.strip() and not message.tool_calls:
            self._nudge(completion)
            return None
        self.empty = 0
        self._keep(message, completion)
        if message.tool_calls:
            return self._run_calls(message)
        if self.session.profile.heartbeats:
            self._emit(TextDelta(message.content))
        return "\n\n".join([*self.said, message.content.strip()]), _stop_of(completion)

    def _skip(self, kind: str, note: str, completion: Completion) -> None:
        """Leave a reply out of the conversation and tell the model why."""
        self.note = note
        self.session.recorder.mark(
            self.id, kind, {"step": self.step}, model=self.model_name, usage=self.counted
        )

    def _nudge(self, completion: Completion) -> None:
        self.empty += 1
        self._skip("empty", tail.empty_note(completion.finish_reason), completion)
        if self.empty > MAX_NUDGES:
            raise TurnStopped(
                "empty_reply",
                f"The model gave an empty reply {self.empty} times. Ask again, or try another model.",
            )

    def _keep(self, message: Message, completion: Completion) -> None:
        kept = self.session.recorder.message(
            self.id, message, model=self.model_name, usage=self.counted
        )
        self.session.context.add(message, turn=self.id, seq=kept.seq if kept else 0)
        self.partial.clear()

    def _run_calls(self, message: Message) -> tuple[str, str] | None:
        session = self.session
        if self.step == session.settings.max_steps and not session.profile.heartbeats:
            self._refuse(message.tool_calls, "Not run: the turn has no step left.")
            return None
        done: list[Done] = []
        for place, call in enumerate(message.tool_calls):
            try:
                done.append(self._run_call(call))
            except TurnStopped:
                self._refuse(message.tool_calls[place:], "Not run: the turn was stopped.")
                raise
        session.context.fit_step()
        session.context.settle()
        return self._after_heartbeats(done) if session.profile.heartbeats else None

    def _refuse(self, calls: tuple[ToolCall, ...], text: str) -> None:
        for call in calls:
            self._keep_result(call, text)

    def _run_call(self, call: ToolCall) -> Done:
        plain, heartbeat = take_heartbeat(call) if self.session.profile.heartbeats else (call, None)
        self.tool_calls, self.running = self.tool_calls + 1, call.id
        warning = self.repeats.check(plain)
        self._emit(ToolStarted(plain, call_summary(plain)))
        result = ToolResult(warning, failed=True) if warning else self._run_journaled(plain)
        if plain.name == SEND_MESSAGE and not result.failed:
            self._say(str(json.loads(plain.arguments)["message"]))
        text = clip_bytes(result.text, MAX_RESULT_BYTES)
        if plain.name in self.session.foreign_tools and not result.failed:
            text = self.session.scope.taint.text(plain.name, text)
        keep_taint(self.session, self.id)
        self._keep_result(call, text)
        self._emit(ToolFinished(plain, result_summary(text), text, result.failed))
        return Done(plain, result.failed, heartbeat)

    def _run_journaled(self, call: ToolCall) -> ToolResult:
        """Run a call; what it is about to write is in recall, with both hashes, before it writes."""

        def intend(path: str, before: str, after: str) -> None:
            if not path.startswith(MOUNTED):
                check_model_write(path)
            facts = {"call": call.id, "path": path, "before": before, "after": after}
            self.session.recorder.mark(self.id, "intent", facts)
            self.session.scope.writes.append(path)
            self.writers.append(call.name)
            self.intents[call.id] = (path, after)

        note = TurnNote(turn=self.id, tools=(call.name,), model=self.model_name)
        with journaling(intend), writing_for(note):
            return self.session.toolbox.run(call)

    def _keep_result(self, call: ToolCall, text: str) -> None:
        message = Message("tool", text, tool_call_id=call.id, name=call.name)
        kept = self.session.recorder.message(self.id, message)
        self.session.context.add(message, turn=self.id, seq=kept.seq if kept else 0)

    def _say(self, text: str) -> None:
        self.session.recorder.message(self.id, Message("assistant", text), source=SAID)
        self.said.append(text)
        self._emit(TextDelta(text))

    def _after_heartbeats(self, done: list[Done]) -> tuple[str, str] | None:
        """Go on where a call asks for it; a failure, and a write with nothing said yet, do too."""
        if not goes_on(done, silent=not self.said):
            if self.said:
                return "\n\n".join(self.said), "answered"
            raise TurnStopped("no_message", "The model ended its turn without a message.")
        self.heartbeats += 1
        limit = self.session.settings.max_heartbeats
        if self.heartbeats > limit:
            raise TurnStopped("max_heartbeats", f"I stopped after {limit} heartbeats.")
        return None

    def _stopped(self, err: TurnStopped) -> tuple[str, str]:
        """Close a stopped turn with a last text: what was said, or the reason."""
        notice = str(err)
        self.session.recorder.mark(self.id, "notice", {"stop": err.stop, "text": notice})
        self.session.context.add(Message("assistant", notice), turn=self.id)
        self._emit(Notice(notice))
        return "\n\n".join(self.said) or notice, err.stop

    def _close_calls(self) -> None:
        """Give the calls that Ctrl-C cut off their result, so that a retry does none of them twice."""
        for call in self.session.context.queue.awaiting():
            intent = self.intents.get(call.id)  # our own tools write nothing without one
            started = call.id == self.running and call.name not in WRITING_TOOLS
            text = cut_off(self.session.workspace, call, intent, started=started)
            self._keep_result(call, text)

    def _keep_partial(self) -> None:
        text = "".join(self.partial).strip()
        if text:
            self.session.recorder.message(self.id, Message("assistant", text))
            self.session.context.add(Message("assistant", text), turn=self.id)


def _stop_of(completion: Completion) -> str:
    return completion.finish_reason if completion.finish_reason in CUT else "answered"
