"""The gates of sleep: each edit a model proposes is checked by rules alone, with no model's word taken.

An edit passes, is dropped (it says nothing new), or is kept for a person with the reason. A patch
accounts for every line that goes: another line says it, a newer one took its place, it moved to
archival, or a person took it back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fsagent.agent.sleep.material import Said
from fsagent.agent.sleep.unfit import NOTHING, unfit_line
from fsagent.agent.sleep.witnesses import Witnesses
from fsagent.errors import ToolError
from fsagent.memory.accepting import is_pointer
from fsagent.memory.core import Block
from fsagent.memory.edits import CoreEdit, edited
from fsagent.memory.facts import Fact, covers, fact_of, facts_of, may_supersede
from fsagent.memory.words import content_words
from fsagent.workspace.references import citation_name

Outcome = Literal["pass", "drop", "keep"]

SHRINK_FLOOR_CHARS = 400
SHRINK_SHARE = 0.5
"""A block over the floor may not lose more than this share of its characters in one patch."""

MOST_REMOVED = 3
"""How many facts of a block one patch may take away without putting another in their place."""

NEARLY_FULL = 0.7
"""From this share of its limit on a block may move up to half of its facts to archival at once."""

_BULLET = re.compile(r"^\s*(?:(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)?")


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
        return self._settled([self._check_one(edit) for edit in edits])

    def refuse(self, verdicts: Sequence[Verdict], label: str, reason: str) -> list[Verdict]:
        """Refuse a block's edits, and those that counted on them."""
        self.values[label] = self.blocks[label].value
        return self._settled([_refused(one, label, reason) for one in verdicts])

    def _settled(self, verdicts: list[Verdict]) -> list[Verdict]:
        # What one block loses may stand in another, so each refusal is followed by another look.
        while (refusal := self._refusal(verdicts)) is not None:
            label, reason = refusal
            verdicts = [_refused(one, label, reason) for one in verdicts]
            self.values[label] = self.blocks[label].value
        return verdicts

    def _refusal(self, verdicts: Sequence[Verdict]) -> tuple[str, str] | None:
        """Return a block whose edits are refused together, and why."""
        for label in dict.fromkeys(one.edit.block for one in verdicts if one.outcome == "pass"):
            reason = self._shrunk(label, verdicts) or self._lost(label, verdicts)
            if reason:
                return label, reason
        return None

    def _check_one(self, edit: CoreEdit) -> Verdict:
        there = any(edit.old in value for value in self.values.values())
        secret = self.secret_in(f"{edit.block}\n{edit.new}\n{'' if there else edit.old}")
        if secret:
            # Without its words: a secret does not reach the disk this way either.
            hidden = replace(
                edit, block=edit.block if edit.block in self.blocks else "", old="", new=""
            )
            return Verdict(hidden, "drop", f"it holds a secret ({secret})")
        try:
            checked = self._trusted(edit, self._checked(edit))
            if isinstance(checked, Verdict):
                return checked
            self.values[checked.block] = edited(self.values[checked.block], checked)
        except ToolError as err:
            return Verdict(edit, "keep", str(err).partition("\n")[0])
        return Verdict(checked, "pass")

    def _trusted(self, edit: CoreEdit, checked: CoreEdit | Verdict) -> CoreEdit | Verdict:
        """Keep what rests on an imported conversation for the person: they did not say it here."""
        if isinstance(checked, Verdict):
            return checked
        before = {citation_name(*place) for place in fact_of(edit.old).citations}
        for line in self.witnesses.named(cite for cite in checked.cites if cite not in before):
            if line.imported:
                return Verdict(checked, "keep", f"it rests on an imported line ({line.citation})")
        return checked

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
            return self._archived(replace(edit, new="", cites=()), old)
        return self._replaced(edit, old) if edit.new.strip() else self._removed(edit, old)

    def _added(self, edit: CoreEdit) -> CoreEdit | Verdict:
        edit = _as_line(edit, "- ")
        wrong = _unfit(edit)
        if wrong:
            return wrong
        if known := self._known(edit.new):
            return Verdict(edit, "drop", f"memory says so already: {known}")
        return self._cited(edit, None)

    def _replaced(self, edit: CoreEdit, old: Fact) -> CoreEdit | Verdict:
        bullet = _BULLET.match(old.text)
        edit = _as_line(edit, bullet[0] if bullet else "")
        new = fact_of(edit.new)
        if new.words == old.words:
            return Verdict(edit, "drop", "it changes nothing")
        wrong = _unfit(edit)
        if wrong:
            return wrong
        if not may_supersede(new.words, old.words):
            return Verdict(
                edit, "keep", f"it would replace a line about something else: {old.text}"
            )
        if covers(old.words, new.words):
            return Verdict(edit, "keep", f"it says less than the line it would replace: {old.text}")
        if self._known(edit.new, besides=old):
            return replace(edit, new="", cites=())
        return self._cited(edit, old)

    def _removed(self, edit: CoreEdit, old: Fact) -> CoreEdit | Verdict:
        """Let a line go that another says too, or that a person took back."""
        if old.leads:
            return Verdict(edit, "keep", f"lines stand under {old.text!r}")
        edit = replace(edit, new="")
        if self._known(old.words, besides=old):
            return replace(edit, cites=())
        taking = self.witnesses.taking_back(old.words, edit.cites)
        if taking:
            return _with_citations(edit, taking)
        return Verdict(edit, "keep", f"no line that it cites takes back {old.text!r}")

    def _archived(self, edit: CoreEdit, old: Fact) -> CoreEdit | Verdict:
        if not old.citations:
            return Verdict(edit, "keep", f"a person wrote {old.text!r}; it stays in sight")
        if old.leads:
            return Verdict(edit, "keep", f"lines stand under {old.text!r}")
        return edit

    def _cited(self, edit: CoreEdit, old: Fact | None) -> CoreEdit | Verdict:
        """Give an edit citations that resolve and whose words support it, or refuse it."""
        words = fact_of(edit.new).words
        named = [line for line in self.witnesses.named(edit.cites) if line.is_citable]
        before = self.witnesses.of(old.citations) if old else []
        for lines in (named, [*before, *named] if named else []):
            if supporting := self.witnesses.supporting(words, lines):
                return _with_citations(edit, supporting)
        found = self.witnesses.best(words)
        if found is not None:
            return _with_citations(edit, [found])
        if not named:
            return Verdict(edit, "keep", "it cites no line that a person said")
        where = ", ".join(line.citation for line in named[:5])
        missing = self.witnesses.missing(words, named)
        return Verdict(edit, "keep", f"what it cites ({where}) does not support: {missing}")

    def _line_with(self, edit: CoreEdit) -> Fact | Verdict:
        """Return the one line that `old` names: as it stands, or without bullet and citations."""
        if "\n" in edit.old.strip():
            return Verdict(edit, "keep", "it would replace several lines at once")
        facts = facts_of(self.values[edit.block])
        old, wanted = _same_form(edit.old.strip()), fact_of(edit.old)
        found = [fact for fact in facts if _same_form(fact.text.strip()) == old] or [
            fact
            for fact in facts
            if wanted.words and _same_form(fact.words) == _same_form(wanted.words)
        ]
        if not found and (edit.op == "archive" or (edit.new and self._known(edit.new))):
            return Verdict(edit, "drop", "it is done already")
        if len(found) != 1:
            times = f"{len(found)} lines" if found else "no line"
            return Verdict(edit, "keep", f"{times} of block {edit.block!r} reads {edit.old!r}")
        reason = self._untouchable(found[0], edit.block)
        return Verdict(edit, "keep", reason) if reason else found[0]

    def _untouchable(self, fact: Fact, label: str) -> str:
        """Return why a line is not a sleep's to change; empty where it is."""
        if fact.fixed:
            return f"{fact.text!r} is part of a table or of code"
        if is_pointer(fact.text, label):
            return "it is the line that says where older facts are"
        if fact.text not in self.blocks[label].value.split("\n"):
            return "it would change a line that this patch has written"
        return ""

    def _known(self, words: str, *, besides: Fact | None = None) -> str:
        """Return a line of any block that says what `words` do."""
        plain = fact_of(words).words
        for value in self.values.values():
            for fact in facts_of(value):
                if besides is not None and fact.text == besides.text:
                    continue
                # What stands under "John" is said of John.
                about = content_words(fact.under) <= content_words(plain)
                if about and covers(fact.words, plain, speakers=self.witnesses.speakers):
                    return fact.text
        return ""

    def _shrunk(self, label: str, verdicts: Sequence[Verdict]) -> str:
        """Return why a block's edits are refused together: it would lose too much at once."""
        mine = [one.edit for one in verdicts if one.edit.block == label and one.outcome == "pass"]
        moved = [one for one in mine if one.op == "archive"]
        removed = [one for one in mine if one.op == "replace" and not one.new]
        block = self.blocks[label]
        before = len(block.value)
        after = len(self.values[label]) + sum(len(one.old) for one in moved)
        if before >= SHRINK_FLOOR_CHARS and after < before * SHRINK_SHARE:
            return f"block {label!r} would shrink from {before} to {after} characters"
        gone = [one for one in removed if not self._known(one.old)]
        if len(gone) > MOST_REMOVED:
            return f"{len(gone)} facts of block {label!r} would go at once"
        is_full = before >= block.limit * NEARLY_FULL
        most = max(MOST_REMOVED, len(facts_of(block.value)) // 2 if is_full else 0)
        if len(moved) > most:
            return f"{len(moved)} facts would leave block {label!r} at once"
        return ""

    def _lost(self, label: str, verdicts: Sequence[Verdict]) -> str:
        """Return the line of a block that would go although nothing accounts for it any more.

        A line went because another said it, and that other was refused since.
        """
        for one in verdicts:
            edit = one.edit
            if edit.block != label or one.outcome != "pass" or edit.op != "replace":
                continue
            if not edit.new and not edit.cites and not self._known(edit.old):
                return f"nothing else would say {edit.old!r}"
        return ""


def _unfit(edit: CoreEdit) -> Verdict | None:
    """Return why a new line may not stand in a block, whatever it says."""
    reason = unfit_line(edit.new)
    return Verdict(edit, "drop" if reason == NOTHING else "keep", reason) if reason else None


def _as_line(edit: CoreEdit, bullet: str) -> CoreEdit:
    """Return the edit with its new text as one line of a list, its own citations moved to `cites`."""
    fact = fact_of(edit.new.strip())
    cited = [citation_name(*place) for place in fact.citations]
    cites = tuple(dict.fromkeys([*edit.cites, *cited]))
    return replace(edit, new=f"{bullet}{fact.words}" if fact.words else "", cites=cites)


def _with_citations(edit: CoreEdit, lines: Sequence[Said]) -> CoreEdit:
    return replace(edit, cites=tuple(dict.fromkeys(line.citation for line in lines)))


def _same_form(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _refused(verdict: Verdict, label: str, reason: str) -> Verdict:
    if verdict.edit.block != label or verdict.outcome != "pass":
        return verdict
    return Verdict(verdict.edit, "keep", reason)
