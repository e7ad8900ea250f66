"""doctor: checks the installation, the workspace and the model, and says what to do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fsagent.cli.common import (
    counted,
    json_option,
    model_options,
    say,
    say_json,
    workspace_option,
    workspace_root,
)
from fsagent.config import Settings, environment, load_settings, masked
from fsagent.errors import ConfigError, CorruptFile, FsagentError, WorkspaceError

if TYPE_CHECKING:
    from fsagent.memory.workspace import Workspace

_PACKAGES = (
    "click",
    "filelock",
    "google-re2",
    "openai",
    "PyStemmer",
    "pyyaml",
    "rapidfuzz",
    "rich",
    "tantivy",
    "watchdog",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    name: str
    status: Literal["ok", "warn", "fail"]
    words: str


@click.command()
@workspace_option
@model_options
@click.option(
    "--probe", is_flag=True, help="Ask the endpoint a few short questions to learn what it can do."
)
@json_option
def doctor(
    *,
    workspace: str | None,
    as_json: bool,
    probe: bool,
    model: str | None,
    base_url: str | None,
    profile: str | None,
) -> int:
    """Check the installation, the workspace and the model.

    Exit status 2 when a check fails.
    """
    flags = {"model": model, "base_url": base_url, "profile": profile}
    checks = list(_installation())
    root, found = _find(workspace)
    checks.append(found)
    try:
        settings = load_settings(root, environment(), flags)
        checks.append(
            Check("settings", "ok", f"model {settings.model}, profile {settings.profile}")
        )
    except FsagentError as err:
        settings = Settings()
        checks.append(Check("settings", "fail", str(err)))
    if root is not None:
        checks += _workspace(root, settings)
    checks += _model(settings, root, probe)
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        for check in checks:
            say(f"{check.status:<4}  {check.name:<12}  {check.words}")
    return 2 if any(check.status == "fail" for check in checks) else 0


def _installation() -> Iterator[Check]:
    from importlib.metadata import PackageNotFoundError, version

    python = ".".join(map(str, sys.version_info[:3]))
    yield Check(
        "python", "ok" if sys.version_info >= (3, 11) else "fail", f"{python} at {sys.executable}"
    )
    missing = []
    for package in _PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(package)
    if missing:
        yield Check(
            "packages", "fail", f"missing: {', '.join(missing)}; install fsagent again with pip"
        )
    else:
        yield Check("packages", "ok", f"all {len(_PACKAGES)} are installed")
    git = shutil.which("git")
    words = git or "not found: memory works, its history is not kept; install git"
    yield Check("git", "ok" if git else "warn", words)
    yield from _extras()


def _extras() -> Iterator[Check]:
    """Say which optional parts are there, and how to get the others; none of them is a fault."""
    from fsagent.search import minilm

    extras = {
        "bench": (("nltk", "numpy"), "pip install 'fsagent[bench]'"),
        "vectors": (minilm.MODULES, minilm.INSTALL),
        "ray": (("ray",), "pip install 'fsagent[ray]'"),
    }
    for name, (modules, command) in extras.items():
        missing = [module for module in modules if find_spec(module) is None]
        words = f"not installed ({', '.join(missing)}): {command}" if missing else "installed"
        yield Check(f"  [{name}]", "ok", words)


def _find(workspace: str | None) -> tuple[Path | None, Check]:
    try:
        root = workspace_root(workspace)
    except WorkspaceError as err:
        return None, Check("workspace", "fail" if workspace else "warn", str(err))
    if not os.access(root, os.W_OK):
        words = (
            f"{root} may not be written: search and open work, ask and chat do not; allow writing"
        )
        return root, Check("workspace", "warn", words)
    return root, Check("workspace", "ok", str(root))


def _workspace(root: Path, settings: Settings) -> Iterator[Check]:
    from fsagent.memory.workspace import Workspace

    try:
        with Workspace.open(root, settings=settings) as memory:
            yield _core(memory)
            yield _recall(memory)
            entries = sum(1 for _ in memory.archival.entries())
            yield Check(
                "archival", "ok", counted(entries, "note or document", "notes and documents")
            )
            yield _secrets(memory)
    except FsagentError as err:
        yield Check("files", "fail", str(err))


def _core(memory: Workspace) -> Check:
    try:
        blocks, tokens, hidden = memory.core.blocks(), memory.core.tokens(), memory.core.hidden()
    except (CorruptFile, ConfigError) as err:
        return Check("core", "fail", str(err))
    over = [block.label for block in blocks if block.size > block.limit]
    words = (
        f"{counted(len(blocks), 'block')}, about {tokens} of {memory.settings.core_tokens} tokens"
    )
    if over:
        return Check("core", "warn", f"{words}; over their limit: {', '.join(over)}")
    if hidden:
        words += f"; your own take the place of the shared: {', '.join(hidden)}"
    return Check("core", "ok" if tokens <= memory.settings.core_tokens else "warn", words)


def _recall(memory: Workspace) -> Check:
    from fsagent.memory.recall import BadLine

    bad: list[BadLine] = []
    days = memory.recall.days()
    lines = sum(1 for day in days for _ in memory.recall.read(day, bad))
    words = f"{counted(lines, 'line')} in {counted(len(days), 'day')}"
    if bad:
        first = bad[0]
        where = f"{first.path}:{first.line} ({first.reason})"
        return Check(
            "recall",
            "warn",
            f"{words}; {len(bad)} unreadable lines are kept and skipped, first {where}",
        )
    return Check("recall", "ok", words)


def _secrets(memory: Workspace) -> Check:
    from fsagent.memory.leaks import leaks

    found = list(leaks(memory.tree))
    if not found:
        return Check("secrets", "ok", "none in any file of memory")
    shown = ", ".join(f"{leak.path}:{leak.line} ({leak.kind})" for leak in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    words = f"{shown}{more}; take them out, or allow what is none in secrets.yaml"
    return Check("secrets", "warn", words)


def _model(settings: Settings, root: Path | None, probe: bool) -> Iterator[Check]:
    from fsagent.cli.local import of_the_server

    try:
        settings = of_the_server(settings)
    except ConfigError as err:
        yield Check("model", "fail", str(err))
        return
    if settings.model == "offline":
        yield Check("model", "ok", "offline: embedded, needs no key and no network")
        if probe:
            yield from _local_servers(settings)
        return
    from fsagent.models.registry import load_model

    try:
        quirks = root / ".fsagent" / "endpoints.json" if root is not None else None
        model = load_model(settings.model, settings, quirks_path=quirks)
    except FsagentError as err:
        yield Check("model", "fail", str(err))
        return
    address = getattr(model, "address", "no address")
    key = masked("api_key", settings.api_key) or "no key"
    yield Check("model", "ok", f"{model.name} at {address}, {key}")
    if not probe:
        return
    from fsagent.models.probe import probe as run

    for result in run(model):
        yield Check(f"  {result.name}", "ok" if result.ok else "warn", result.detail)


def _local_servers(settings: Settings) -> Iterator[Check]:
    """Name the model servers of this machine, which the offline model leaves unused."""
    from fsagent.models.discover import discover, ports_of

    for server in discover(ports_of(settings.local_ports)):
        models = ", ".join(server.models[:8]) or "no model"
        words = f"{server.kind} at {server.base_url} has {models}; use it with --base-url --model"
        yield Check("  server", "ok", words)
