"""Implementations called by their overload id, as a back end may call them: also those it usually evaluates itself."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel.checking.types import INT
from muster.cel.costs.meter import new_meter
from muster.cel.environments import environment
from muster.cel.libraries.kubernetes.formats import named
from muster.cel.libraries.kubernetes.quantity import quantity
from muster.cel.libraries.network import CidrValue, IpValue, parse_cidr, parse_ip
from muster.cel.values import OPTIONAL_NONE, Duration, MapValue, Timestamp, TypeValue, Uint, optional
from muster.cel.values.messages import EmptyValue
from muster.cel.values.model import MIN_TIMESTAMP_NS
from muster.errors import EvaluationError
from tests.cel.comparing import equals

UNEQUAL_LISTS = (
    "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
    "but got 1 and 0 elements respectively"
)


def call(overload_id: str, *args: Any) -> Any:
    overload = environment("muster").overloads[overload_id]
    assert overload.impl is not None
    return overload.impl(*([new_meter()] if overload.metered else ()), *args)


@pytest.mark.parametrize(
    ("overload_id", "args", "value"),
    [
        ("in_list", (1.0, [1, 2]), True),
        ("in_map", ("a", {"a": 1}), True),
        ("in_map", (True, {1: 1}), False),
        ("not_equals", (1, 2), True),
        ("index_list", ([1, 2], 1.0), 2),
        ("index_list", ([1, 2], Uint(1)), 2),
        ("index_map", ({"a": 1}, "a"), 1),
        ("@mapInsert_map_key_value", ({"a": 1}, "b", 2), {"a": 1, "b": 2}),
        ("@mapInsert_map_key_value", ({1: 1}, True, 2), MapValue([(1, 1), (True, 2)])),
        ("@mapInsert_map_map", ({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
        ("optional_of", (None,), optional(None)),
        ("optional_or_optional", (OPTIONAL_NONE, optional(1)), optional(1)),
        ("optional_or_optional", (optional(2), optional(1)), optional(2)),
        ("optional_orValue_value", (OPTIONAL_NONE, 1), 1),
        ("optional_orValue_value", (optional(2), 1), 2),
        ("select_optional_field", ({"a": 1}, "a"), optional(1)),
        ("select_optional_field", ({}, "a"), OPTIONAL_NONE),
        ("select_optional_field", (optional({"a": 1}), "a"), optional(1)),
        ("select_optional_field", (OPTIONAL_NONE, "a"), OPTIONAL_NONE),
        ("list_optindex_optional_int", ([1], 0), optional(1)),
        ("list_optindex_optional_int", ([1], 1), OPTIONAL_NONE),
        ("optional_list_optindex_optional_int", (optional([1]), 0), optional(1)),
        ("optional_list_optindex_optional_int", (OPTIONAL_NONE, 0), OPTIONAL_NONE),
        ("map_optindex_optional_value", ({"a": 1}, "b"), OPTIONAL_NONE),
        ("optional_map_optindex_optional_value", (optional({"a": 1}), "a"), optional(1)),
        ("optional_map_optindex_optional_value", (OPTIONAL_NONE, "a"), OPTIONAL_NONE),
        ("optional_list_index_int", (optional([1]), 0), optional(1)),
        ("optional_list_index_int", (OPTIONAL_NONE, 0), OPTIONAL_NONE),
        ("optional_map_index_value", (optional({"a": 1}), "a"), optional(1)),
        ("optional_map_index_value", (OPTIONAL_NONE, "a"), OPTIONAL_NONE),
        ("list_first", ([],), OPTIONAL_NONE),
        ("optional_unwrap", ([optional(1), OPTIONAL_NONE],), [1]),
        ("timestamp_to_milliseconds_with_tz", (Timestamp(5_000_000), "UTC"), 5),
        ("duration_to_milliseconds", (Duration(-1_500_000),), -1),
        ("duration_to_int64", (Duration(5),), 5),
        ("int64_to_uint64", (5,), Uint(5)),
        ("logical_not", (True,), False),
        ("has_conditions", (None,), False),
    ],
)
def test_an_implementation_gives_its_value(overload_id: str, args: tuple[Any, ...], value: Any) -> None:
    assert equals(call(overload_id, *args), value)


@pytest.mark.parametrize(
    ("value", "zero"),
    [
        (None, True),
        (0, True),
        (0.0, True),
        (False, True),
        ("", True),
        (b"", True),
        ([], True),
        ({}, True),
        (Duration(0), True),
        (EmptyValue(), True),
        (Timestamp(MIN_TIMESTAMP_NS), True),
        (Timestamp(0), False),
        (1, False),
        ([0], False),
        (optional(0), False),
        (OPTIONAL_NONE, False),
        (TypeValue(INT), False),
    ],
)
def test_zero_values_are_those_of_go(value: Any, zero: bool) -> None:
    assert call("optional_ofNonZeroValue", value).present is not zero


@pytest.mark.parametrize(
    ("overload_id", "args", "error"),
    [
        ("index_list", ([1], 1), "index out of bounds: 1"),
        ("index_list", ([1], "a"), "unsupported index type 'string' in list"),
        ("index_list", ([1], 1.5), "unsupported index value 1.5 in list"),
        ("@mapInsert_map_key_value", ({"a": 1}, "a", 2), "insert failed: key a already exists"),
        ("@mapInsert_map_map", ({"a": 1}, {"a": 2}), "insert failed: key a already exists"),
        ("select_optional_field", (1, "a"), "no such key: a"),
        ("optional_unwrap", ([1],), "value 1 is not optional"),
        ("math_@max_double_double", (float("nan"), 1.0), "NaN values cannot be ordered: math.@max"),
        ("math_@max_list_double", ([1.0, float("nan")],), "no such overload: math.@max"),
        ("math_@max_list_int", (["a", "b"],), "no such overload: math.@max"),
        ("list_int_sortByAssociatedKeys", ([1], []), UNEQUAL_LISTS),
        ("semver_compare", ({"a": [1]}, "1.0.0"), "unable to parse 'map[a:[1]]' to semver format"),
        ("semver_compare", ("1.0.0", None), "unable to parse 'NULL_VALUE' to semver format"),
        ("json_encode_dyn", (TypeValue(INT),), "type conversion not supported for 'type' to 'type'"),
        ("json_encode_dyn", (OPTIONAL_NONE,), "optional.none() dereference"),
    ],
)
def test_an_implementation_fails_with_its_text(overload_id: str, args: tuple[Any, ...], error: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        call(overload_id, *args)
    assert caught.value.message == error


def test_values_of_libraries_print_and_hash_by_their_content() -> None:
    assert str(quantity("1Ki")) == "1Ki"
    assert repr(quantity("1Ki")) == "QuantityValue(1Ki)"
    assert hash(quantity("1000m")) == hash(quantity("1"))
    assert str(named("uuid").value) == "uuid"
    assert {parse_ip("::1"), parse_ip("0::1")} == {parse_ip("::1")}
    assert {parse_cidr("10.0.0.0/8"), parse_cidr("10.0.0.0/8")} == {parse_cidr("10.0.0.0/8")}
    assert (parse_ip("::1").cel_size, parse_ip("1.2.3.4").cel_size, parse_cidr("10.0.0.0/9").cel_size) == (16, 4, 2)


@pytest.mark.parametrize("value", [parse_ip("::1"), parse_cidr("::/0"), quantity("1")])
def test_kubernetes_values_refuse_to_be_compared_with_others_only_from_the_left(
    value: IpValue | CidrValue | Any,
) -> None:
    with pytest.raises(EvaluationError, match="no such overload"):
        equals(value, "x")
    assert not equals("x", value)
