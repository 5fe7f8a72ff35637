"""What is typed, as values: texts, lists of texts and words of an enumeration need no library to be read.

typer reads every value with pydantic, whose import takes longer than most commands. Commands read these themselves;
anything that is not plain, and anything that is wrong, is left to typer, whose words about it are the better ones.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from typer._coercion import RuntimeParam, build_runtime_param
from typer.core import TyperArgument, TyperOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typer._click.core import Context, Parameter
    from typer._coercion import TypeDescriptor

    from muster.values.json import Json

_OTHER: Final = object()  # than plain


class PlainParam(RuntimeParam):
    """Reads what is plain; asks typer for the rest."""

    def __init__(self, descriptor: TypeDescriptor) -> None:
        super().__init__(descriptor.parameter_info, descriptor.annotation)
        object.__setattr__(self, "_descriptor", descriptor)  # the class is a frozen one

    _descriptor: TypeDescriptor

    def _coerce_value(self, value: Json, param: Json, ctx: Context) -> Json:
        found = _plain(value, self.annotation) if self.parameter_info.parser is None else _OTHER
        if found is not _OTHER:
            return found
        return build_runtime_param(self._descriptor)._coerce_value(value, param, ctx)  # noqa: SLF001 - of its own kind


def read_plainly(params: Iterable[Parameter]) -> None:
    """From now on these parameters read plain values themselves."""
    for param in params:
        if isinstance(param, TyperArgument | TyperOption) and param._runtime_param is None:  # noqa: SLF001 - see above
            param._runtime_param = PlainParam(param.type_descriptor)  # noqa: SLF001


def _plain(value: Json, wanted: Json) -> Json:
    """The value as it is wanted, if that takes nothing."""
    if wanted is str:
        return value if _is_text(value) else _OTHER
    if wanted == list[str]:
        return list(value) if isinstance(value, list | tuple) and all(map(_is_text, value)) else _OTHER
    if isinstance(wanted, type) and issubclass(wanted, StrEnum):
        return next((each for each in wanted if each == value), _OTHER)
    return _OTHER


def _is_text(value: Json) -> bool:
    """Whether it is a text, of bytes that are characters."""
    return type(value) is str and (value.isascii() or value.isprintable())
