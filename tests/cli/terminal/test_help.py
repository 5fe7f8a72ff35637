"""What `--help` says: in words, with examples, in groups. That the examples run is tests/e2e/test_help_examples.py."""

from __future__ import annotations

import io
import re

import pytest

from muster.cli.main import run
from tests.cli.tree import all_commands, examples, is_only_a_group

COMMANDS = all_commands()
NAMES_OF_TYPES = re.compile(
    r"\b(TEXT|STR|STRING|INTEGER|INT|FLOAT|BOOL|BOOLEAN|PATH|LIST)\b|<\w+>|\[OPTIONS\]|\[ARGS\]"
)


def helped(path: str) -> str:
    out = io.StringIO()
    assert run([*path.split()[1:], "--help"], io.StringIO(), out, io.StringIO()) == 0
    return out.getvalue()


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_every_command_says_what_it_takes_in_words(path: str) -> None:
    text = helped(path).replace("NAME=PATH", "").replace("[NAME=]PATH", "")
    assert NAMES_OF_TYPES.findall(text) == []
    assert text.startswith(("Usage", *map(chr, range(ord("A"), ord("Z") + 1))))
    assert f"Usage: {path}" in text
    assert all(len(line) <= 100 or line.startswith("  muster") for line in text.splitlines())


@pytest.mark.parametrize("path", sorted(path for path, command in COMMANDS.items() if not is_only_a_group(command)))
def test_every_command_has_examples_of_itself(path: str) -> None:
    shown = examples(COMMANDS[path])
    assert len(shown) >= (1 if path == "muster hub token revoke" else 2)
    assert all(path.removesuffix(" run") in line for line in shown if path == "muster jq run")
    assert all(path in line for line in shown if path != "muster jq run")


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_every_option_and_argument_is_explained(path: str) -> None:
    for param in COMMANDS[path].params:
        if not getattr(param, "hidden", False):
            assert getattr(param, "help", ""), f"{path} {param.name}"


def test_the_first_help_says_where_to_start() -> None:
    text = helped("muster")
    assert "muster hub run --demo" in text
    assert "muster demo fleet" in text
    assert "left to it: describe, jsonpath" in " ".join(text.split())


def test_the_servers_options_stand_together() -> None:
    lines = helped("muster get").splitlines()
    start = lines.index("Server:")
    block = lines[start : lines.index("", start)]
    assert [word for line in block for word in line.split() if word.startswith("--")] == [
        "--namespace",
        "--all-namespaces",
        "--context",
        "--kubeconfig",
    ]


def test_a_mistake_shows_the_same_usage() -> None:
    err = io.StringIO()
    assert run(["get"], io.StringIO(), io.StringIO(), err) == 2
    assert err.getvalue() == (
        "Usage: muster get KIND[,KIND] [NAME …] [options]\n"
        "Try 'muster get -h' for help.\n\nError: Missing argument 'KIND[,KIND]'.\n"
    )
