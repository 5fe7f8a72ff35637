"""Maps: plain dicts wherever possible, and what CEL's keys ask for beyond them.

In CEL the keys 1, 1u and 1.0 are one key, as in Python; but `true` is not 1. A plain dict therefore never holds bool
keys (`check_input` sees to that), and a map with bool keys is a MapValue. Ask through `find` and `contains`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from muster.cel.values.value import Value
from muster.errors import EvaluationError, FailureKind

MISSING: Value = object()  # what `find` answers for an absent key; never a value of an expression


class MapValue(Mapping[Value, Value]):
    """A map that may have bool keys beside numbers. Iterates over its keys in the order they were given."""

    __slots__ = ("_bools", "_keys", "_others")

    def __init__(self, entries: Iterable[tuple[Value, Value]]) -> None:
        self._keys: list[Value] = []
        self._bools: dict[bool, Value] = {}
        self._others: dict[Value, Value] = {}
        for key, value in entries:
            part: dict[Value, Value] = self._bools if type(key) is bool else self._others
            if key not in part:
                self._keys.append(key)
            part[key] = value

    def __getitem__(self, key: Value) -> Value:
        return self._bools[key] if type(key) is bool else self._others[key]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"MapValue of {len(self)} entries"

    def add(self, key: Value, value: Value) -> None:
        """Put in one more entry: for the loop that makes the map, which nobody else sees yet."""
        part: dict[Value, Value] = self._bools if type(key) is bool else self._others
        self._keys.append(key)
        part[key] = value


def make_map(entries: Iterable[tuple[Value, Value]]) -> dict[Value, Value] | MapValue:
    """The map of a literal. A key given twice is an error, and so is a key that cannot be one."""
    pairs = list(entries)
    bools: set[bool] = set()
    others: dict[Value, Value] = {}
    for key, value in pairs:
        if type(key) is bool:
            repeated = key in bools
            bools.add(key)
        elif isinstance(key, (str, int)):
            repeated = key in others
            others[key] = value
        else:
            raise EvaluationError("unsupported key type", FailureKind.UNSUPPORTED_KEY)
        if repeated:
            raise EvaluationError("Failed with repeated key", FailureKind.REPEATED_KEY)
    return MapValue(pairs) if bools else others


def find(container: Mapping[Value, Value], key: Value) -> Value:
    """The value under the key, or MISSING."""
    if type(key) is bool and type(container) is not MapValue:
        return MISSING
    try:
        return container[key]
    except (KeyError, TypeError):  # TypeError: a list or a map is never a key
        return MISSING


def contains(container: Mapping[Value, Value], key: Value) -> bool:
    """`key in map`."""
    return find(container, key) is not MISSING
