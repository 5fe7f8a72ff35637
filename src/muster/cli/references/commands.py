"""Makes docs/reference/cli.md from the commands: `python -m muster.cli.references.commands > docs/reference/cli.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from muster.cli.main import COMMANDS, application
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterator


_INTRODUCTION = """# Commands

Generated from the commands; a test keeps it so. Exit codes, the same for all: 0 yes or ok; 1 no, findings, or a guard
that tripped; 2 bad input; 3 server trouble; 4 not permitted.
"""


def reference() -> str:
    """The page."""
    root: Json = typer.main.get_command(application(list(COMMANDS)))
    parts = [_INTRODUCTION]
    for name in sorted(COMMANDS):
        parts += _sections(root.commands[name], f"muster {name}")
    return "\n".join(parts)


def _sections(command: Json, path: str) -> Iterator[str]:
    visible = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in visible if each.param_type_name == "argument"]
    options = [each for each in visible if each.param_type_name == "option" and each.name != "help"]
    yield f"## `{path}`\n\n{(command.help or '').strip()}\n"
    if arguments:
        yield "\n".join(f"- `{each.name.upper()}`: {each.help or ''}".rstrip(": ") for each in arguments) + "\n"
    if options:
        rows = [f"| `{', '.join(each.opts)}` | {(each.help or '').strip()} |" for each in options]
        yield "| option | |\n|---|---|\n" + "\n".join(rows) + "\n"
    for name, child in sorted(getattr(command, "commands", {}).items()):
        if not child.hidden:
            yield from _sections(child, f"{path} {name}")


if __name__ == "__main__":
    sys.stdout.write(reference())
