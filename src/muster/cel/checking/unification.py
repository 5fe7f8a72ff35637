"""Which type may stand where another is expected, and what the type parameters then mean.

The checker keeps one `Substitution` for an expression. The rules are cel-go's, including its leniency towards dyn,
errors and null. Nothing here knows of trees or declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import DYN, Kind, Type, written
from muster.cel.costs.compile_budget import TYPES_PER_UNIT, CompileBudget
from muster.values.arguments import expected

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARAMETER = Kind.TYPE_PARAM
_WILDCARDS = frozenset((Kind.DYN, Kind.ANY, Kind.ERROR))
_DYNAMIC = frozenset((Kind.DYN, Kind.ANY))
_PLAIN = frozenset(
    (Kind.BOOL, Kind.BYTES, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.UINT)
)
_PARAMETRIC = frozenset((Kind.OPAQUE, Kind.LIST, Kind.MAP, Kind.TYPE))
_CONTAINERS = frozenset((Kind.OPAQUE, Kind.LIST, Kind.MAP))
_NULLABLE = frozenset((Kind.NULL, Kind.OPAQUE, Kind.STRUCT, Kind.DURATION, Kind.TIMESTAMP, Kind.WRAPPER))
_DISPLAYED = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}


def is_dyn(candidate: Type) -> bool:
    return candidate.kind in _DYNAMIC


def unwrapped_optional(candidate: Type) -> tuple[Type, bool]:
    """What an optional holds, and whether it was one."""
    if candidate.kind is Kind.OPAQUE and candidate.name == "optional_type":
        return candidate.params[0], True
    return candidate, False


def displayed(shown: Type) -> str:
    """The type as the checker's messages write it, which is not how the type of a result is written."""
    return written(expected(shown, Type, "shown", "a type such as DYN"), _DISPLAYED)


def renamed(candidate: Type, names: dict[str, Type]) -> Type:
    """The type with its parameters replaced by others."""
    if candidate.kind is _PARAMETER:
        return names.get(candidate.name, candidate)
    if not candidate.params:
        return candidate
    return Type(candidate.kind, candidate.name, tuple([renamed(parameter, names) for parameter in candidate.params]))


def _is_equal_or_less_specific(first: Type, second: Type) -> bool:
    if Kind.WRAPPER in (first.kind, second.kind):  # a wrapper is as specific as what it wraps
        first, second = _unwrapped(first), _unwrapped(second)
    if is_dyn(first) or first.kind is Kind.TYPE_PARAM:
        return True
    if is_dyn(second) or second.kind is Kind.TYPE_PARAM or first.kind is not second.kind:
        return False
    if first.kind is Kind.TYPE:
        return True
    if first.kind in _CONTAINERS:
        if first.name != second.name or len(first.params) != len(second.params):
            return False
        for one, other in zip(first.params, second.params, strict=True):
            if not _is_equal_or_less_specific(one, other):
                return False
        return True
    return first == second


def _unwrapped(candidate: Type) -> Type:
    return candidate.params[0] if candidate.kind is Kind.WRAPPER else candidate


def most_general(first: Type, second: Type) -> Type:
    """The more general of two types that are known to fit."""
    return first if _is_equal_or_less_specific(first, second) else second


