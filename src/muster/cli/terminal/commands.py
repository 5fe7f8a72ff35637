"""What every command of `muster` is made of: typer's classes with our help, defaults from the settings file, and groups
whose commands are imported when they are called.

Command modules build their `app` with `App`; `main` and `hub/command.py` make the groups that load others. It does not
know what any command does.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import typer
from typer._click.core import Command as AnyCommand
from typer._click.core import ParameterSource
from typer._click.exceptions import BadParameter
from typer._click.globals import get_current_context
from typer.core import TyperCommand, TyperGroup

from muster.cli.terminal.help import help_text, usage
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter
    from typer._click.shell_completion import CompletionItem

    from muster.values.json import Json, JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command that is not imported yet: its module (`module:name` for one thing of it), a line about it, and the
    heading under which it is listed."""

    module: str
    summary: str
    heading: str = "Commands"


HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command: help in our words, defaults of the user's settings file."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Json
    ) -> Context:
        defaults = _defaults(self, info_name, args, parent, extra)
        try:
            return super().make_context(info_name, args, parent, **extra, **defaults)
        except BadParameter as error:
            _say_whose(error, defaults.get("default_map", {}), args)
            raise

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        ctx.args = _looked_at(self, ctx, args)
        return ctx.args

    def get_usage(self, ctx: Context) -> str:
        return f"Usage: {usage(self, ctx.command_path, {})}"

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        formatter.write(help_text(self, ctx, {}))


class Group(TyperGroup):
    """Several commands under one name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Json
    ) -> Context:
        if self.invoke_without_command:  # it is a command itself
            extra |= _defaults(self, info_name, args, parent, extra)
        return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        rest = _looked_at(self, ctx, args)
        ctx._protected_args, ctx.args = rest[:1], rest[1:]  # noqa: SLF001 - where groups keep the command's name
        return ctx.args

    def get_usage(self, ctx: Context) -> str:
        return f"Usage: {usage(self, ctx.command_path, self.listed(ctx))}"

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        formatter.write(help_text(self, ctx, self.listed(ctx)))

    def listed(self, ctx: Context) -> dict[str, dict[str, str]]:
        """A line about each of its commands, by heading."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        return {"Commands": {name: _summary(each) for name, each in found.items() if each and not each.hidden}}


class LazyGroup(Group):
    """A group that imports the module of a command when that command is called, and not before.

    A module has an `app` with commands of its own, or a function `command`.
    """

    modules: ClassVar[Mapping[str, Lazy]] = {}

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002 - typer's signature
        return list(self.modules)

    def get_command(self, ctx: Context, cmd_name: str) -> AnyCommand | None:  # noqa: ARG002 - typer's signature
        if cmd_name not in self.modules:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = self._loaded(cmd_name)
        return self.commands[cmd_name]

    def _loaded(self, name: str) -> AnyCommand:
        lazy = self.modules[name]
        module_name, _, attribute = lazy.module.partition(":")
        module = importlib.import_module(module_name)
        thing: Json = getattr(module, attribute or ("app" if hasattr(module, "app") else "command"))
        if not isinstance(thing, typer.Typer):
            single = App()
            single.command(name)(thing)
            thing = single
        found: AnyCommand = typer.main.get_command(thing)
        found.name, found.short_help = name, lazy.summary
        return found

    def listed(self, ctx: Context) -> dict[str, dict[str, str]]:  # noqa: ARG002 - as in a group that has them all
        found: dict[str, dict[str, str]] = {}
        for name, lazy in self.modules.items():
            found.setdefault(lazy.heading, {})[name] = lazy.summary
        return found

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        from typer._click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return AnyCommand.shell_complete(self, ctx, incomplete)
        names = self.modules.items()
        return [CompletionItem(name, help=lazy.summary) for name, lazy in names if name.startswith(incomplete)]

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, AnyCommand | None, list[str]]:
        if args and args[0] not in self.modules and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise InvalidObjectError("", self.unknown(ctx, args))
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: Context, args: list[str]) -> str:
        """What to say of a command that there is not."""
        from muster.values.nearest import nearest

        close = nearest(args[0], sorted(self.modules))
        meant = f": did you mean {' or '.join(close)}?" if close else ""
        return f"there is no command {args[0]!r}{meant} (`{ctx.command_path} --help` lists them)"


class App(typer.Typer):
    """A typer application whose commands are ours."""

    def __init__(self, *, cls: type[Group] = Group, help: str | None = None) -> None:  # noqa: A002 - typer's name
        told: JsonObject = {} if help is None else {"help": help}  # else the callback's docstring
        super().__init__(
            cls=cls,
            **told,
            no_args_is_help=True,
            add_completion=False,  # `muster completion` prints the scripts
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings=dict(HELP_OPTIONS),
        )

    def command(  # type: ignore[override]  # fewer settings than typer's: nobody needs the others
        self, name: str | None = None, *, hidden: bool = False
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        return super().command(name, cls=Command, hidden=hidden, context_settings=dict(HELP_OPTIONS))


def _looked_at(command: AnyCommand, ctx: Context, args: list[str]) -> list[str]:
    """What was typed so far, as it is, when a shell asks what can come next; what remains of it.

    To make values of it takes a library that takes longer to import than everything else.
    """
    options: list[Json] = [each for each in command.get_params(ctx) if each.param_type_name == "option"]
    waiting = {name for each in options if not each.is_flag for name in each.opts}
    complete = args[:-1] if args and args[-1] in waiting else list(args)  # the last one's value is what is asked for
    parser = command.make_parser(ctx)
    values, rest, _ = parser.parse_args(args=complete)
    ctx._opt_prefixes.update(parser._opt_prefixes)  # noqa: SLF001 - how a shell's word is known to be an option
    for param in command.get_params(ctx):
        value, source = param.consume_value(ctx, values)
        ctx.set_parameter_source(str(param.name), source)
        ctx.params[str(param.name)] = value
    return rest


def was_typed(parameter: str) -> bool:
    """Whether the command that runs was given a parameter by whoever typed it, not by the environment or a file."""
    ctx = get_current_context(silent=True)
    return ctx is not None and ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def _defaults(
    command: AnyCommand, name: str | None, args: list[str], parent: Context | None, extra: JsonMapping
) -> JsonObject:
    """What the settings file has to say; a part of `muster hub run` is told everything by it."""
    from muster.cli.settings.defaults import defaults_for

    if "--supervised" in args:
        return {}
    path = f"{parent.command_path} {name}" if parent is not None else str(name)
    quiet = _asks_for_help(args) or bool(extra.get("resilient_parsing"))
    return {"default_map": defaults_for(command, path, quiet=quiet)}


def _say_whose(error: BadParameter, defaults: JsonMapping, args: list[str]) -> None:
    """A wrong value that nobody typed is somebody's nevertheless."""
    from muster.cli.settings.defaults import origin_of

    param = error.param
    if param is None or param.name not in defaults or any(each.partition("=")[0] in param.opts for each in args):
        return
    error.message = f"{error.message} ({origin_of(param)} says so)"


def _asks_for_help(args: list[str]) -> bool:
    return any(each in HELP_OPTIONS["help_option_names"] for each in args)


def _summary(command: AnyCommand) -> str:
    return (command.short_help or command.help or "").strip().partition("\n\n")[0].replace("\n", " ")
