"""demo: everything on a small conversation, without a key."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsagent.cli.common import note, say
from fsagent.config import Settings
from fsagent.errors import WorkspaceError
from fsagent.workspace.locate import check_outside

if TYPE_CHECKING:
    from fsagent.agent.loop import Agent
    from fsagent.memory.workspace import Workspace

QUESTIONS = (
    "When did Ines sign the papers for the sloop?",
    "Where does Ines keep the boat?",
    "How many hives did Oskar lose over the winter?",
    "What is the name of Bruno's parrot?",
    "Where did Oskar study medicine?",
)
CHAT = (
    "Hi! My name is Lena and I live in Bremen.",
    "I work as a nurse, and my sister Irene lives in Rome.",
    "If I won the lottery, I would move to Tahiti.",
    "I'm allergic to nuts. What a wet day it is!",
)
CORRECTION = "Actually, I moved to Lisbon yesterday."
SHOWN_SYSTEMS = ("agent", "search", "bm25", "grep", "full-context", "no-memory")


@click.command()
@click.argument("directory", required=False, metavar="[DIR]")
def demo(directory: str | None) -> None:
    """Show everything on a small conversation, without a key.

    Makes a workspace in DIR (default: a temporary folder, deleted at the end), imports a
    conversation written for this project, asks some questions with the embedded offline model, lets
    it sleep over a short chat, and runs the LoCoMo-style harness.
    """
    if directory is not None:
        check_outside(Path(directory) / "memory")
        _show(Path(directory))
        note(f"Look around: fsagent ls -w {Path(directory) / 'memory'}")
        return
    with tempfile.TemporaryDirectory(prefix="fsagent-demo-") as folder:
        _show(Path(folder))


def _show(folder: Path) -> None:
    memory, chat = folder / "memory", folder / "chat"
    for one in (memory, chat):
        if one.exists():
            raise WorkspaceError(f"{one} exists; choose another folder, or delete it")
    say("1. A workspace, and a conversation of two people imported into it")
    _import(memory)
    say()
    say("2. Questions, answered out of memory by the embedded offline model")
    _ask(memory)
    say()
    say("3. A chat, and a sleep: what a person says of themselves becomes facts in core memory,")
    say("   with the lines they rest on; a newer one takes an older one's place")
    _sleep(chat)
    say()
    say("4. The harness on the conversation of step 1 (a handful of questions: it shows the form,")
    say("   not how good anything is)")
    _bench(folder)


def _import(memory: Path) -> None:
    from fsagent.bench.datasets import locomo
    from fsagent.bench.ingest import ingest_sample
    from fsagent.workspace.view import view_lines

    sample = locomo.load(conversation()).samples[0]
    with ingest_sample(sample, memory) as workspace:
        days = workspace.recall.days()
        say(f"   {len(sample.turns)} messages in {len(days)} day files, such as {days[0]}:")
        for number, line in enumerate(
            view_lines(days[0], workspace.tree.read_bytes(days[0]))[:3], 1
        ):
            say(f"   {number}: {line}")


def _ask(memory: Path) -> None:
    from fsagent.agent.loop import Agent
    from fsagent.memory.workspace import Workspace

    with Workspace.open(memory, settings=Settings()) as workspace:
        for question in QUESTIONS:
            with Agent(workspace, "offline") as agent:
                answer = agent.run(question)
            say(f"   Q: {question}")
            say(f"   A: {answer.text}")
            for citation in answer.citations:
                say(f"      {citation.path}:{citation.line}: {citation.text}")


def _sleep(folder: Path) -> None:
    from fsagent.agent.loop import Agent
    from fsagent.memory.workspace import Workspace

    with (
        Workspace.init(folder, settings=Settings()) as workspace,
        Agent(workspace, "offline") as agent,
    ):
        for text in CHAT:
            _say_to(agent, text)
        _show_sleep(workspace)
        _say_to(agent, CORRECTION)
        _show_sleep(workspace)
    with (
        Workspace.open(folder, settings=Settings()) as workspace,
        Agent(workspace, "offline") as agent,
    ):
        for question in ("Where do I live?", "Where does my sister live?"):
            answer = agent.run(question)
            say(f"   Q: {question}")
            say(f"   A: {answer.text}   (from core, {answer.tool_calls} searches)")
            for citation in answer.citations:
                say(f"      {citation.path}:{citation.line}: {citation.text}")


def _say_to(agent: Agent, text: str) -> None:
    agent.run(text)
    say(f"   > {text}")


def _show_sleep(workspace: Workspace) -> None:
    from fsagent.agent.sleep.sleep import sleep

    workspace.history.wait()
    report = sleep(workspace, "offline")
    say(f"   sleep: {report.text}")
    for line in report.diff.splitlines():
        if line[:1] in "+-" and not line.startswith(("+++", "---")):
            say(f"     {line}")


def _bench(folder: Path) -> None:
    from fsagent.bench.options import BenchOptions
    from fsagent.bench.report import report
    from fsagent.bench.runner import run_benchmark

    runs = []
    for system in SHOWN_SYSTEMS:
        out = folder / "runs" / system
        run_benchmark(BenchOptions(data=conversation(), out=out, system=system))
        runs.append(out)
    say(report(runs))


def conversation() -> Path:
    """Return the file of the demo's conversation: invented people, LoCoMo's schema."""
    return Path(__file__).resolve().parent.parent / "demo" / "conversation.json"
