"""The gates of sleep: each edit a model proposes is checked by rules alone, with no model's word taken.

An edit passes, is dropped (it says nothing new), or is kept for a person with the reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fsagent.agent.sleep.material import Said
from fsagent.agent.sleep.witnesses import Witnesses
from fsagent.attributes import contradict, read_fact, same_subject
from fsagent.errors import ToolError
from fsagent.memory.core import Block
from fsagent.memory.edits import CoreEdit, edited
from fsagent.memory.facts import Fact, covers, fact_of, facts_of
from fsagent.memory.support import unsupported_part
from fsagent.memory.words import content_words
from fsagent.workspace.references import citation_name

Outcome = Literal["pass", "drop", "keep"]

MOST_FACT_CHARS = 400
SHRINK_FLOOR_CHARS = 400
SHRINK_SHARE = 0.5
"""A block over the floor may not lose more than this share of its characters in one patch."""

MOST_REMOVED = 3
"""How many facts of a block one patch may take away without putting another in their place."""

_TAGS = re.compile(
    r"</?(?:think|thinking|reasoning|tool_call|tool_response|block)\b", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|now|currently|recently|(?:last|next|this) "
    r"(?:week|month|year|weekend|night|morning|evening|summer|winter|spring|autumn|fall)|"
    r"\w+ (?:days?|weeks?|months?|years?) ago)\b",
    re.IGNORECASE,
)
_VAGUE = frozenset({"now", "currently", "recently"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an edit: `edit` as it would be written, and why where it does not pass."""

    edit: CoreEdit
    outcome: Outcome
    reason: str = ""


@dataclass
class Gates:
    """The gates over one patch. `values` holds the blocks' values as the patch leaves them so far."""

    blocks: Mapping[str, Block]
    witnesses: Witnesses
    secret_in: Callable[[str], str | None]
    values: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = {label: block.value for label, block in self.blocks.items()}

    def check(self, edits: Sequence[CoreEdit]) -> list[Verdict]:
        """Return a verdict for each edit, in order; those that pass are in `values` afterwards."""
        verdicts = [self._check_one(edit) for edit in edits]
        for label in dict.fromkeys(edit.block for edit in edits):
            reason = self._shrunk(label, verdicts)
            if reason:
                verdicts = [_refused(one, label, reason) for one in verdicts]
                self.values[label] = self.blocks[label].value
        return verdicts

    def _check_one(self, edit: CoreEdit) -> Verdict:
        try:
            checked = self._checked(edit)
            if isinstance(checked, Verdict):
                return checked
            self.values[checked.block] = edited(self.values[checked.block], checked)
        except ToolError as err:
            return Verdict(edit, "keep", str(err).partition("\n")[0])
        return Verdict(checked, "pass")

    def _checked(self, edit: CoreEdit) -> CoreEdit | Verdict:
        """Return the edit as it is to be written, or why it is not."""
        block = self.blocks.get(edit.block)
        if block is None:
            return Verdict(edit, "keep", f"there is no block {edit.block!r}")
        if block.read_only or (edit.op == "archive" and block.shared):
            why = "read-only" if block.read_only else "shared; others would lose the line"
            return Verdict(edit, "keep", f"block {edit.block!r} is {why}")
        if edit.op == "add":
            return self._added(replace(edit, old=""))
        old = self._line_with(edit)
        if isinstance(old, Verdict):
            return old
        edit = replace(edit, old=old.text)
        if edit.op == "archive":
            return replace(edit, new="", cites=())
        return self._replaced(edit, old) if edit.new.strip() else self._removed(edit, old)

    def _added(self, edit: CoreEdit) -> CoreEdit | Verdict:
        edit = _as_line(edit)
        wrong = self._unfit(edit)
        if wrong:
            return wrong
        if known := self._known(edit.new):
            return Verdict(edit, "drop", f"memory says so already: {known}")
        return self._cited(edit, None)

    def _replaced(self, edit: CoreEdit, old: Fact) -> CoreEdit | Verdict:
        edit = _as_line(edit)
        new = fact_of(edit.new)
        if new.words == old.words:
            return Verdict(edit, "drop", "it changes nothing")
        wrong = self._unfit(edit)
        if wrong:
            return wrong
        if known := self._known(edit.new, besides=old):
            return self._removed(replace(edit, new="", cites=()), old, known)
        if not _about_the_same(new.words, old.words):
            return Verdict(
                edit, "keep", f"it would replace a line about something else: {old.text}"
            )
        return self._cited(edit, old)

    def _removed(self, edit: CoreEdit, old: Fact, known: str = "") -> CoreEdit | Verdict:
        """Let a line go that another says too, or that a person took back."""
        if known or self._known(old.words, besides=old):
            return replace(edit, new="", cites=())
        lines = self.witnesses.named(edit.cites)
        about = content_words(old.words)
        if any(about & content_words(line.text) for line in lines if line.is_citable):
            return replace(edit, new="", cites=())
        return Verdict(edit, "keep", f"no line that it cites takes back {old.text!r}")

    def _unfit(self, edit: CoreEdit) -> Verdict | None:
        """Return why a new line may not stand in a block, whatever it says."""
        reason = unfit_line(edit.new)
        if reason:
            return Verdict(edit, "drop" if reason == _NOTHING else "keep", reason)
        secret = self.secret_in(edit.new)
        if secret:
            # Kept without its words: a secret does not reach the disk this way either.
            hidden = replace(edit, new=f"- ({secret})")
            return Verdict(hidden, "drop", f"it holds a secret ({secret})")
        return None

    def _cited(self, edit: CoreEdit, old: Fact | None) -> CoreEdit | Verdict:
        """Give an edit citations that resolve and whose words support it, or refuse it."""
        words = fact_of(edit.new).words
        named = [line for line in self.witnesses.named(edit.cites) if line.is_citable]
        before = self.witnesses.of(old.citations) if old else []
        for lines in (named, [*before, *named] if named else []):
            if lines and unsupported_part(words, [line.source for line in lines]) is None:
                return _with_citations(edit, lines)
        found = self.witnesses.supporting(words)
        if found is not None:
            return _with_citations(edit, [found])
        if not named:
            return Verdict(edit, "keep", "it cites no line that a person said")
        missing = unsupported_part(words, [line.source for line in named])
        where = ", ".join(line.citation for line in named)
        return Verdict(edit, "keep", f"what it cites ({where}) does not support: {missing}")

    def _line_with(self, edit: CoreEdit) -> Fact | Verdict:
        """Return the one line that `old` names: as it stands, or without bullet and citations."""
        facts = facts_of(self.values[edit.block])
        wanted = fact_of(edit.old)
        if "\n" in edit.old.strip():
            return Verdict(edit, "keep", "it would replace several lines at once")
        exact = [fact for fact in facts if fact.text.strip() == edit.old.strip()]
        found = exact or [fact for fact in facts if wanted.words and fact.words == wanted.words]
        if not found and (edit.op == "archive" or (edit.new and self._known(edit.new))):
            return Verdict(edit, "drop", "it is done already")
        if len(found) != 1:
            times = f"{len(found)} lines" if found else "no line"
            return Verdict(edit, "keep", f"{times} of block {edit.block!r} reads {edit.old!r}")
        return found[0]

    def _known(self, words: str, *, besides: Fact | None = None) -> str:
        """Return a line of any block that says what `words` do."""
        plain = fact_of(words).words
        for value in self.values.values():
            for fact in facts_of(value):
                if (besides is None or fact.text != besides.text) and covers(fact.words, plain):
                    return fact.text
        return ""

    def _shrunk(self, label: str, verdicts: Sequence[Verdict]) -> str:
        """Return why a block's edits are refused together: it would lose too much at once."""
        if label not in self.blocks:
            return ""
        mine = [one for one in verdicts if one.edit.block == label and one.outcome == "pass"]
        archived = sum(len(one.edit.old) for one in mine if one.edit.op == "archive")
        removed = [one for one in mine if one.edit.op == "replace" and not one.edit.new]
        before, after = len(self.blocks[label].value), len(self.values[label]) + archived
        if before >= SHRINK_FLOOR_CHARS and after < before * SHRINK_SHARE:
            return f"block {label!r} would shrink from {before} to {after} characters"
        gone = [one for one in removed if not self._known(one.edit.old)]
        if len(gone) > MOST_REMOVED:
            return f"{len(gone)} facts of block {label!r} would go at once"
        return ""


