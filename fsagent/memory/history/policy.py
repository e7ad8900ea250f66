"""When the recall log is committed: so that `.git` does not grow with the square of the day.

Committing a day's file on every turn stores it anew each time: 10,000 turns made 3.5 GB of
objects, 1,683 times the text. Instead a file is committed when its day is over, and before that
only once it has doubled since its last commit; all copies of a day then add up to at most three
times its text, before compression.
"""

from __future__ import annotations

from collections.abc import Mapping

GROWTH = 2
RUNNING_BYTES = 256 * 1024


def due_files(
    sizes: Mapping[str, tuple[int, int]], *, today: str, closing: bool
) -> tuple[str, ...]:
    """Return the recall files to commit now.

    `sizes` maps paths to (bytes now, bytes committed); `today` is the day file still written to;
    `closing` tells that a session ends. Within a session a log must have grown by
    `RUNNING_BYTES` too.
    """
    return tuple(
        path
        for path, (size, committed) in sorted(sizes.items())
        if size != committed and _is_due(size, committed, path < today, closing)
    )


def _is_due(size: int, committed: int, over: bool, closing: bool) -> bool:
    if over or size < committed:
        return True
    return size >= committed * GROWTH and (closing or size - committed >= RUNNING_BYTES)
