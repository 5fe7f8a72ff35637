"""The formulas of runtime cost that libraries bring: cel-go's extensions by overload id, Kubernetes' and Open Cluster
Management's by function name, and the cost models made of them. Environments name one of the models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.costs.runtime import (
    LIST,
    MAP,
    PATTERN,
    STRUCT,
    TRAVERSAL,
    CostModel,
    Formula,
    Price,
    fixed,
    size_of,
    traversal,
)
from muster.cel.traversals import json_tree, tree_traversal
from muster.cel.values import OpaqueValue, OptionalValue
from muster.cel.values.messages import EmptyValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

MAX_COST = 2**64 - 1


# --- cel-go: sets -------------------------------------------------------------------------------------------------


def _sets(factor: int) -> Formula:
    def cost(args: Sequence[Value], _: Value) -> int:
        return min(1 + size_of(args[0]) * size_of(args[1]) * factor, MAX_COST)

    return cost


SETS: Mapping[str, Price] = {
    "list_sets_contains_list": Price(_sets(1)),
    "list_sets_intersects_list": Price(_sets(1)),
    "list_sets_equivalent_list": Price(_sets(2)),
}


# --- cel-go: lists, from version 3 ---------------------------------------------------------------------------------


def _new_list(size: float) -> int:
    return min(int(size) + 1 + LIST, MAX_COST)


def _list_output(_: Sequence[Value], result: Value) -> int:
    return _new_list(size_of(result))


def _flatten(args: Sequence[Value], _: Value) -> int:
    depth = args[1] if len(args) == 2 and isinstance(args[1], int) else 1
    return _new_list(float(size_of(args[0])) * (depth if depth >= 0 else 1))


def _self_compared(index: int) -> Formula:
    def cost(args: Sequence[Value], _: Value) -> int | None:
        values = args[index] if index < len(args) else None
        if not isinstance(values, (list, tuple)):
            return None
        factor = 2.0
        if values and isinstance(values[0], (str, bytes)):
            factor += TRAVERSAL
        return _new_list(float(len(values) ** 2) * factor)

    return cost


_SORTED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_TIMES = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}

_OUTPUT = Price(_list_output, needs_result=True)
_BY_ELEMENTS = Price(_self_compared(0))
_BY_KEYS = Price(_self_compared(1))

LISTS: Mapping[str, Price] = {
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), _OUTPUT),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), Price(_flatten)),
    "list_distinct": _BY_ELEMENTS,
    **{f"list_{_TIMES.get(kind, kind)}_sort": _BY_ELEMENTS for kind in _SORTED},
    **{f"list_{_TIMES.get(kind, kind)}_sortByAssociatedKeys": _BY_KEYS for kind in _SORTED},
}


# --- cel-go: strings, from version 5 --------------------------------------------------------------------------------


def _char_at(args: Sequence[Value], _: Value) -> int:
    return 1 + traversal(size_of(args[0])) + 1


def _transform(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0])) + size_of(result)


def _search(args: Sequence[Value], _: Value) -> int:
    return 1 + traversal(size_of(args[0]) * size_of(args[1]))


def _replace(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal((size_of(args[0]) or 1) * (size_of(args[1]) or 1)) + size_of(result)


def _split(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0]) + 1) + size_of(result) + LIST


def _join(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0]) + 1) + size_of(result)


_SEARCH = Price(_search)
_TRANSFORM = Price(_transform, needs_result=True)

STRINGS: Mapping[str, Price] = {
    "string_char_at_int": Price(_char_at),
    **dict.fromkeys(("string_index_of_string", "string_index_of_string_int"), _SEARCH),
    **dict.fromkeys(("string_last_index_of_string", "string_last_index_of_string_int"), _SEARCH),
    **dict.fromkeys(("string_lower_ascii", "string_upper_ascii", "string_trim", "string_reverse"), _TRANSFORM),
    **dict.fromkeys(("string_substring_int", "string_substring_int_int"), _TRANSFORM),
    **dict.fromkeys(
        ("string_replace_string_string", "string_replace_string_string_int"), Price(_replace, needs_result=True)
    ),
    **dict.fromkeys(("string_split_string", "string_split_string_int"), Price(_split, needs_result=True)),
    **dict.fromkeys(("list_join", "list_join_string"), Price(_join, needs_result=True)),
}


# --- cel-go: regex --------------------------------------------------------------------------------------------------


def _pattern_search(args: Sequence[Value]) -> float:
    return (size_of(args[0]) + 1) * TRAVERSAL * ((size_of(args[1]) + 1) * PATTERN)


def _extract(args: Sequence[Value], result: Value) -> int:
    return math.ceil(1.0 + _pattern_search(args) + size_of(result))


def _extract_all(args: Sequence[Value], result: Value) -> int:
    return math.ceil(1.0 + _pattern_search(args) + size_of(result) + LIST)


def _pattern_replace(args: Sequence[Value], result: Value) -> int:
    return int(1.0 + _pattern_search(args) + size_of(result))


REGEX: Mapping[str, Price] = {
    "regex_extract_string_string": Price(_extract, needs_result=True),
    "regex_extractAll_string_string": Price(_extract_all, needs_result=True),
    **dict.fromkeys(
        ("regex_replace_string_string_string", "regex_replace_string_string_string_int"),
        Price(_pattern_replace, needs_result=True),
    ),
}


# --- Kubernetes -----------------------------------------------------------------------------------------------------


def _walk(meter: Meter, args: Sequence[Value], _: Value) -> int:
    return tree_traversal(meter, args[0]) if args else 0


def _parse(args: Sequence[Value], _: Value) -> int | None:
    return traversal(size_of(args[0])) if args else None


def _parse_twice(args: Sequence[Value], _: Value) -> int | None:
    # The factor is doubled before the size is multiplied, as Kubernetes does: rounding depends on it.
    return math.ceil(float(size_of(args[0])) * 2 * TRAVERSAL) if args else None


def _joined(args: Sequence[Value], result: Value) -> int | None:
    return math.ceil(float(size_of(result)) * 2 * TRAVERSAL) if args else None


def _find(args: Sequence[Value], _: Value) -> int | None:
    if len(args) < 2:
        return None
    return math.ceil((1.0 + size_of(args[0])) * TRAVERSAL) * math.ceil(size_of(args[1]) * PATTERN)


def _selector(args: Sequence[Value], _: Value) -> int | None:
    if len(args) < 2:
        return None
    length = size_of(args[1])
    return LIST + traversal(length) + math.ceil(math.ceil(length * 0.5) * float(LIST + STRUCT))


def _contains_ip(args: Sequence[Value], _: Value) -> int | None:
    if len(args) < 2:
        return None
    own = size_of(args[0])
    return traversal(own + own)


def _contains_ip_text(args: Sequence[Value], result: Value) -> int | None:
    """Kubernetes charges for parsing only where the checker knows that it is a text."""
    base = _contains_ip(args, result)
    return None if base is None else base + traversal(size_of(args[1]))


def _contains_cidr(args: Sequence[Value], _: Value) -> int | None:
    if len(args) < 2:
        return None
    own = size_of(args[0])
    return traversal(own + own) + traversal(own) + 1


def _contains_cidr_text(args: Sequence[Value], result: Value) -> int | None:
    base = _contains_cidr(args, result)
    return None if base is None else base + traversal(size_of(args[1]))


def _validate(args: Sequence[Value], _: Value) -> int | None:
    own = args[0] if args else None
    if isinstance(own, OptionalValue):  # Kubernetes looks into it
        own = own.content
    pattern_size = getattr(own, "max_regex_size", None) if len(args) >= 2 else None
    if not isinstance(pattern_size, int):
        return None
    return math.ceil((1.0 + size_of(args[1])) * TRAVERSAL) * math.ceil(pattern_size * PATTERN)


def _equality(args: Sequence[Value], _: Value) -> int | None:
    # Kubernetes' own values cost 1 to compare; optionals and the empty message are cel-go's.
    return 1 if isinstance(args[0], OpaqueValue) and not isinstance(args[0], EmptyValue) else None


_NOMINAL = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored format.named sign "
    "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme "
    "getHostname getHost getPort getEscapedPath getQuery masked prefixLength family isUnspecified isLoopback "
    "isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast"
)
_LIST_WALKS = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes")
_PARSERS = (
    "url lowerAscii upperAscii substring trim jsonpatch.escapeKey cidr isIP isCIDR quantity isQuantity semver isSemver"
)

_PARSE = Price(_parse, inline="ceil(len({0}) * 0.1)")
_PARSE_TWICE = Price(_parse_twice, inline="ceil(len({0}) * 2 * 0.1)")
_SELECTOR = Price(_selector)
_FIND = Price(_find, inline="ceil((1.0 + len({0})) * 0.1) * ceil(len({1}) * 0.25)")
_OPAQUE_EQUALITY = Price(_equality)
_FORMAT = Price(_validate)

KUBERNETES_FUNCTIONS: Mapping[str, Price] = {
    "check": fixed(350_000),
    **dict.fromkeys(_NOMINAL.split(), fixed(1)),
    "fieldSelector": _SELECTOR,
    "labelSelector": _SELECTOR,
    **dict.fromkeys(_LIST_WALKS, Price(_walk, metered=True)),
    **dict.fromkeys(_PARSERS.split(), _PARSE),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _PARSE_TWICE),
    "join": Price(_joined, needs_result=True),
    "find": _FIND,
    "findAll": _FIND,
    "ip": _PARSE,
    "containsIP": Price(_contains_ip),
    "containsCIDR": Price(_contains_cidr),
    "validate": _FORMAT,
    "_==_": _OPAQUE_EQUALITY,
}
KUBERNETES_OVERLOADS: Mapping[str, Price] = {
    "cidr_ip": fixed(1),
    "cidr_contains_ip_string": Price(_contains_ip_text),
    "cidr_contains_cidr_string": Price(_contains_cidr_text),
}
_DECLINING = frozenset({_SELECTOR, _OPAQUE_EQUALITY, _FORMAT, _BY_ELEMENTS, _BY_KEYS})


# --- Open Cluster Management ----------------------------------------------------------------------------------------


def _scores(_: Sequence[Value], result: Value) -> int:
    return LIST + (MAP + 1) * size_of(result) if isinstance(result, (list, tuple)) else LIST


def _parse_json(meter: Meter, args: Sequence[Value], result: Value) -> int | None:
    return traversal(size_of(args[0])) + json_tree(meter, result) if args else None


CLUSTER_FUNCTIONS: Mapping[str, Price] = {
    "scores": Price(_scores, needs_result=True),
    "parseJSON": Price(_parse_json, needs_result=True, metered=True),
}


# --- the models -----------------------------------------------------------------------------------------------------

CEL_COSTS = CostModel("cel", overloads={**SETS, **LISTS, **STRINGS, **REGEX}, declining=_DECLINING)
KUBERNETES_COSTS = CostModel(
    "kubernetes",
    presence_test=0,
    overloads={**SETS, **LISTS, **REGEX, **KUBERNETES_OVERLOADS},
    functions=KUBERNETES_FUNCTIONS,
    declining=_DECLINING,
)
OCM_COSTS = CostModel(
    "ocm", overloads={**SETS, **LISTS, **STRINGS, **REGEX}, functions=CLUSTER_FUNCTIONS, declining=_DECLINING
)
MUSTER_COSTS = CostModel(
    "muster",
    presence_test=0,
    overloads={**SETS, **LISTS, **REGEX, **KUBERNETES_OVERLOADS},
    functions={**KUBERNETES_FUNCTIONS, **CLUSTER_FUNCTIONS},
    declining=_DECLINING,
)
