"""Read the `since` and `until` a model writes: ISO dates and times, or dates in words."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo

from fsagent.errors import BadArguments

_DATE_LENGTH = len("2026-11-29")


def since_moment(text: str | None, now: datetime) -> datetime | None:
    """Return the first moment that `text` allows; a date without a time means its whole day."""
    moments = _read("since", text, now)
    return moments and moments[0]


def until_moment(text: str | None, now: datetime) -> datetime | None:
    """Return the last moment that `text` allows; a date without a time means its whole day."""
    moments = _read("until", text, now)
    return moments and moments[1]


def _read(name: str, text: str | None, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the first and the last moment of what `text` names; None for an empty text."""
    if text is None or not text.strip():
        return None
    zone = now.tzinfo
    try:
        return _iso(text.strip(), zone)
    except ValueError:
        from fsagent.dates import parse_when

        days = parse_when(text.strip(), now)
    if days is None:
        raise BadArguments(
            f"{name} {text[:80]!r} is not a date; write 2026-11-29, 2026-11-29T13:56, 2026-11, "
            "or words such as last week"
        )
    return _whole_days(*days, zone)


def _iso(text: str, zone: tzinfo | None) -> tuple[datetime, datetime]:
    if len(text) <= _DATE_LENGTH:
        day = date.fromisoformat(text)
        return _whole_days(day, day, zone)
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    # A time to the minute means the whole minute: that is how the lines show it.
    end = moment.replace(second=59, microsecond=999_999) if moment.second == 0 else moment
    return moment, end


def _whole_days(first: date, last: date, zone: tzinfo | None) -> tuple[datetime, datetime]:
    return datetime.combine(first, time.min, zone), datetime.combine(last, time.max, zone)
