"""Which implementation a call means for the values it is given, and what cel-go says when there is none.

The plan binds every call to an `Invocation`; interpreter and generated code call it with values. Errors come back
as values, since CEL's logical operators may still absorb them. Running out of a budget is not absorbed: it is raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

from muster.cel.checking.types import Kind, Type
from muster.cel.values import Duration, Timestamp, Uint, compare, format_double, no_such_overload, type_of
from muster.errors import BudgetExceededError, EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.declarations import Overload
    from muster.cel.values.value import Value

_Error = TypeVar("_Error", bound=BaseException)

_ANYTHING = frozenset({Kind.DYN, Kind.ANY, Kind.TYPE_PARAM})

_NUMBERS = frozenset({Kind.INT, Kind.UINT, Kind.DOUBLE})
_ORDERED = _NUMBERS | {Kind.BOOL, Kind.STRING, Kind.BYTES, Kind.TIMESTAMP, Kind.DURATION}
_SIZED = frozenset({Kind.STRING, Kind.BYTES, Kind.LIST, Kind.MAP})

# Operators that cel-go implements once for all types: the first operand's kinds that take part at all. For other kinds
# the error names the operator; when only the second operand does not fit, the error is bare.
OPERAND_KINDS: dict[str, frozenset[Kind]] = {
    "_+_": _NUMBERS | {Kind.STRING, Kind.BYTES, Kind.LIST, Kind.TIMESTAMP, Kind.DURATION},
    "_-_": _NUMBERS | {Kind.TIMESTAMP, Kind.DURATION},
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset({Kind.INT, Kind.UINT}),
    "-_": frozenset({Kind.INT, Kind.DOUBLE, Kind.BOOL, Kind.DURATION}),
    "_<_": _ORDERED,
    "_<=_": _ORDERED,
    "_>_": _ORDERED,
    "_>=_": _ORDERED,
    "size": _SIZED,
    "matches": frozenset({Kind.STRING}),
}
# Functions implemented once for all types without such a restriction, or that look at their operands themselves.
_BARE = frozenset({"!_", "@in", "_in_", "in", "type", "dyn", "contains", "startsWith", "endsWith"})
SINGLETONS = frozenset(OPERAND_KINDS) | (_BARE - {"contains", "startsWith", "endsWith"})

_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "_<_": lambda order: order < 0,
    "_<=_": lambda order: order <= 0,
    "_>_": lambda order: order > 0,
    "_>=_": lambda order: order >= 0,
}


# Of values of these classes, the class alone decides which overload takes them.
_PLAIN = frozenset({str, int, bool, float, type(None), bytes, Uint, Timestamp, Duration})


def fits(wanted: Type, value: Value) -> bool:
    """Whether a value may be given for a declared type; of lists and maps the first element speaks for the rest."""
    kind = wanted.kind
    if kind in _ANYTHING:
        return True
    if kind is Kind.WRAPPER:
        return value is None or fits(wanted.params[0], value)
    if wanted.name != type_of(value).name:
        return False
    if kind is Kind.LIST:
        return not value or fits(wanted.params[0], value[0])
    if kind is Kind.MAP:
        if not value:
            return True
        key, element = next(iter(value.items()))
        return fits(wanted.params[0], key) and fits(wanted.params[1], element)
    return True


LONGEST_ERROR = 4000  # characters; the rest of a text that quotes its argument tells nobody anything


def call_safely(implementation: Callable[..., Any], args: Sequence[Value]) -> Value:
    """The value, or the error as a value, always of the same class; a spent budget ends the evaluation."""
    try:
        return implementation(*args)
    except EvaluationError as error:
        return as_value(error)


def as_value(error: EvaluationError) -> EvaluationError:
    """An error of an implementation as expressions see it; a spent budget goes on."""
    if isinstance(error, BudgetExceededError):
        raise error
    if len(error.message) > LONGEST_ERROR:
        return EvaluationError(f"{error.message[:LONGEST_ERROR]}…", error.kind, error.about)
    return alone(error) if type(error) is EvaluationError else EvaluationError(str(error), error.kind, error.about)


def alone(error: _Error) -> _Error:
    """The error without the way it came: values are kept, and the frames of a traceback hold all that these saw."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


class Invocation(Struct, frozen=True, eq=False):
    """A call, bound: `overload_id` is empty when several overloads are possible.

    With `until_error` the arguments are evaluated one after the other and the first error ends it, otherwise all of
    them are; values are the same, costs are not. `strict` calls never see an error. A `terse` one does not say which
    types it has no overload for.
    """

    function: str
    overload_id: str
    overloads: tuple[Overload, ...]
    until_error: bool = False
    strict: bool = True
    terse: bool = False
    _chosen: dict[tuple[type, ...], Overload] = field(default_factory=dict)

    def __call__(self, meter: Meter, args: Sequence[Value]) -> Value:
        """The result for the values, or an error as a value."""
        comparison = _COMPARISONS.get(self.function)
        if comparison is not None and len(args) == 2:
            return self._compare(comparison, args)
        classes = tuple(map(type, args))
        overload = self._chosen.get(classes)
        if overload is None:
            overload = self._first_that_fits(args)
            if overload is None:
                if self.function == "-_" and isinstance(args[0], Duration):
                    return call_safely(Duration, (-args[0].ns,))  # though the checker knows no such overload
                return self.no_overload(args)
            if _PLAIN.issuperset(classes):
                self._chosen[classes] = overload
        assert overload.impl is not None  # noqa: S101 - those without one are passed over
        return call_safely(overload.impl, (meter, *args) if overload.metered else args)

    def _first_that_fits(self, args: Sequence[Value]) -> Overload | None:
        for overload in self.overloads:
            if len(overload.args) != len(args) or overload.impl is None:
                continue
            if overload.lenient or all(map(fits, overload.args, args)):
                return overload
        return None

    def _compare(self, comparison: Callable[[int], bool], args: Sequence[Value]) -> Value:
        left, right = args
        if type_of(left).kind not in _ORDERED:
            return self.no_overload(args)
        try:
            return comparison(compare(left, right))
        except EvaluationError as error:
            return alone(error)

    def no_overload(self, args: Sequence[Value]) -> EvaluationError:
        kinds = OPERAND_KINDS.get(self.function)
        if self.terse or self.function in _BARE or (kinds is not None and type_of(args[0]).kind in kinds):
            return EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        if kinds is not None or (not self.overloads and args):
            # The type of the first operand does not take part, or nobody declared the function. Texts and times are
            # asked whether they have a method of that name, and answer without it.
            if isinstance(args[0], (str, Timestamp, Duration)):
                return EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
            return EvaluationError(f"no such overload: {self.function}", FailureKind.NO_SUCH_OVERLOAD)
        return no_such_overload(self.function, *args)


def list_index(index: Value) -> int:
    """A position in a list from an index value; doubles and uints count when they are whole."""
    kind = type(index)
    if kind is int or kind is Uint:
        return int(index)
    if kind is float:
        if index == index and abs(index) < 2**63 and index == int(index):
            return int(index)
        raise EvaluationError(f"unsupported index value {format_double(index)} in list", FailureKind.UNSUPPORTED_INDEX)
    raise EvaluationError(f"unsupported index type '{type_of(index).name}' in list", FailureKind.UNSUPPORTED_INDEX)
