"""Settings: defaults, the user's file, the workspace's file, the environment, flags; the later wins."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from fsagent.errors import ConfigError

SETTINGS_NAME = "fsagent.yaml"
SECRET_KEYS = frozenset({"api_key"})
_ENVIRONMENT = {"api_key": "OPENAI_API_KEY", "base_url": "OPENAI_BASE_URL"}
_LEAST = {
    "temperature": 0.0,
    "max_turn_usd": 0.0,
    "max_day_usd": 0.0,
    "max_sleep_usd": 0.0,
    "sleep_after_s": 0.0,
    "max_heartbeats": 0,
    "max_retries": 0,
    "day_start": 0,
    "timeout_s": 0.001,
    "idle_timeout_s": 0.001,
}
_MOST = {"day_start": 23}
_NAMES = tuple[str, ...]
_CHOICES = {"profile": ("filesystem", "memgpt"), "tool_mode": ("auto", "native", "json")}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. Times in seconds, sizes in tokens unless the name says."""

    model: str = "offline"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    profile: str = "filesystem"
    tool_mode: str = "auto"
    heartbeat_model: str | None = None
    sleep_model: str | None = None
    sleep_after_s: float = 30.0
    max_sleep_tokens: int | None = 200_000
    max_sleep_usd: float | None = None
    judge_model: str | None = None
    temperature: float | None = None
    max_steps: int = 12
    max_tokens: int | None = None
    max_turn_tokens: int | None = None
    max_day_tokens: int | None = None
    max_turn_usd: float | None = None
    max_day_usd: float | None = None
    max_heartbeats: int = 3
    context_tokens: int = 32_768
    core_tokens: int = 2_000
    timeout_s: float = 120.0
    idle_timeout_s: float = 60.0
    max_retries: int = 4
    local_ports: str = "11434 8080 1234 8000"
    timezone: str | None = None
    day_start: int = 0
    language: str = "en"
    embeddings: str | None = None
    embeddings_base_url: str | None = None
    shared: str | None = None
    shared_blocks: tuple[str, ...] | None = None
    user_name: str = "user"
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    unknown: Mapping[str, str] = field(default_factory=dict, compare=False)

    def with_values(self, origin: str, **values: Any) -> Settings:
        """Return a copy with some values set, checked, and their origin noted."""
        return _merge(self, values, origin)


def setting_names() -> list[str]:
    """Return the names of all settings, in their order."""
    return [item.name for item in fields(Settings) if item.name not in ("origins", "unknown")]


def load_settings(
    root: Path | None, env: Mapping[str, str], flags: Mapping[str, Any] | None = None
) -> Settings:
    """Return the settings in force for a workspace (None: outside of one).

    Raises `ConfigError` for a file that is not a YAML mapping and for a value of the wrong type,
    with the file and what is allowed. Unknown keys are kept and named in `unknown`.
    """
    settings = Settings()
    user_file = user_settings_path(env)
    if user_file is not None and user_file.is_file():
        settings = _merge(settings, _read_yaml(user_file), str(user_file))
    if root is not None and (root / SETTINGS_NAME).is_file():
        values = _read_yaml(root / SETTINGS_NAME)
        for key in SECRET_KEYS & values.keys():
            raise ConfigError(
                f"{SETTINGS_NAME} holds {key}; this file is versioned. "
                f"Set {_ENVIRONMENT[key]} in the environment, or put it into {user_file}"
            )
        settings = _merge(settings, values, SETTINGS_NAME)
    for name, key in _environment_values(env):
        settings = _merge(settings, {name: env[key]}, f"environment {key}")
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    return _merge(settings, given, "flag")


def user_settings_path(env: Mapping[str, str]) -> Path | None:
    """Return the user's settings file in the platform's config folder, None where home is unknown."""
    if env.get("FSAGENT_CONFIG"):
        return Path(env["FSAGENT_CONFIG"])
    if sys.platform == "win32":
        base: str | None = env.get("APPDATA")
    elif env.get("XDG_CONFIG_HOME"):
        base = env.get("XDG_CONFIG_HOME")
    else:
        home = env.get("HOME")
        inner = "Library/Application Support" if sys.platform == "darwin" else ".config"
        base = str(Path(home) / inner) if home else None
    return Path(base) / "fsagent" / "config.yaml" if base else None


