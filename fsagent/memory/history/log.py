"""Reading the history: commits with filters, one revision by any name, differences as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from fsagent.dates import parse_when
from fsagent.errors import HistoryError
from fsagent.memory.history.git import Git
from fsagent.memory.history.messages import trailers_of

_FIELDS = "%H%x00%P%x00%at%x00%an%x00%ae%x00%B%x00"
_NAME = re.compile(r"[0-9A-Za-z][\w./-]*(?:[~^]\d*)*")
_BYS = ("agent", "person", "sleep", "outside")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. `by` is agent, person, sleep or outside; a person's own commits are `person`."""

    id: str
    parents: tuple[str, ...]
    ts: datetime
    author: str
    by: str
    subject: str
    message: str
    trailers: dict[str, str] = field(default_factory=dict)

    @property
    def turn(self) -> str:
        """The turn that made it, or nothing."""
        return self.trailers.get("Turn", "")

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a commit."""
        return {
            "commit": self.id,
            "ts": self.ts.isoformat(timespec="seconds"),
            "by": self.by,
            "author": self.author,
            "subject": self.subject,
            "turn": self.turn,
            "tools": [name for name in self.trailers.get("Tool", "").split(", ") if name],
            "model": self.trailers.get("Model", ""),
            "cost": self.trailers.get("Cost", ""),
            "source": self.trailers.get("Source", ""),
        }


def newest_trailers(git: Git, key: str, *, limit: int) -> list[str]:
    """Return the values of a trailer in the newest commits that have it, newest first."""
    grep = f"--grep=^{key}: "
    output = git.run("log", "-z", f"-n{limit}", f"--format={_FIELDS}", grep, "HEAD", "--")
    return [one.trailers[key] for one in _parse(output, None) if key in one.trailers]


def read_log(
    git: Git,
    revision: str,
    *,
    paths: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    tool: str | None = None,
    by: str | None = None,
    turn: str | None = None,
    changing: str | None = None,
    zone: tzinfo | None = None,
    limit: int | None = None,
) -> list[Commit]:
    """Return commits, newest first. `revision` is a commit or a range; `paths` files or folders.

    `changing` keeps those that change how often a text stands in the files, ignoring case.
    """
    count = [f"-n{limit}"] if limit and not (since or until or tool or by or turn) else []
    # Only narrows what is read; the trailers decide.
    grep = ["-F", f"--grep=Turn: {turn}"] if turn else []
    where = ["--", *paths]
    if changing is not None:
        grep += ["-i", "--pickaxe-regex", f"-S{_git_regex(changing)}"]
    output = git.run(
        "log", "-z", f"--format={_FIELDS}", *count, *grep, "--end-of-options", revision, *where
    )
    found = [
        commit
        for commit in _parse(output, zone)
        if (since is None or commit.ts >= since)
        and (until is None or commit.ts <= until)
        and (tool is None or tool in commit.as_dict()["tools"])
        and (by is None or commit.by == by)
        and (turn is None or commit.turn == turn)
    ]
    return found[:limit] if limit else found


def one_commit(git: Git, name: str, *, zone: tzinfo | None = None) -> Commit:
    """Return one commit by its name as git knows it."""
    output = git.run("log", "-1", "-z", f"--format={_FIELDS}", "--end-of-options", name, "--")
    return next(_parse(output, zone))


def commits_named(git: Git, names: Iterable[str], zone: tzinfo | None) -> dict[str, Commit]:
    """Return commits by their full names."""
    feed = "".join(f"{name}\n" for name in names).encode()
    if not feed:
        return {}
    output = git.run("log", "-z", f"--format={_FIELDS}", "--no-walk=unsorted", "--stdin", feed=feed)
    return {commit.id: commit for commit in _parse(output, zone)}


def commit_at(git: Git, moment: datetime) -> str | None:
    """Return the last commit made at or before a moment, None where there was none."""
    found = git.text(
        "rev-list", "-1", "--first-parent", f"--before={int(moment.timestamp())}", "HEAD"
    )
    return found or None


def resolve(git: Git, name: str, *, now: datetime) -> str:
    """Return the commit that `name` means: a commit, a turn, a branch, or a day (its end).

    Raises `HistoryError` with what may be written.
    """
    turns = read_log(git, "HEAD", turn=name, limit=1)
    if turns:
        return turns[0].id
    if _NAME.fullmatch(name):
        found = git.text("rev-parse", "-q", "--verify", f"{name}^{{commit}}", allowed=(0, 1, 128))
        if found:
            return found
    moment = read_moment(name, now=now, end=True)
    if moment is not None:
        at = commit_at(git, moment)
        if at is None:
            raise HistoryError(f"there was no commit yet at {moment:%Y-%m-%d %H:%M}")
        return at
    raise HistoryError(f"{name!r} is no commit, turn or date here; fsagent log shows what there is")


def read_moment(text: str, *, now: datetime, end: bool) -> datetime | None:
    """Return the moment a text means: an ISO time, or a day's start (or with `end` its end)."""
    try:
        exact = datetime.fromisoformat(text)
    except ValueError:
        exact = None
    if exact is not None and len(text) > len("2026-11-30"):
        return exact if exact.tzinfo else exact.replace(tzinfo=now.tzinfo)
    days = (exact.date(), exact.date()) if exact else parse_when(text, now)
    if days is None:
        return None
    day: date = days[1] if end else days[0]
    if day in (date.min, date.max):
        return None
    start = datetime.combine(day, time(), tzinfo=now.tzinfo)
    return start + timedelta(days=1, seconds=-1) if end else start


def diff_text(
    git: Git, old: str | None, new: str, *, paths: Sequence[str] = (), words: bool = False
) -> str:
    """Return the difference of two trees or commits as a unified diff, without recall unless named.

    `old` None stands for nothing at all. `words` gives git's porcelain of word differences: lines
    that begin with a space, `+` or `-` are pieces of a line, which `~` ends.
    """
    base = old or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
    chosen = list(paths) or [path for path in _top(git, base) | _top(git, new) if path != "recall"]
    if not chosen:
        return ""
    options = ["-p", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "-M"]
    options += ["--word-diff=porcelain"] if words else []
    output = git.run("diff-tree", *options, base, new, "--", *sorted(chosen))
    return output.decode("utf-8", "replace")


def _git_regex(text: str) -> str:
    """Return a POSIX extended regular expression that matches a text as it is."""
    return re.sub(r"([][\\^$.|?*+(){}])", r"\\\1", text)


def _top(git: Git, tree: str) -> set[str]:
    names = git.run("ls-tree", "-z", "--name-only", tree)
    return set(names.decode("utf-8", "surrogateescape").split("\0")) - {""}


def _parse(output: bytes, zone: tzinfo | None) -> Iterator[Commit]:
    parts = output.decode("utf-8", "replace").split("\0")
    for at in range(0, len(parts) - 6, 7):
        commit, parents, when, author, email, message = parts[at : at + 6]
        yield Commit(
            id=commit.strip("\n"),
            parents=tuple(parents.split()),
            ts=datetime.fromtimestamp(int(when)).astimezone(zone),
            author=author,
            by=_by(email),
            subject=message.partition("\n")[0],
            message=message.strip(),
            trailers=trailers_of(message),
        )


def _by(email: str) -> str:
    name, _, domain = email.partition("@")
    return name if name in _BYS and domain == "fsagent.invalid" else "person"
