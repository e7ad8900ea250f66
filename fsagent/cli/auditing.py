"""The command audit: what is wrong with memory, for a person and for CI."""

from __future__ import annotations

import click

from fsagent.cli.common import json_option, note, open_workspace, say, say_json, workspace_option

EXIT_FINDINGS = 1


@click.command()
@click.option(
    "--only",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Look for this kind alone; repeatable. --kinds lists them.",
)
@click.option("--kinds", "listing", is_flag=True, help="List the kinds of findings, and stop.")
@workspace_option
@json_option
def audit(*, kinds: tuple[str, ...], listing: bool, workspace: str | None, as_json: bool) -> int:
    """Find what is wrong with memory: repeated, contradicting, stale, uncited facts, secrets.

    Changes nothing. Exit status 0 when memory is clean, 1 when there is something to mend, 2 on an
    error, so that CI can run it.
    """
    from fsagent.agent.audit.audit import audit as audited
    from fsagent.agent.audit.findings import KINDS

    if listing:
        for kind, words in KINDS.items():
            say(f"{kind:<16}{words}")
        return 0
    with open_workspace(workspace) as memory:
        found = audited(memory, kinds)
    if as_json:
        say_json([finding.as_dict() for finding in found])
        return EXIT_FINDINGS if found else 0
    for finding in found:
        say(f"{finding.kind:<16}{finding.path}:{finding.line}: {finding.text}")
        say(f"{'':<16}-> {finding.advice}")
    note(f"{len(found)} finding{'s' * (len(found) != 1)}" if found else "memory is clean")
    return EXIT_FINDINGS if found else 0