def environment() -> Mapping[str, str]:
    """Return the process's environment: the one place that reads it."""
    return os.environ


def masked(name: str, value: object) -> str:
    """Return a setting's value for showing, secrets masked."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    return (
        f"{str(value)[:3]}...({len(str(value))} characters)" if name in SECRET_KEYS else str(value)
    )


def _environment_values(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in setting_names():
        for key in (_ENVIRONMENT.get(name), f"FSAGENT_{name.upper()}"):
            if key and env.get(key):
                yield name, key


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path} is not valid YAML in UTF-8") from err
    except OSError as err:
        raise ConfigError(f"{path} cannot be read: {err.strerror}") from err
    if all(not line.strip() or line.startswith("#") for line in text.splitlines()):
        return {}  # the template as it is laid: loading YAML is a tenth of a command's start
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as err:
        # The library's own text quotes the line, and the line may hold a key.
        mark, problem = getattr(err, "problem_mark", None), getattr(err, "problem", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: not valid YAML ({problem or 'unreadable'})") from None
    except RecursionError as err:
        raise ConfigError(f"{path} is not valid YAML in UTF-8") from err
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path} is not a mapping of settings; write lines such as model: offline"
        )
    return {str(key): value for key, value in values.items()}


def _merge(settings: Settings, values: Mapping[str, Any], origin: str) -> Settings:
    import dataclasses

    known: dict[str, Any] = {}
    origins, unknown = dict(settings.origins), dict(settings.unknown)
    hints = get_type_hints(Settings)
    names = set(setting_names())
    for key, value in values.items():
        if key not in names:
            unknown[key] = origin
        elif value is not None and value != "":
            known[key] = _coerce(key, value, hints[key], origin)
            origins[key] = origin
    return dataclasses.replace(settings, **known, origins=origins, unknown=unknown)


def _coerce(key: str, value: Any, hint: Any, origin: str) -> Any:
    kinds = (hint,) if get_origin(hint) is tuple else get_args(hint) or (hint,)
    wanted = next((kind for kind in kinds if kind is not type(None)), str)
    shown = masked(key, value) if key in SECRET_KEYS else repr(value)
    try:
        result = _converted(value, wanted)
    except (TypeError, ValueError, OverflowError) as err:
        kind = {int: "a whole number", float: "a number", _NAMES: "a list of names, [a, b]"}.get(
            wanted, "text"
        )
        raise ConfigError(f"{key} is {shown} ({origin}); write {kind}") from err
    _check_range(key, result, origin)
    if key in _CHOICES and result not in _CHOICES[key]:
        raise ConfigError(
            f"{key} is {result!r} ({origin}); write one of: {', '.join(_CHOICES[key])}"
        )
    if key.endswith("base_url") and "://" not in result:
        raise ConfigError(
            f"{key} {result!r} ({origin}) has no scheme; write http://... or https://..."
        )
    if key == "timezone":
        zone(result)
    return result


def _converted(value: Any, wanted: Any) -> Any:
    if wanted == _NAMES:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
            raise ValueError
        return tuple(one.strip() for one in names if one.strip())
    if isinstance(value, bool) or (wanted is str and not isinstance(value, (str, int, float))):
        raise ValueError
    result = wanted(value)
    if wanted is int and isinstance(value, float) and value != result:
        raise ValueError
    if wanted is float and not math.isfinite(result):
        raise ValueError
    return result


def _check_range(key: str, value: object, origin: str) -> None:
    if not isinstance(value, (int, float)):
        return
    least, most = _LEAST.get(key, 1), _MOST.get(key)
    if value < least or (most is not None and value > most):
        allowed = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"
        raise ConfigError(f"{key} is {value!r} ({origin}); write {allowed}")


def zone(name: str | None) -> Any:
    """Return the time zone of that name, None for the system's. Raises `ConfigError` if unknown."""
    if name is None:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise ConfigError(
            f"timezone {name!r} is unknown; write a name such as Europe/Berlin"
        ) from err
