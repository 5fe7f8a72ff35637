"""The operators as the natives that they mean: a name for each, and the function. resolve.py looks them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq.values import arithmetic, ordering

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPERATORS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "+": ("_add", lambda meter, _input, left, right: arithmetic.add(meter, left, right)),
    "-": ("_subtract", lambda meter, _input, left, right: arithmetic.subtract(meter, left, right)),
    "*": ("_multiply", lambda meter, _input, left, right: arithmetic.multiply(meter, left, right)),
    "/": ("_divide", lambda meter, _input, left, right: arithmetic.divide(meter, left, right)),
    "%": ("_modulo", lambda meter, _input, left, right: arithmetic.modulo(meter, left, right)),
    "==": ("_equal", lambda meter, _input, left, right: ordering.equal(meter, left, right)),
    "!=": ("_notequal", lambda meter, _input, left, right: ordering.not_equal(meter, left, right)),
    "<": ("_less", lambda meter, _input, left, right: ordering.less(meter, left, right)),
    "<=": ("_lesseq", lambda meter, _input, left, right: ordering.less_or_equal(meter, left, right)),
    ">": ("_greater", lambda meter, _input, left, right: ordering.greater(meter, left, right)),
    ">=": ("_greatereq", lambda meter, _input, left, right: ordering.greater_or_equal(meter, left, right)),
    "//=": ("_alternative", lambda _meter, _input, left, right: right if left is None or left is False else left),
}
UNARY: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "-": ("_negate", arithmetic.negate),
    "+": ("_plus", arithmetic.plus),
}
