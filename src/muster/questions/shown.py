"""Values of expressions as an answer shows them: JSON of bounded size, in an order of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.cel.costs.meter import new_meter
from muster.cel.traversals.plain_json import NotJsonError, plain_json
from muster.cel.values.model import type_of
from muster.errors import BudgetExceededError
from muster.values.json import Json

if TYPE_CHECKING:
    from muster.cel.values.value import Value

LONGEST: Final = 1024  # bytes of one value
_WORK: Final = 20_000
_EXACT: Final = 2**53
_DECODER: Final = msgspec.json.Decoder()


def shown(value: Value) -> bytes:
    """The JSON of a value, or of a text that says what it is or how it begins."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT:
        return b"%d" % value
    try:
        encoded = msgspec.json.encode(plain_json(new_meter(_WORK), value))
    except (NotJsonError, BudgetExceededError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return msgspec.json.encode(f"({type_of(value).name})")
    if len(encoded) <= LONGEST:
        return encoded
    beginning = value if isinstance(value, str) else encoded.decode()
    return msgspec.json.encode(f"{beginning[: LONGEST // 4]}…")


def rank(encoded: bytes) -> tuple[int, Json]:
    """What to sort shown values by: numbers, texts, truth, then the rest."""
    value = _DECODER.decode(encoded)
    match value:
        case bool():
            return 2, value
        case int() | float():
            return 0, value
        case str():
            return 1, value
        case _:
            return 3, encoded.decode()
