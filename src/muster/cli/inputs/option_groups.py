"""Options that belong together, written once as a dataclass: `@grouped` gives a command an option per field.

`arguments_of` turns such options into a command line again, for the processes that `muster hub run` starts. It knows
no option by name.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from enum import Enum
from typing import TYPE_CHECKING, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance
    from typer.models import OptionInfo

    from muster.values.json import Json


def grouped(group: type[DataclassInstance], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that is called with `name` of this class, and has an option for each of its fields instead."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = inspect.get_annotations(command, eval_str=True)
        signature = inspect.signature(command)
        own = [each.replace(annotation=hints[key]) for key, each in signature.parameters.items() if key != name]
        made = _parameters(group)

        def run(**given: Json) -> None:
            command(**{name: group(**{each.name: given.pop(each.name) for each in made})}, **given)

        put_on(run, command, [*own, *made])
        return run

    return decorate


def put_on(run: Callable[..., None], command: Callable[..., None], parameters: list[inspect.Parameter]) -> None:
    """Make `run` look like the command, with these parameters: typer reads nothing else."""
    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    by_keyword = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__signature__ = inspect.Signature(by_keyword)  # type: ignore[attr-defined]  # functions have it when they are given one
    run.__annotations__ = {each.name: each.annotation for each in by_keyword} | {"return": None}


def arguments_of(options: DataclassInstance) -> list[str]:
    """The command line by which another command gets those of the options that are not the usual ones."""
    words: list[str] = []
    found = option_infos(type(options))
    for each in fields(options):
        value = getattr(options, each.name)
        if value == _usual(each) or value is None:
            continue
        words += _words(found[each.name], value)
    return words


def option_infos(group: type[DataclassInstance]) -> dict[str, OptionInfo]:
    """What is said of each field's option."""
    hints = get_type_hints(group, include_extras=True)
    return {each.name: get_args(hints[each.name])[1] for each in fields(group)}


def _words(info: OptionInfo, value: Json) -> list[str]:
    declared = info.default if isinstance(info.default, str) else ""
    option, _, negated = next(each for each in (declared, *(info.param_decls or ())) if each).partition("/")
    if isinstance(value, bool):
        return [option if value else negated]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for each in values for word in (option, str(each.value if isinstance(each, Enum) else each))]


def _parameters(group: type[DataclassInstance]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=_usual(each), annotation=hints[each.name])
        for each in fields(group)
    ]


def _usual(each: Json) -> Json:
    return each.default if each.default is not MISSING else None
