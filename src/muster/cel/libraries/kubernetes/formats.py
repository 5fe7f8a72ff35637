"""Kubernetes' named formats: format.dns1123Label().validate(text) and its kin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import STRING, list_of, optional_of, struct
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.runtime import PATTERN, TRAVERSAL, Price, size_of
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.kubernetes.opaque import Wrapped
from muster.cel.values import OPTIONAL_NONE, OptionalValue, optional
from muster.values.formats import FORMATS, NamedFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

FORMAT = struct("kubernetes.NamedFormat")
_NAME_PATTERN = 128  # the size Kubernetes assumes for the pattern behind a format


class FormatValue(Wrapped[NamedFormat]):
    __slots__ = ()
    cel_type = FORMAT

    @property
    def max_regex_size(self) -> int:
        """What the cost of a validation is computed from."""
        return self.content.pattern_size

    def __str__(self) -> str:
        return self.content.name


_VALUES = {name: FormatValue(described) for name, described in FORMATS.items()}


def named(name: str) -> OptionalValue:
    found = _VALUES.get(name)
    return OPTIONAL_NONE if found is None else optional(found)


def validate(described: FormatValue, text: str) -> OptionalValue:
    problems = described.content.problems(text)
    return optional(problems) if problems else OPTIONAL_NONE


def _constant(value: FormatValue) -> Callable[[], FormatValue]:
    return lambda: value


def _validated(args: Sequence[Value], _: Value) -> int | None:
    own = args[0] if args else None
    if isinstance(own, OptionalValue):  # Kubernetes looks into it
        own = own.content
    pattern_size = getattr(own, "max_regex_size", None) if len(args) >= 2 else None
    if not isinstance(pattern_size, int):
        return None
    return math.ceil((1.0 + size_of(args[1])) * TRAVERSAL) * math.ceil(pattern_size * PATTERN)


def _validated_size(_: Operand | None, args: Arguments) -> CallEstimate | None:
    if not args:
        return None
    return CallEstimate(args[0].size_or_hint().scaled(TRAVERSAL).scaled(_NAME_PATTERN * PATTERN))


FORMATS_LIBRARY = Library(
    "kubernetes.format",
    (
        Function(
            "validate",
            (method("format-validate", (FORMAT, STRING), optional_of(list_of(STRING)), validate),),
            doc="What is wrong with the text, as an optional list; no value if it has the format.",
            examples={"format.uuid().validate('x').value()": ["does not match the UUID format"]},
            charges={KUBERNETES: Charge(Price(_validated, declines=True), _validated_size)},
        ),
        Function(
            "format.named",
            (call("format-named", (STRING,), optional_of(FORMAT), named),),
            doc="The format of that name, as an optional.",
            examples={"format.named('date').hasValue()": True, "format.named('nope').hasValue()": False},
        ),
        *(
            Function(
                f"format.{name}",
                (call(f"format.{name}", (), FORMAT, _constant(value)),),
                doc=f"The format {value.content.name}.",
            )
            for name, value in _VALUES.items()
        ),
    ),
)
