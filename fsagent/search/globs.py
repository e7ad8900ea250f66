"""File globs with ripgrep's meaning: `*.md`, `notes/**`, `{a,b}`, `!drafts`; the last match wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fsagent.errors import BadArguments


def glob_filter(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a test of workspace-relative paths.

    A glob without `/` is compared with names at any depth, one with `/` with the path from the
    workspace's root; `*` and `?` stop at `/`. `!` excludes, folders with all that is in them. With
    a glob that includes, what no glob names is left out.
    """
    rules = [(glob.startswith("!"), _regex(glob.removeprefix("!"))) for glob in globs]
    default = all(excludes for excludes, _ in rules)

    def allows(path: str) -> bool:
        parents = [path[:at] + "/" for at, char in enumerate(path) if char == "/"]
        if any(_verdict(rules, parent, True) is False for parent in parents):
            return False
        verdict = _verdict(rules, path, default)
        return default if verdict is None else verdict

    return allows


def _verdict(
    rules: Sequence[tuple[bool, re.Pattern[str]]], name: str, default: bool
) -> bool | None:
    for excludes, regex in reversed(rules):
        if regex.fullmatch(name):
            return not excludes
    return None if name.endswith("/") else default


def _regex(glob: str) -> re.Pattern[str]:
    body = glob.removesuffix("/")
    anchored = "/" in body
    body = body.removeprefix("/")
    if not body:
        raise BadArguments(f"glob {glob!r} names nothing; write one such as *.md or notes/**")
    try:
        regex = _translate(body)
    except IndexError as err:
        raise BadArguments(f"glob {glob!r} has an open [ or {{; close it") from err
    tail = "/" if glob.endswith("/") else "/?"
    return re.compile(("" if anchored else "(?:.*/)?") + regex + tail, re.DOTALL)


def _translate(glob: str) -> str:
    out, at, depth = "", 0, 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
            continue
        if glob[at:] == "**" and (at == 0 or glob[at - 1] == "/"):
            return out + ".+"
        if char == "[":
            piece, at = _char_class(glob, at)
            out += piece
            continue
        if char == "\\" and at + 1 < len(glob):
            at += 1
            out += re.escape(glob[at])
        elif char == "{":
            out, depth = out + "(?:", depth + 1
        elif char == "}" and depth:
            out, depth = out + ")", depth - 1
        elif char == "," and depth:
            out += "|"
        else:
            out += {"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char)
        at += 1
    if depth:
        raise IndexError
    return out


def _char_class(glob: str, at: int) -> tuple[str, int]:
    end = at + 1 + (glob[at + 1] in "!^")
    end = glob.find("]", end + 1)
    if end < 0:
        raise IndexError
    inner = glob[at + 1 : end]
    negated = inner[0] in "!^"
    inner = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("[", "\\[")
    return f"(?!/)[{'^' if negated else ''}{inner}]", end + 1
