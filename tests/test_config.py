"""Settings: where each value comes from, what is refused, what is kept secret."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from fsagent.config import Settings, load_settings, masked, setting_names, user_settings_path, zone
from fsagent.errors import ConfigError


def load(root: Path, text: str, env: dict[str, str] | None = None, **flags: Any) -> Settings:
    (root / "fsagent.yaml").write_text(text, encoding="utf-8")
    return load_settings(root, env or {}, flags)


def test_the_later_source_wins_and_is_named(tmp_path: Path) -> None:
    user = tmp_path / "user.yaml"
    user.write_text("model: user\nmax_steps: 3\ncore_tokens: 7\napi_key: sk-user\n")
    env = {"FSAGENT_CONFIG": str(user), "FSAGENT_MODEL": "env", "FSAGENT_CONTEXT_TOKENS": "99"}
    settings = load(tmp_path, "model: file\nmax_steps: 4\n", env, model="flag", profile=None)
    assert (settings.model, settings.max_steps, settings.core_tokens) == ("flag", 4, 7)
    assert settings.context_tokens == 99
    assert settings.origins == {
        "model": "flag",
        "max_steps": "fsagent.yaml",
        "core_tokens": str(user),
        "api_key": str(user),
        "context_tokens": "environment FSAGENT_CONTEXT_TOKENS",
    }


def test_nothing_set_is_the_defaults() -> None:
    settings = load_settings(None, {})
    assert settings == Settings()
    assert settings.origins == {}
    assert "origins" not in setting_names()


def test_our_own_variable_wins_over_openais(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": "sk-a", "FSAGENT_API_KEY": "sk-b", "OPENAI_BASE_URL": "http://x/v1"}
    settings = load(tmp_path, "", env)
    assert (settings.api_key, settings.base_url) == ("sk-b", "http://x/v1")


def test_unknown_keys_are_kept_and_named(tmp_path: Path) -> None:
    settings = load(tmp_path, "modle: x\nplugins:\n  a: 1\n")
    assert settings.unknown == {"modle": "fsagent.yaml", "plugins": "fsagent.yaml"}


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "\ufeffmodel: offline\n", "model:\n"])
def test_an_empty_file_sets_nothing(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Settings()


@pytest.mark.parametrize(
    "line",
    [
        "max_steps: many",
        "max_steps: 0",
        "max_steps: -1",
        "max_steps: 2.5",
        "max_steps: true",
        "max_steps: [1]",
        "context_tokens: 0",
        "timeout_s: .nan",
        "timeout_s: .inf",
        "timeout_s: 0",
        "day_start: 24",
        "day_start: -1",
        "temperature: -1",
        "profile: letta",
        "tool_mode: xml",
        "model: [a]",
        "model: {a: b}",
        "model: yes",
        "base_url: localhost:8000",
        "timezone: Mars/Olympus",
        "timezone: Europe",
        "timezone: ../../etc/passwd",
        "timezone: /etc/localtime",
        "user_name: 2026-11-30",
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_origin(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, line)
    assert line.partition(":")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("max_steps: 3.0", "max_steps", 3),
        ("max_steps: '3'", "max_steps", 3),
        ("model: 4", "model", "4"),
        ("temperature: 0", "temperature", 0.0),
        ("max_heartbeats: 0", "max_heartbeats", 0),
        ("day_start: 23", "day_start", 23),
        ("timezone: Europe/Berlin", "timezone", "Europe/Berlin"),
        ("model: ''", "model", "offline"),
    ],
)
def test_a_value_is_taken_as_what_it_means(
    tmp_path: Path, line: str, name: str, value: object
) -> None:
    assert getattr(load(tmp_path, line), name) == value


@pytest.mark.parametrize(
    "text", ["a: [", "- a\n- b\n", "just text", "a: b: c", "a: \x00", "? [" * 400, "!!python/x 1"]
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"fsagent\.yaml"):
        load(tmp_path, text)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fsagent.yaml").write_bytes(b"user_name: J\xfcrgen\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_settings(tmp_path, {})


def test_a_key_in_the_versioned_file_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        load(tmp_path, "api_key: sk-very-secret\n")
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ['api_key: "sk-very-secret', "api_key: [sk-very-secret]", "api_key: {a: sk-very-secret}"],
)
def test_a_key_in_a_broken_user_file_is_not_shown(tmp_path: Path, text: str) -> None:
    user = tmp_path / "user.yaml"
    user.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(None, {"FSAGENT_CONFIG": str(user)})
    assert "very-secret" not in str(caught.value)


def test_a_key_is_masked_wherever_settings_are_shown() -> None:
    settings = Settings(api_key="sk-very-secret")
    assert "very-secret" not in repr(settings)
    assert masked("api_key", settings.api_key) == "sk-...(14 characters)"
    assert masked("model", "offline") == "offline"
    assert masked("base_url", None) == ""


def test_values_given_in_code_are_checked_too() -> None:
    assert Settings().with_values("test", max_steps=5).max_steps == 5
    with pytest.raises(ConfigError):
        Settings().with_values("test", max_steps=0)


def test_the_users_file_is_where_the_platform_keeps_it() -> None:
    assert user_settings_path({}) is None
    assert user_settings_path({"FSAGENT_CONFIG": "/x.yaml"}) == Path("/x.yaml")
    found = user_settings_path({"XDG_CONFIG_HOME": "/c", "APPDATA": "/c", "HOME": "/h"})
    assert found is not None
    assert found.as_posix().endswith("fsagent/config.yaml")


def test_a_zone_that_is_not_set_is_the_systems() -> None:
    assert zone(None) is None
    assert str(zone("Asia/Shanghai")) == "Asia/Shanghai"


def test_the_page_of_the_workspace_names_every_setting_with_its_default() -> None:
    page = (ROOT / "docs/workspace.md").read_text(encoding="utf-8")
    section = page.partition("## Settings\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `")]
    told = {
        name: default.strip() for names, default in rows for name in re.findall(r"`(\w+)`", names)
    }
    for name in setting_names():
        value = getattr(Settings(), name)
        shown = f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
        assert told[name] == shown, name
