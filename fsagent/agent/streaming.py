"""Turn a callback into an iterator: the turn runs in a thread, its events come out here."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Iterator

from fsagent.agent.events import Event, OnEvent
from fsagent.types import Answer


def iterate(turn: Callable[[OnEvent], Answer]) -> Iterator[Event]:
    """Yield the events of a turn; an error of the turn is raised here.

    A consumer that stops early does not stop the turn: what was begun is brought to its end.
    """
    events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            turn(events.put)
        except BaseException as err:  # raised again in the consumer's thread
            events.put(err)
        else:
            events.put(None)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=False)
    thread.start()
    while (event := events.get()) is not None:
        if isinstance(event, BaseException):
            thread.join()
            raise event
        yield event
    thread.join()
