"""Read dates as people write and say them, and make relative ones absolute.

`find_dates` finds them in running text said on a given day; `parse_when` reads one expression
("last March", "since May 2023", "past two weeks") as a range of days, both ends included.
A `When` carries its English label ("7 May 2023", "the week before 9 June 2023"), which keeps
what was said where a single day would claim more than the speaker did.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

Unit = Literal["day", "week", "weekend", "month", "season", "year"]

# Not calendar.month_name, which follows the locale.
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS = tuple(_MONTH_NAMES.split(" "))
WEEKDAYS = tuple(_WEEKDAY_NAMES.split(" "))
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: n for n, word in enumerate(_COUNTS.split(" "))} | {
    "a": 1,
    "an": 1,
    "couple": 2,
    "couple of": 2,
    "a couple of": 2,
    "a couple": 2,
}
_FEW = ("few", "a few", "several", "some")

_MONTH = "(?P<month>" + "|".join(f"{m[:3]}(?:{m[3:]})?" for m in MONTHS) + r"|sept)\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?"
    r"|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b"
)
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_COUNT = (
    r"(?P<count>\d{1,3}|(?:an? )?couple(?: of)?|(?:a )?few|several|some|an?|"
    + "|".join(w for w in _NUMBERS if len(w) > 2 and " " not in w and w != "couple")
    + ")"
)
_SHIFT = r"(?P<shift>last|past|previous|this past|this coming|this|coming|upcoming|next)"


@dataclass(frozen=True, slots=True)
class When:
    """A date found in text: days `start` to `end` included, where it stood, how to say it.

    `relative` tells that it was said from the day of speaking ("yesterday").
    """

    start: date
    end: date
    label: str
    unit: Unit
    span: tuple[int, int] = (0, 0)
    relative: bool = False


def find_dates(text: str, said: date | datetime) -> list[When]:
    """Return the dates that `text`, said on day `said`, speaks of, in order, none overlapping."""
    day = said.date() if isinstance(said, datetime) else said
    found: list[When] = []
    taken: list[tuple[int, int]] = []
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            when = _read(read, match, day)
            if when is not None:
                taken.append(match.span())
                found.append(when)
    return sorted(found, key=lambda when: when.span)


def parse_when(text: str, now: date | datetime) -> tuple[date, date] | None:
    """Read `text` as one natural date or range of dates; None where it is not one.

    "since X" ends at `now`; "before X" starts at `date.min`; "after X" ends at `date.max`.
    """
    today = now.date() if isinstance(now, datetime) else now
    text = re.sub(r"^(?:(?:on|during|at|from|the)\s+)+", "", text.strip(" .?!"), flags=re.I)
    if match := re.fullmatch(r"(?:between\s+)?(.+?)\s+(?:and|to|until|till|-)\s+(.+)", text, re.I):
        last = parse_when(match[2], today)
        # In "May to July 2022" the year stands once and holds for both.
        bare = last and re.fullmatch(rf"(?:\d+ )?{_MONTH}(?: \d+)?", match[1], re.I)
        first = parse_when(match[1], last[0] if bare and last else today)
        if first and last:
            return min(first[0], last[0]), max(first[1], last[1])
    if match := re.fullmatch(r"(since|before|after|until|till|by)\s+(.+)", text, re.I):
        inner = parse_when(match[2], today)
        return inner and _bounded(match[1].lower(), inner, today)
    if match := re.fullmatch(rf"(?:the )?(?:last|past) {_COUNT} (\w+?)s?", text, re.I):
        count = _count(match["count"])
        if count is not None and match[2].lower() in ("day", "week", "month", "year"):
            return _minus(today, match[2].lower(), count), today
    if match := re.fullmatch(rf"(week|weekend|{_WEEKDAY}) (before|of|after) (.+)", text, re.I):
        anchor = parse_when(match[4], today)
        shift = {"before": "last", "of": "this", "after": "next"}[match[3].lower()]
        return anchor and parse_when(f"{shift} {match[1]}", anchor[0])
    for form in (
        text,
        f"in {text}",
        text.removeprefix("in "),
    ):  # "in two weeks" is one date, "two weeks" is none
        found = find_dates(form, today)
        if len(found) == 1 and found[0].span == (0, len(form)):
            return found[0].start, found[0].end
    return None


def say_day(day: date) -> str:
    """Return a day in words: `7 May 2023`."""
    return f"{day.day} {say_month(day)}"


def say_month(day: date) -> str:
    """Return a day's month in words: `May 2023`."""
    return f"{MONTHS[day.month - 1].capitalize()} {day.year}"


def _bounded(word: str, inner: tuple[date, date], today: date) -> tuple[date, date]:
    start, end = inner
    if word == "since":
        return start, max(start, today)
    if word == "after":
        return min(end, date.max - timedelta(1)) + timedelta(1), date.max
    if word == "before":
        return date.min, max(start, date.min + timedelta(1)) - timedelta(1)
    return date.min, end


