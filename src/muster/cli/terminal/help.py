"""The text of `--help`: what a command does, how it is called, examples, and its options in groups.

Examples are the lines below `Examples:` in a command's docstring; a test runs every one. Options say what they take in
a word of their own (`FILE`, `NAMESPACE`), never in the name of a type.
"""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final

from muster.cli.terminal.paint import Shade, paint_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typer._click.core import Command, Context
    from typer.core import TyperArgument, TyperOption

    from muster.cli.terminal.paint import Paint
    from muster.values.json import Json

_EXAMPLES: Final = "Examples:"
_WIDEST: Final = 100
_LONGEST_TERM: Final = 30  # a longer one has its explanation on the next line
_OWN: Final = "Options"
_LAST: Final = ("Limits",)  # groups that come after the others: long, and rarely looked at
_HELP: Final = "Show this text."


Listed = Mapping[str, Mapping[str, str]]  # lines about a group's commands, by heading


def help_text(command: Command, ctx: Context, commands: Listed) -> str:
    """The whole text; `commands` are those of a group."""
    return "\n".join(_lines(command, ctx, commands, min(shutil.get_terminal_size().columns, _WIDEST))) + "\n"


def split_help(text: str) -> tuple[str, tuple[str, ...]]:
    """What a command's docstring says, and its examples."""
    told, _, lines = inspect.cleandoc(text).partition(_EXAMPLES)
    return told.strip(), tuple(line.strip() for line in lines.splitlines() if line.strip())


def choices(option: Json) -> list[str] | None:
    """What an option may be, if that is one of a few words."""
    found = getattr(option.type, "choices", None)
    return None if found is None else [str(each.value if isinstance(each, Enum) else each) for each in found]


def value_word(option: Json) -> str:
    """What an option takes, in a word: its own, its choices, or one made from its name; nothing for a switch."""
    if option.is_flag or option.count:
        return ""
    if option.metavar is not None:
        return str(option.metavar)
    if (found := choices(option)) is not None:
        return "|".join(found)
    if option.type.name == "path":
        return "FILE"
    if option.type.name.startswith(("int", "float")):
        return "NUMBER"
    longest: str = max(option.opts, key=len)
    return longest.rpartition("-")[2].upper()


def argument_word(argument: Json) -> str:
    """What an argument is called."""
    return str(argument.metavar or argument.name.upper())


def usage(command: Command, path: str, commands: Listed) -> str:
    """How it is called."""
    pieces = [path]
    for argument in _arguments(command):
        word = argument_word(argument)
        word = f"{word} …" if argument.nargs != 1 and "…" not in word else word
        pieces.append(word if argument.required else f"[{word}]")
    if commands:
        pieces.append("[COMMAND]" if getattr(command, "invoke_without_command", False) else "COMMAND")
    return " ".join([*pieces, "[options]"])


def _lines(command: Command, ctx: Context, commands: Listed, width: int) -> Iterator[str]:
    paint = paint_for()
    told, examples = split_help(command.help or "")
    for paragraph in told.split("\n\n"):
        yield textwrap.fill(" ".join(paragraph.split()), width)
        yield ""
    yield f"{paint('Usage:', Shade.STRONG)} {usage(command, ctx.command_path, commands)}"
    if examples:
        yield from ("", paint(_EXAMPLES, Shade.STRONG), *(f"  {line}" for line in examples))
    for title, named in commands.items():
        yield from _section(title, list(named.items()), width, paint)
    arguments = [(argument_word(each), each.help or "") for each in _arguments(command)]
    yield from _section("Arguments", arguments, width, paint)
    for title, rows in _grouped(command, ctx).items():
        yield from _section(title, rows, width, paint)


def _section(title: str, rows: Sequence[tuple[str, str]], width: int, paint: Paint) -> Iterator[str]:
    if not rows:
        return
    yield from ("", paint(f"{title}:", Shade.STRONG))
    short = [len(term) for term, _ in rows if len(term) <= _LONGEST_TERM]
    column = max(short, default=_LONGEST_TERM // 2) + 4
    for term, told in rows:
        wrapped = textwrap.wrap(told, max(width - column, 20), break_on_hyphens=False)
        if len(term) + 4 > column:
            yield f"  {term}"
            yield from (" " * column + line for line in wrapped)
            continue
        first, *rest = wrapped or [""]
        yield f"  {term}".ljust(column) + first
        yield from (" " * column + line for line in rest)


def _arguments(command: Command) -> list[TyperArgument]:
    found: list[Json] = [each for each in command.params if each.param_type_name == "argument"]
    return [each for each in found if not each.hidden]


def _grouped(command: Command, ctx: Context) -> dict[str, list[tuple[str, str]]]:
    """The options by group: the command's own first, `--help` at the end of those."""
    found: dict[str, list[tuple[str, str]]] = {_OWN: []}
    later: dict[str, list[tuple[str, str]]] = {}
    for each in command.get_params(ctx):
        option: Json = each
        if each.param_type_name != "option" or option.hidden or each.name == "help":
            continue
        group = option.rich_help_panel or _OWN
        (later if group in _LAST else found).setdefault(group, []).append((option_term(option), option_words(option)))
    found[_OWN].append(("-h, --help", _HELP))
    return found | later


def option_term(option: TyperOption) -> str:
    """`-n, --namespace NAMESPACE`."""
    names = sorted(option.opts, key=len)
    term = ", ".join(names) if names[0].startswith("-") and not names[0].startswith("--") else f"    {', '.join(names)}"
    if option.secondary_opts:
        term += f", {', '.join(option.secondary_opts)}"
    return f"{term} {value_word(option)}".rstrip()


def option_words(option: TyperOption) -> str:
    """What it is for, its default, and the variable that gives another one."""
    extra = []
    default = option.default
    if option.show_default and default not in (None, False, "", (), []) and not option.secondary_opts:
        extra.append(f"default {default.value if isinstance(default, Enum) else default}")
    if option.envvar and option.show_envvar:
        extra.append(f"${option.envvar}")
    if option.required:
        extra.append("must be given")
    told = option.help or ""
    return f"{told} ({', '.join(extra)})" if extra else told
