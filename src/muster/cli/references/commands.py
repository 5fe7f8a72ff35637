"""Makes docs/reference/cli.md from the commands: `python -m muster.cli.references.commands > docs/reference/cli.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from muster.cli.main import application
from muster.cli.terminal.commands import Group
from muster.cli.terminal.help import argument_word, option_term, option_words, split_help, usage
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer._click.core import Command, Context


_INTRODUCTION = """# Commands

Generated from the commands; a test keeps it so. Exit codes, the same for all: 0 yes or ok; 1 no, findings, or a guard
that tripped; 2 bad input; 3 server trouble; 4 not permitted.
"""


def reference() -> str:
    """The page."""
    root = typer.main.get_command(application())
    parts = [_INTRODUCTION]
    with root.make_context("muster", [], resilient_parsing=True) as ctx:
        for name, command in sorted(_children(root, ctx).items()):
            parts += _sections(command, f"muster {name}", ctx)
    return "\n".join(parts)


def _children(command: Command, ctx: Context) -> dict[str, Command]:
    if not isinstance(command, Group):
        return {}
    found = {name: command.get_command(ctx, name) for name in command.list_commands(ctx)}
    return {name: each for name, each in found.items() if each is not None and not each.hidden}


def _sections(command: Command, path: str, ctx: Context) -> Iterator[str]:
    told, examples = split_help(command.help or "")
    yield f"## `{path}`\n\n{told}\n"
    children = _children(command, ctx)
    yield f"```\n{usage(command, path, {'': dict.fromkeys(children, '')} if children else {})}\n```\n"
    if examples:
        yield "```\n" + "\n".join(examples) + "\n```\n"
    visible: list[Json] = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in visible if each.param_type_name == "argument"]
    if arguments:
        yield "\n".join(f"- `{argument_word(each)}`: {each.help or ''}".rstrip(": ") for each in arguments) + "\n"
    options = [each for each in visible if each.param_type_name == "option" and each.name != "help"]
    if options:
        yield "| option | |\n|---|---|\n" + "\n".join(map(_in_table, options)) + "\n"
    for name, child in sorted(children.items()):
        yield from _sections(child, f"{path} {name}", ctx)


def _in_table(option: Json) -> str:
    """A row; bars between choices would end its cells."""
    term, told = (each.replace("|", "\\|") for each in (option_term(option).strip(), option_words(option)))
    return f"| `{term}` | {told} |"


if __name__ == "__main__":
    sys.stdout.write(reference())
