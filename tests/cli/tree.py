"""The commands of `muster`, all of them loaded, for tests that look at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from muster.cli.main import application
from muster.cli.terminal.commands import Group
from muster.cli.terminal.help import split_help

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer._click.core import Command, Context


def all_commands() -> dict[str, Command]:
    """By the words that call them, groups too."""
    root = typer.main.get_command(application())
    with root.make_context("muster", [], resilient_parsing=True) as ctx:
        return dict(_below(root, "muster", ctx))


def _below(command: Command, path: str, ctx: Context) -> Iterator[tuple[str, Command]]:
    yield path, command
    if isinstance(command, Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            assert child is not None
            yield from _below(child, f"{path} {name}", ctx)


def is_only_a_group(command: Command) -> bool:
    return isinstance(command, Group) and not command.invoke_without_command


def examples(command: Command) -> tuple[str, ...]:
    return split_help(command.help or "")[1]
