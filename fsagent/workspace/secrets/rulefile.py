"""A person's own rules: `secrets.yaml` in the workspace and in the user's config folder.

    rules:
      - name: acme key
        pattern: acme_[a-z0-9]{24}      # RE2
    allow:
      - acme_0{24}                      # RE2; must fit the whole of what was found

Both files count together. A file that cannot be used as a whole is an error that names its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsagent.config import environment, user_settings_path
from fsagent.errors import ConfigError

NAME = "secrets.yaml"
MAX_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class OwnRules:
    """A person's patterns by name, and what is never a secret; compiled RE2."""

    patterns: tuple[tuple[str, Any], ...] = ()
    allowed: tuple[Any, ...] = ()


def own_rules(root: Path) -> OwnRules:
    """Return the rules that hold in a workspace. Raises `ConfigError` with file and line."""
    settings = user_settings_path(environment())
    files = [settings.parent / NAME] if settings is not None else []
    read = [_read(file) for file in [*files, root / NAME] if file.is_file()]
    return OwnRules(
        tuple(pattern for rules in read for pattern in rules.patterns),
        tuple(pattern for rules in read for pattern in rules.allowed),
    )


def _read(path: Path) -> OwnRules:
    import yaml

    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path} is not UTF-8 text; save it as UTF-8") from err
    except OSError as err:
        raise ConfigError(f"{path} cannot be read: {err.strerror}") from err
    except (yaml.YAMLError, RecursionError) as err:
        mark = getattr(err, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: not valid YAML") from err
    patterns: list[tuple[str, Any]] = []
    allowed: list[Any] = []
    for key, node in _pairs(path, root) if root is not None else ():
        if key.value == "rules":
            patterns += [_rule(path, item) for item in _items(path, node)]
        elif key.value == "allow":
            allowed += [_compiled(path, item) for item in _items(path, node)]
        else:
            raise _wrong(path, key, f"{key.value!r} is unknown; write rules or allow")
    return OwnRules(tuple(patterns), tuple(allowed))


def _rule(path: Path, node: Any) -> tuple[str, Any]:
    parts = {key.value: value for key, value in _pairs(path, node)}
    if set(parts) != {"name", "pattern"}:
        raise _wrong(path, node, "a rule has a name and a pattern, and nothing else")
    name = " ".join(str(parts["name"].value).split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable() or "]" in name:
        raise _wrong(path, parts["name"], f"a name is 1 to {MAX_NAME_CHARS} plain characters")
    return name, _compiled(path, parts["pattern"])


def _compiled(path: Path, node: Any) -> Any:
    import re2

    if not isinstance(node.value, str) or not node.value:
        raise _wrong(path, node, "a pattern is text; put it into single quotes")
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(node.value, options)
    except re2.error as err:
        raise _wrong(path, node, f"the pattern is not valid RE2 ({_reason(err)})") from err
    if pattern.search("") is not None:
        raise _wrong(path, node, "the pattern matches the empty text; make it narrower")
    return pattern


def _reason(err: Exception) -> str:
    reason = err.args[0] if err.args else "unreadable"
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _pairs(path: Path, node: Any) -> Iterator[tuple[Any, Any]]:
    if getattr(node, "id", "") != "mapping":
        raise _wrong(path, node, "write keys with values here, such as rules: or name:")
    yield from node.value


def _items(path: Path, node: Any) -> Iterator[Any]:
    if getattr(node, "id", "") != "sequence":
        raise _wrong(path, node, "write a list here, each item behind a hyphen")
    yield from node.value


def _wrong(path: Path, node: Any, reason: str) -> ConfigError:
    return ConfigError(f"{path}:{node.start_mark.line + 1}: {reason}")
