"""The builtins' reference page: complete, and true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muster.jq import compile_query, to_json
from muster.jq.builtins import NATIVES, all_names, definition_of
from muster.jq.builtins.definitions import DEFINITIONS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "jq.md"
_ROW = re.compile(
    r"^\| `(?P<name>\w+/\d)` \| (?P<doc>.+?) \| `(?P<example>.+?)` \| `(?P<outputs>.*)` \|$", re.MULTILINE
)
ROWS = [
    {key: text.replace("\\|", "|") for key, text in row.groupdict().items()} for row in _ROW.finditer(PAGE.read_text())
]


def test_every_builtin_has_its_row() -> None:
    assert [row["name"] for row in ROWS] == all_names()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_example_gives_what_the_page_says(row: dict[str, str]) -> None:
    outputs = compile_query(row["example"]).run(None)
    assert ", ".join(map(to_json, outputs)) == row["outputs"]


def test_every_definition_defines_what_it_is_filed_under() -> None:
    for key in DEFINITIONS:
        name, _, arity = key.rpartition("/")
        definition = definition_of(name, int(arity))
        assert definition is not None
        assert f"{definition.name}/{len(definition.parameters)}" == key


def test_no_builtin_is_defined_twice() -> None:
    assert {f"{name}/{arity}" for name, arity in NATIVES} & set(DEFINITIONS) == set()