class Substitution:
    """What the type parameters of an expression stand for so far."""

    def __init__(self, budget: CompileBudget | None = None) -> None:
        self.budget = budget or CompileBudget()
        self._visits = 0
        self._meaning: dict[str, Type] = {}
        self._undo: list[tuple[str, Type | None]] = []

    def assignable(self, given: Type, wanted: Type) -> bool:
        """Whether `given` fits `wanted`; if so, what that says of type parameters is kept, otherwise nothing is."""
        if given is wanted and given.kind not in _PARAMETRIC:
            return True
        return self._kept(self._fits(given, wanted))

    def all_assignable(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        if len(given) != len(wanted):
            return False
        for one, other in zip(given, wanted, strict=True):
            kind, wanted_kind = one.kind, other.kind
            if wanted_kind in _PLAIN and (kind in _PLAIN or kind in _WILDCARDS):  # as most are
                self._visits += 1
                if self._visits == TYPES_PER_UNIT:
                    self._visits = 0
                    self.budget.spend(1)
                fits = kind is wanted_kind or kind in _WILDCARDS
            else:
                fits = self._fits(one, other)
            if not fits:
                return self._kept(fits=False) if self._undo else False
        return self._kept(fits=True) if self._undo else True

    def _kept(self, fits: bool) -> bool:
        if not fits:
            for name, meaning in reversed(self._undo):
                if meaning is None:
                    del self._meaning[name]
                else:
                    self._meaning[name] = meaning
        self._undo.clear()
        return fits

    def _bind(self, parameter: Type, meaning: Type) -> None:
        self._undo.append((parameter.name, self._meaning.get(parameter.name)))
        self._meaning[parameter.name] = meaning

    def apply(self, to: Type, *, unbound_to_dyn: bool = False) -> Type:
        """The type with every parameter replaced by what it stands for."""
        while to.kind is _PARAMETER:
            meaning = self._meaning.get(to.name)
            if meaning is None:
                return DYN if unbound_to_dyn else to
            to = meaning
        if not to.params or to.kind not in _PARAMETRIC:
            return to
        self._visit()
        params = []
        changed = False
        for parameter in to.params:  # a loop: types nest as deep as expressions, and Python's stack is not endless
            meaning = self.apply(parameter, unbound_to_dyn=unbound_to_dyn)
            changed = changed or meaning is not parameter
            params.append(meaning)
        return Type(to.kind, to.name, tuple(params)) if changed else to

    def _visit(self) -> None:
        """Types are graphs, as values are: what counts is how often one is come across."""
        self._visits += 1
        if self._visits == TYPES_PER_UNIT:
            self._visits = 0
            self.budget.spend(1)

    def _fits(self, given: Type, wanted: Type) -> bool:
        self._visits += 1  # as _visit does: this is asked most of all
        if self._visits == TYPES_PER_UNIT:
            self._visits = 0
            self.budget.spend(1)
        given_kind, wanted_kind = given.kind, wanted.kind
        if wanted_kind is _PARAMETER:
            fits, known = self._fits_parameter(given, wanted)
            if fits or known:
                return fits
        if given_kind is _PARAMETER:
            return self._fits_parameter(wanted, given)[0]
        if given_kind in _WILDCARDS or wanted_kind in _WILDCARDS:
            return True
        if given is wanted and not given.params:
            return True
        if given.kind is Kind.NULL:
            return wanted.kind in _NULLABLE
        if wanted.kind is Kind.NULL:
            return given.kind in _NULLABLE
        plain_given = given.params[0] if given.kind is Kind.WRAPPER else given
        plain_wanted = wanted.params[0] if wanted.kind is Kind.WRAPPER else wanted
        if plain_given.kind is not plain_wanted.kind:
            return False
        if plain_given.kind is Kind.TYPE:
            return True
        if plain_given.name != plain_wanted.name or len(plain_given.params) != len(plain_wanted.params):
            return False
        for one, other in zip(plain_given.params, plain_wanted.params, strict=True):  # noqa: SIM110 - as in `apply`
            if not self._fits(one, other):
                return False
        return True

    def _fits_parameter(self, other: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether the parameter can stand for the other type, and whether it already stood for one."""
        if other.kind is _PARAMETER and other.name == parameter.name:
            return True, True
        meaning = self._meaning.get(parameter.name)
        if meaning is not None:
            if other is meaning or other == meaning:
                return True, True
            if not self._fits(other, meaning):
                return False, True
            general = most_general(other, meaning)
            if not self._occurs(parameter, general):
                self._bind(parameter, general)
            return True, True
        if self._occurs(parameter, other):
            return False, False
        self._bind(parameter, other)
        return True, False

    def _occurs(self, parameter: Type, within: Type) -> bool:
        self._visit()
        if within.kind is _PARAMETER:
            if within.name == parameter.name:
                return True
            meaning = self._meaning.get(within.name)
            return meaning is not None and self._occurs(parameter, meaning)
        for inner in within.params:  # noqa: SIM110 - a loop for the sake of the stack, as in `apply`
            if self._occurs(parameter, inner):
                return True
        return False
