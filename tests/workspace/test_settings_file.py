"""One list of names in the settings is changed; every other byte stays."""

from __future__ import annotations

import pytest
import yaml

from fsagent.errors import ConfigError
from fsagent.workspace.settings_file import set_names, with_names
from fsagent.workspace.tree import Tree

KEY = "shared_blocks"

# id: before, after (of the names `plan` and `über uns`)
FORMS = {
    "not there": ("# mine\nmodel: x\n", '# mine\nmodel: x\nshared_blocks: [plan, "über uns"]\n'),
    "empty": ("", 'shared_blocks: [plan, "über uns"]\n'),
    "no last line end": ("a: 1", 'a: 1\nshared_blocks: [plan, "über uns"]\n'),
    "a list in a line": (
        "a: 1\nshared_blocks: [x]  # why\nmine: {b: 2}\n",
        'a: 1\nshared_blocks: [plan, "über uns"]  # why\nmine: {b: 2}\n',
    ),
    "a list of lines": (
        "shared_blocks:\n  - x\n  - y   # y\n\n# tail\nb: 1\n",
        'shared_blocks: [plan, "über uns"]   # y\n\n# tail\nb: 1\n',
    ),
    "no value": ("shared_blocks:\nb: 1\n", 'shared_blocks: [plan, "über uns"]\nb: 1\n'),
    "CRLF": (
        "a: 1\r\nshared_blocks: x\r\nb: 1\r\n",
        'a: 1\r\nshared_blocks: [plan, "über uns"]\r\nb: 1\r\n',
    ),
    "a comment alone": (
        "# shared_blocks: [a]\n",
        '# shared_blocks: [a]\nshared_blocks: [plan, "über uns"]\n',
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_rest_of_the_settings_stays(form: str) -> None:
    before, after = FORMS[form]
    assert with_names(before, KEY, ["plan", "über uns"]) == after
    kept = yaml.safe_load(before) or {}
    assert yaml.safe_load(after) == {**kept, KEY: ["plan", "über uns"]}


@pytest.mark.parametrize(
    "name", ["no", "true", "1", "a: b", "- x", "a, b", "#a", "x\u2028y", "null"]
)
def test_a_name_is_read_back_as_it_was(tree: Tree, name: str) -> None:
    set_names(tree, KEY, [name])
    assert yaml.safe_load(tree.read_text("fsagent.yaml"))[KEY] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "{a: 1, b: 2}\n",
        "shared_blocks: [\n  x, # why x\n  y,\n]\n",
        "shared_blocks: &names [x]\nother: *names\n",
        "a: 1\n...\n",
        "a: [\n",
    ],
    ids=["flow", "comments inside", "an anchor", "an end mark", "broken"],
)
def test_what_cannot_be_changed_safely_is_left_to_a_person(tree: Tree, text: str) -> None:
    tree.replace("fsagent.yaml", text.encode())
    with pytest.raises(ConfigError, match=r"by hand|not valid YAML"):
        set_names(tree, KEY, ["plan"])
    assert tree.read_text("fsagent.yaml") == text