_Reader = Callable[[re.Match[str], date], "When | None"]


def _read(read: _Reader, match: re.Match[str], said: date) -> When | None:
    try:
        when = read(match, said)
    except (ValueError, OverflowError):  # 31 February, a year out of range: not a date
        return None
    if when is None:
        return None
    return When(when.start, when.end, when.label, when.unit, match.span(), when.relative)


def _iso(match: re.Match[str], said: date) -> When:
    year, month = int(match["y"]), int(match["m"])
    return _one(date(year, month, int(match["d"]))) if match["d"] else _month(year, month)


def _day_of_month(match: re.Match[str], said: date) -> When | None:
    if not _month_is_meant(match):
        return None
    month, day = _month_number(match["month"]), int(match["day"])
    year = int(match["year"]) if match["year"] else _nearest_year(month, said)
    return _one(date(year, month, day))


def _month_and_year(match: re.Match[str], said: date) -> When | None:
    return _month(int(match["year"]), _month_number(match["month"]))


def _bare_month(match: re.Match[str], said: date) -> When | None:
    if not _month_is_meant(match):
        return None
    month = _month_number(match["month"])
    return _month(_nearest_year(month, said), month)


def _shifted_month(match: re.Match[str], said: date) -> When:
    month, step = _month_number(match["month"]), _step(match["shift"])
    year = said.year
    if step < 0 and month >= said.month:
        year -= 1
    elif step > 0 and month <= said.month:
        year += 1
    return _month(year, month, relative=True)


def _bare_year(match: re.Match[str], said: date) -> When:
    year = int(match["year"])
    return _year(year, relative=False)


def _named_day(match: re.Match[str], said: date) -> When:
    words = re.sub(r"\s+", " ", match[0].lower())
    if words.endswith("before yesterday"):
        shift = -2
    elif words.endswith("after tomorrow"):
        shift = 2
    elif words in ("yesterday", "last night"):
        shift = -1
    else:
        shift = 1 if words == "tomorrow" else 0
    return _one(said + timedelta(shift), relative=True)


def _shifted_weekday(match: re.Match[str], said: date) -> When:
    index = [name[:3] for name in WEEKDAYS].index(match["weekday"][:3].lower())
    step = _step(match["shift"])
    away = (index - said.weekday()) % 7 or 7
    day = said + timedelta(away if step >= 0 else away - 7 if away < 7 else -7)
    side = "before" if step < 0 else "after"
    label = f"the {WEEKDAYS[index].capitalize()} {side} {say_day(said)}"
    return When(day, day, label, "day", relative=True)


def _bare_weekday(match: re.Match[str], said: date) -> When | None:
    # Without more words, the last one that was: people tell what they did.
    name = match["weekday"]
    if not name[0].isupper() or not name.lower().endswith("day"):
        return None
    index = WEEKDAYS.index(name.lower())
    day = said - timedelta((said.weekday() - index) % 7 or 7)
    label = f"the {name.capitalize()} before {say_day(said)}"
    return When(day, day, label, "day", relative=True)


def _shifted_unit(match: re.Match[str], said: date) -> When:
    step, unit = _step(match["shift"]), match["unit"].lower()
    if unit == "year":
        return _year(said.year + step)
    if unit == "month":
        moved = _add_months(said, step)
        return _month(moved.year, moved.month, relative=True)
    monday = said - timedelta(said.weekday())
    side = ("before", "of", "after")[step + 1]
    if unit == "week":
        start = monday + timedelta(7 * step)
        label = f"the week {side} {say_day(said)}"
        return When(start, start + timedelta(6), label, "week", relative=True)
    return _weekend(match, said, monday, step)


def _weekend(match: re.Match[str], said: date, monday: date, step: int) -> When:
    if match["shift"].lower() == "this past" or (step < 0 and said.weekday() < 5):
        saturday = monday - timedelta(2)
    else:
        saturday = monday + timedelta(5 + 7 * min(step, 0))
        if step > 0 and said.weekday() >= 5:
            saturday += timedelta(7)
    side = ("before", "of", "after")[step + 1]
    label = f"the weekend {side} {say_day(said)}"
    return When(saturday, saturday + timedelta(1), label, "weekend", relative=True)


def _shifted_season(match: re.Match[str], said: date) -> When:
    season, step = match["season"].lower(), _step(match["shift"])
    first = _SEASONS[season]
    year = said.year
    if step < 0 and (said.month < first + 3 or first == 12):
        year -= 1
    elif step > 0 and said.month >= first:
        year += 1
    return _season(season, year, relative=True)


