"""Print the command of the README that stands under a marker: <!-- ci: main --> or <!-- ci: tests -->."""

import re
import sys
from pathlib import Path


def command(readme: str, marker: str) -> str:
    """Return the one line of the first code block behind the marker."""
    found = re.search(rf"<!-- ci: {marker} -->\s*```\w*\n(.+?)\n```", readme, re.S)
    if found is None:
        raise SystemExit(f"README.md has no code block behind <!-- ci: {marker} -->")
    return found[1]


if __name__ == "__main__":
    print(command(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]))
