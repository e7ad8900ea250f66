"""What sleep makes of LoCoMo's conversations, fed turn by turn as a live chat.

    python benchmarks/sleep.py locomo3.json OUT [--sample ID]... [--model NAME --base-url URL]
                               [--minutes N] [--context-tokens N] [--core-tokens N]
                               [--prompt FILE]

Each turn is a message of its speaker in a chat with the offline model, at the time it was said;
after each session memory sleeps, with the offline model or with MODEL. Then the workspace is
audited, every commit's core is read out of git, and recall is hashed around every sleep. Prints a
Markdown table; OUT/<sample>.json holds the figures, OUT/<sample>/ the workspace.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fsagent.agent.audit.audit import audit
from fsagent.agent.loop import Agent
from fsagent.agent.recorder import RecallRecorder
from fsagent.agent.sleep.sleep import SleepReport, sleep
from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import Sample, Session, Turn
from fsagent.config import Settings
from fsagent.memory.blocks import read_block
from fsagent.memory.facts import Fact, facts_of
from fsagent.memory.workspace import Workspace
from fsagent.tokens import estimate_text
from fsagent.workspace.view import view_lines

COLUMNS = (
    ("sample", "sample"), ("sleep model", "model"), ("turns", "turns"), ("sleeps", "sleeps"),
    ("edits landed", "landed"), ("kept for review", "kept"), ("dropped", "dropped"),
    ("facts at the end", "facts"), ("in core", "in_core"), ("cited and supported", "supported"),
    ("duplicates", "duplicates"), ("near", "near_duplicates"), ("contradictions", "contradictions"),
    ("core, most tokens at a commit", "most_tokens"), ("commits over budget", "over_budget"),
    ("recall changed by", "recall_changed"), ("chat tokens", "chat_tokens"),
    ("sleep tokens", "sleep_tokens"), ("sleep / chat", "ratio"), ("s a sleep", "sleep_s"),
)  # fmt: skip


@dataclass
class Figures:
    """What one conversation gave. `stops` counts how the sleeps ended."""

    sample: str
    model: str
    turns: int = 0
    sessions: int = 0
    sleeps: int = 0
    stops: dict[str, int] = field(default_factory=dict)
    landed: int = 0
    kept: int = 0
    dropped: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    facts: int = 0
    in_core: int = 0
    supported: str = ""
    duplicates: int = 0
    near_duplicates: int = 0
    contradictions: int = 0
    commits: int = 0
    most_characters: int = 0
    most_tokens: int = 0
    over_budget: int = 0
    recall_changed: int = 0
    chat_tokens: int = 0
    sleep_tokens: int = 0
    ratio: float = 0.0
    sleep_usd: float = 0.0
    sleep_s: float = 0.0
    total_s: float = 0.0


class Clock:
    """The time of the conversation."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        self.moment += timedelta(milliseconds=10)
        return self.moment

    def go_to(self, moment: datetime) -> None:
        """Go on to a moment; a clock never goes back."""
        self.moment = max(self.moment, moment)


def main() -> None:
    """Run the chosen conversations and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sample", action="append", default=[])
    parser.add_argument("--model", default="offline", help="the model that sleeps")
    parser.add_argument("--base-url")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no session after so long")
    parser.add_argument("--context-tokens", type=int, default=32_768)
    parser.add_argument("--core-tokens", type=int, default=2_000)
    parser.add_argument("--prompt", type=Path, help="a prompts/sleep.md of one's own")
    given = parser.parse_args()
    settings = Settings(
        timezone="UTC",
        sleep_model=given.model,
        base_url=given.base_url,
        api_key=os.environ.get("OPENAI_API_KEY", "none") if given.base_url else None,
        context_tokens=given.context_tokens,
        core_tokens=given.core_tokens,
        sleep_after_s=0.0,  # only the sleeps that are counted: none on its own under pressure
        timeout_s=float(os.environ.get("FSAGENT_TIMEOUT_S", "120")),
        idle_timeout_s=float(os.environ.get("FSAGENT_IDLE_TIMEOUT_S", "60")),
        max_tokens=int(os.environ.get("FSAGENT_MAX_TOKENS", "600")) if given.base_url else None,
        temperature=0.0,
    )
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for sample in locomo.load(given.data).samples:
        if not given.sample or sample.sample_id in given.sample:
            deadline = time.time() + given.minutes * 60
            rows.append(run(sample, given.out, settings, deadline=deadline, prompt=given.prompt))
    print(table(rows))


def run(
    sample: Sample, out: Path, settings: Settings, *, deadline: float, prompt: Path | None = None
) -> Figures:
    """Feed one conversation, sleep after each session, and return the figures."""
    root = out / sample.sample_id
    shutil.rmtree(root, ignore_errors=True)
    figures = Figures(sample.sample_id, settings.sleep_model or "")
    clock = Clock(sample.sessions[0].when.replace(tzinfo=UTC))
    started = time.time()
    with (
        Workspace.init(root, settings=settings, clock=clock) as workspace,
        Agent(workspace, "offline", settings=settings) as agent,
    ):
        if prompt is not None:
            (root / "prompts").mkdir(exist_ok=True)
            shutil.copy(prompt, root / "prompts/sleep.md")
        for session in sample.sessions:
            if time.time() > deadline:
                break
            feed(agent, session, clock, figures)
            rest(workspace, figures)
            save(figures, out)
        workspace.history.wait()
        look(workspace, figures)
    figures.total_s = round(time.time() - started, 1)
    save(figures, out)
    return figures


def feed(agent: Agent, session: Session, clock: Clock, figures: Figures) -> None:
    """Say a session's turns, each under its speaker's name."""
    figures.sessions += 1
    for place, turn in enumerate(session.turns):
        clock.go_to(session.when.replace(tzinfo=UTC) + timedelta(seconds=place))
        agent.session.recorder = RecallRecorder(
            agent.workspace.recall, session=agent.session.id, user_name=turn.speaker
        )
        answer = agent.run(words(turn))
        figures.turns += 1
        figures.chat_tokens += sum(
            count or 0 for count in (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        )


def words(turn: Turn) -> str:
    """Return what a turn says, with its picture's caption."""
    return f"{turn.text} [image: {turn.caption}]" if turn.caption else turn.text


