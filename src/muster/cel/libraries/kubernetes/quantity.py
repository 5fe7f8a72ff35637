"""Kubernetes' quantities: 500m, 1.5Gi, compared and added exactly.

Equality holds also between computed quantities; Kubernetes fails there because of how it wraps its results.
"""

from __future__ import annotations

from muster.cel.checking.types import BOOL, DOUBLE, INT, STRING, struct
from muster.cel.costs.charge import KUBERNETES
from muster.cel.costs.formulas import PARSED
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.kubernetes.opaque import Wrapped
from muster.errors import EvaluationError, FailureKind
from muster.values.quantity import InvalidQuantityError, Quantity, is_quantity, of_int, parse

QUANTITY = struct("kubernetes.Quantity")


class QuantityValue(Wrapped[Quantity]):
    __slots__ = ()
    cel_type = QUANTITY


def quantity(text: str) -> QuantityValue:
    try:
        return QuantityValue(parse(text))
    except InvalidQuantityError as error:
        raise EvaluationError(str(error)) from None


def _sum(left: QuantityValue, right: Quantity, *, subtract: bool = False) -> QuantityValue:
    try:
        return QuantityValue(left.content.subtract(right) if subtract else left.content.add(right))
    except InvalidQuantityError as error:
        raise EvaluationError(str(error)) from None


def add(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    return _sum(left, right.content)


def add_int(left: QuantityValue, right: int) -> QuantityValue:
    return _sum(left, of_int(right))


def subtract(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    return _sum(left, right.content, subtract=True)


def subtract_int(left: QuantityValue, right: int) -> QuantityValue:
    return _sum(left, of_int(right), subtract=True)


def compare(left: QuantityValue, right: QuantityValue) -> int:
    return left.content.compare(right.content)


def as_integer(value: QuantityValue) -> int:
    number = value.content.as_int64()
    if number is None:
        raise EvaluationError("cannot convert value to integer", FailureKind.TYPE_CONVERSION)
    return number


_PAIR = (QUANTITY, QUANTITY)

QUANTITIES = Library(
    "kubernetes.quantity",
    (
        Function(
            "quantity",
            (call("string_to_quantity", (STRING,), QUANTITY, quantity),),
            doc="Reads a quantity such as 500m, 1.5Gi or 12e6.",
            examples={"quantity('1Ki').asInteger()": 1024},
            charges={KUBERNETES: PARSED},
        ),
        Function(
            "isQuantity",
            (call("is_quantity_string", (STRING,), BOOL, is_quantity),),
            doc="Whether the text is a quantity.",
            examples={"isQuantity('1.3Gi')": True, "isQuantity('1,3Gi')": False},
            charges={KUBERNETES: PARSED},
        ),
        Function(
            "sign",
            (call("quantity_sign", (QUANTITY,), INT, lambda value: value.content.sign),),
            doc="-1, 0 or 1. Called as sign(q).",
            examples={"sign(quantity('-5'))": -1},
        ),
        Function(
            "isGreaterThan",
            (method("quantity_is_greater_than", _PAIR, BOOL, lambda a, b: compare(a, b) > 0),),
            doc="Whether the first of two quantities or versions is greater.",
            examples={"quantity('1Gi').isGreaterThan(quantity('1G'))": True},
        ),
        Function(
            "isLessThan",
            (method("quantity_is_less_than", _PAIR, BOOL, lambda a, b: compare(a, b) < 0),),
            doc="Whether the first of two quantities or versions is less.",
            examples={"quantity('500m').isLessThan(quantity('1'))": True},
        ),
        Function(
            "compareTo",
            (method("quantity_compare_to", _PAIR, INT, compare),),
            doc="-1, 0 or 1: how two quantities or versions compare.",
            examples={"quantity('1000m').compareTo(quantity('1'))": 0},
        ),
        Function(
            "asApproximateFloat",
            (method("quantity_get_float", (QUANTITY,), DOUBLE, lambda value: value.content.approximate_float()),),
            doc="The quantity as a double.",
            examples={"quantity('1.5').asApproximateFloat()": 1.5},
        ),
        Function(
            "asInteger",
            (method("quantity_get_int", (QUANTITY,), INT, as_integer),),
            doc="The quantity as a whole number; an error if it is none. Ask isInteger first.",
            examples={"quantity('5k').asInteger()": 5000},
        ),
        Function(
            "isInteger",
            (method("quantity_is_integer", (QUANTITY,), BOOL, lambda value: value.content.as_int64() is not None),),
            doc="Whether asInteger would succeed. 1000m is not an integer to Kubernetes.",
            examples={"quantity('5k').isInteger()": True, "quantity('1000m').isInteger()": False},
        ),
        Function(
            "add",
            (
                method("quantity_add", _PAIR, QUANTITY, add),
                method("quantity_add_int", (QUANTITY, INT), QUANTITY, add_int),
            ),
            doc="The sum of two quantities, or of a quantity and a whole number.",
            examples={"quantity('50k').add(quantity('20k')) == quantity('70k')": True},
        ),
        Function(
            "sub",
            (
                method("quantity_sub", _PAIR, QUANTITY, subtract),
                method("quantity_sub_int", (QUANTITY, INT), QUANTITY, subtract_int),
            ),
            doc="The difference of two quantities, or of a quantity and a whole number.",
            examples={"quantity('1k').sub(1).asInteger()": 999},
        ),
    ),
)