def _season_of_year(match: re.Match[str], said: date) -> When:
    return _season(match["season"].lower(), int(match["year"]), relative=False)


def _ago(match: re.Match[str], said: date) -> When | None:
    return _moved(match, said, -1)


def _ahead(match: re.Match[str], said: date) -> When | None:
    return _moved(match, said, 1)


def _moved(match: re.Match[str], said: date, sign: int) -> When | None:
    unit, word = match["unit"].lower(), match["count"].lower()
    side = "before" if sign < 0 else "after"
    if word in _FEW:
        near = _minus(said, unit, 2 if sign < 0 else -2)
        far = _minus(said, unit, 5 if sign < 0 else -5)
        label = f"a few {unit}s {side} {say_day(said)}"
        return When(min(near, far), max(near, far), label, "day", relative=True)
    count = _count(word)
    if count is None:
        return None
    day = _minus(said, unit, -sign * count)
    if unit == "day":
        return _one(day, relative=True)
    if unit == "week":
        label = f"{count} weeks {side} {say_day(said)}" if count > 1 else ""
        label = label or f"the week {side} {say_day(said)}"
        return When(day - timedelta(3), day + timedelta(3), label, "week", relative=True)
    return _month(day.year, day.month, relative=True) if unit == "month" else _year(day.year)


def _one(day: date, *, relative: bool = False) -> When:
    return When(day, day, say_day(day), "day", relative=relative)


def _month(year: int, month: int, *, relative: bool = False) -> When:
    first = date(year, month, 1)
    last = first.replace(day=monthrange(year, month)[1])
    return When(first, last, say_month(first), "month", relative=relative)


def _season(season: str, year: int, *, relative: bool) -> When:
    start = date(year, _SEASONS[season], 1)
    end = _add_months(start, 3) - timedelta(1)
    return When(start, end, f"the {season} of {year}", "season", relative=relative)


def _year(year: int, *, relative: bool = True) -> When:
    return When(date(year, 1, 1), date(year, 12, 31), str(year), "year", relative=relative)


def _step(shift: str) -> int:
    words = shift.lower()
    if words in ("last", "past", "previous", "this past"):
        return -1
    return 0 if words == "this" else 1


def _count(word: str) -> int | None:
    word = re.sub(r"\s+", " ", word.lower())
    return int(word) if word.isdigit() else _NUMBERS.get(word)


def _minus(day: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return day - timedelta(count * (7 if unit == "week" else 1))
    return _add_months(day, -count * (12 if unit == "year" else 1))


def _add_months(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _month_number(word: str) -> int:
    return [m[:3] for m in MONTHS].index(word[:3].lower()) + 1


def _nearest_year(month: int, said: date) -> int:
    distance = (month - said.month + 6) % 12 - 6
    return _add_months(said.replace(day=1), distance).year


def _month_is_meant(match: re.Match[str]) -> bool:
    # "may", "march", "mar" and "sun" are words too: a month is written with a capital.
    return match["month"][0].isupper()


def _rule(pattern: str, read: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(rf"\b(?:{pattern})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE), read


_BEFORE_YEAR = "in|since|during|by|year|from|until|before|after"
_UNIT_S = r"(?P<unit>day|week|month|year)s?"
# Longer forms first: what one rule has read, no later rule reads again.
_RULES = (
    _rule(r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?", _iso),
    _rule(rf"{_DAY}(?: of)? {_MONTH},?(?: (?:of )?{_YEAR})?", _day_of_month),
    _rule(rf"{_MONTH} {_DAY}(?!:)(?:,? {_YEAR})?", _day_of_month),
    _rule(rf"{_MONTH},?(?: of)? {_YEAR}", _month_and_year),
    _rule(rf"{_SEASON},?(?: of| in)? {_YEAR}", _season_of_year),
    _rule(rf"{_COUNT} {_UNIT_S} (?:ago|back|earlier)", _ago),
    _rule(rf"in {_COUNT} {_UNIT_S}", _ahead),
    _rule(rf"{_COUNT} {_UNIT_S} from now", _ahead),
    _rule(
        "(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|last night|tomorrow"
        "|today|tonight|this (?:morning|afternoon|evening)",
        _named_day,
    ),
    _rule(rf"{_SHIFT} {_MONTH}", _shifted_month),
    _rule(rf"{_SHIFT} {_WEEKDAY}", _shifted_weekday),
    _rule(rf"{_SHIFT} {_SEASON}", _shifted_season),
    _rule(rf"{_SHIFT} (?P<unit>weekend|week|month|year)", _shifted_unit),
    # A bare number is a year only where a word before it says so: "in 2016".
    _rule(rf"(?:{_BEFORE_YEAR}) {_YEAR}", _bare_year),
    _rule(_MONTH, _bare_month),
    _rule(_WEEKDAY, _bare_weekday),
)