def rest(workspace: Workspace, figures: Figures) -> None:
    """Sleep once, between two hashes of recall."""
    workspace.history.wait()
    before, started = recall_hash(workspace.root), time.time()
    report = sleep(workspace)
    figures.sleep_s += time.time() - started
    figures.recall_changed += recall_hash(workspace.root) != before
    count(report, figures)


def count(report: SleepReport, figures: Figures) -> None:
    """Add a sleep's outcome."""
    figures.sleeps += 1
    figures.stops[report.stop] = figures.stops.get(report.stop, 0) + 1
    outcomes = Counter(verdict.outcome for verdict in report.verdicts)
    figures.landed += outcomes["pass"]
    figures.kept += outcomes["keep"]
    figures.dropped += outcomes["drop"]
    for verdict in report.verdicts:
        if verdict.outcome != "pass":
            reason = verdict.reason.partition(":")[0].partition("(")[0].strip()[:60]
            figures.reasons[reason] = figures.reasons.get(reason, 0) + 1
    usage = report.usage
    figures.sleep_tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
    figures.sleep_usd += report.usd


def recall_hash(root: Path) -> str:
    """Return a hash over the bytes of every recall file."""
    digest = hashlib.sha256()
    for path in sorted((root / "recall").rglob("*.jsonl")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def look(workspace: Workspace, figures: Figures) -> None:
    """Audit the end state, and core at every commit."""
    found = Counter(one.kind for one in audit(workspace))
    core = [fact for block in workspace.core.blocks() for fact in facts_of(block.value)]
    cited = [fact for fact in core if fact.citations]
    moved = list(archived(workspace))
    figures.in_core, figures.facts = len(cited), len(cited) + len(moved)
    broken = found["broken-citation"]
    figures.supported = f"{len(cited) - broken}/{len(cited)}"
    repeated = Counter(fact.words for fact in [*cited, *moved])
    figures.duplicates = sum(count - 1 for count in repeated.values())
    figures.near_duplicates = found["near-duplicate"]
    figures.contradictions = found["contradiction"]
    for characters, tokens, over in core_sizes(workspace):
        figures.commits += 1
        figures.most_characters = max(figures.most_characters, characters)
        figures.most_tokens = max(figures.most_tokens, tokens)
        figures.over_budget += over
    figures.sleep_s = round(figures.sleep_s / max(1, figures.sleeps), 2)
    figures.ratio = round(figures.sleep_tokens / max(1, figures.chat_tokens), 4)


def archived(workspace: Workspace) -> Iterator[Fact]:
    """Yield the facts that sleep moved to archival notes for want of room."""
    for entry in workspace.archival.entries():
        if "/about-" in entry.path:
            lines = view_lines(entry.path, workspace.tree.read_bytes(entry.path))
            yield from (fact for fact in facts_of("\n".join(lines)) if fact.citations)


def core_sizes(workspace: Workspace) -> Iterator[tuple[int, int, bool]]:
    """Yield core's characters and tokens at every commit, and whether a limit was passed there."""
    root = workspace.root

    def git(*arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, check=True
        ).stdout

    for revision in git("rev-list", "--all").decode().split():
        names = git("ls-tree", "-r", "--name-only", revision, "core/").decode().splitlines()
        blocks = [
            read_block(name, Path(name).stem, git("show", f"{revision}:{name}"))[0]
            for name in names
        ]
        tokens = sum(estimate_text(block.value) for block in blocks)
        over = tokens > workspace.settings.core_tokens
        over = over or any(block.size > block.limit for block in blocks)
        yield sum(block.size for block in blocks), tokens, over


def save(figures: Figures, out: Path) -> None:
    """Write the figures so far."""
    text = json.dumps(asdict(figures), indent=1)
    (out / f"{figures.sample}.json").write_text(text + "\n", encoding="utf-8")


def table(rows: list[Figures]) -> str:
    """Return the figures as Markdown, with the machine, the date and the commit."""
    revision = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    head = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {revision}"
    )
    lines = [
        head, "", f"| {' | '.join(title for title, _ in COLUMNS)} |", "|---" * len(COLUMNS) + "|",
        *(f"| {' | '.join(shown(getattr(row, name)) for _, name in COLUMNS)} |" for row in rows),
    ]  # fmt: skip
    for row in rows:
        lines.append(
            f"\n{row.sample}: {row.sessions} sessions, stops {row.stops}, {row.commits} commits"
        )
        lines += [f"- not landed, {n} times: {why}" for why, n in sorted(row.reasons.items())]
    return "\n".join(lines)


def shown(value: object) -> str:
    """Return a cell."""
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