_NOTHING = "it says nothing"


def unfit_line(new: str) -> str:
    """Return why a line may not stand in a block; empty where it may."""
    words = fact_of(new).words
    hidden = [ch for ch in new if unicodedata.category(ch) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")]
    relative = next((m[0] for m in _RELATIVE.finditer(words) if m[0].lower() not in _VAGUE), None)
    for wrong, reason in (
        (not content_words(words), _NOTHING),
        ("\n" in new.strip(), "it is several lines; a fact is one"),
        (len(new) > MOST_FACT_CHARS, f"it has {len(new)} characters; a fact has {MOST_FACT_CHARS}"),
        (bool(hidden), "it holds invisible characters"),
        (bool(_TAGS.search(new)), "it holds the tags of a prompt or of reasoning"),
        (words.startswith(("---", "#")), "it reads as front matter or a heading"),
        (relative is not None, f"{relative!r} is not an absolute date"),
    ):
        if wrong:
            return reason
    return ""


def _about_the_same(new: str, old: str) -> bool:
    """Say whether a line may take another's place: they share a word, or they say one attribute."""
    if content_words(new) & content_words(old):
        return True
    one, other = read_fact(new), read_fact(old)
    if one is None or other is None or not same_subject(one, other):
        return False
    return one.attribute == other.attribute or contradict(one, other)


def _as_line(edit: CoreEdit) -> CoreEdit:
    """Return the edit with its new text as one line of a list, its own citations moved to `cites`."""
    fact = fact_of(edit.new.strip())
    cited = [citation_name(*place) for place in fact.citations]
    cites = tuple(dict.fromkeys([*edit.cites, *cited]))
    return replace(edit, new=f"- {fact.words}" if fact.words else "", cites=cites)


def _with_citations(edit: CoreEdit, lines: Sequence[Said]) -> CoreEdit:
    return replace(edit, cites=tuple(dict.fromkeys(line.citation for line in lines)))


def _refused(verdict: Verdict, label: str, reason: str) -> Verdict:
    if verdict.edit.block != label or verdict.outcome != "pass":
        return verdict
    return Verdict(verdict.edit, "keep", reason)
