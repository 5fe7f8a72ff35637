"""The formulas of static cost that libraries bring, and the estimate models made of them. See library_costs.py for the
runtime counterparts; the two follow cel-go and Kubernetes, which do not always agree with themselves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import Kind
from muster.cel.costs.estimate import CallEstimate, CallFormula, EstimateModel, Operand, literal_int
from muster.cel.costs.ranges import (
    MAX,
    ONE,
    UNKNOWN,
    ZERO,
    Range,
    exactly,
    saturating_add,
    saturating_multiply,
    wrapped,
)
from muster.cel.costs.runtime import LIST, MAP, PATTERN, STRUCT, TRAVERSAL
from muster.cel.syntax.tree import Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Arguments = tuple[Operand, ...]


def _at_least_one(size: Range) -> Range:
    return Range(size.min or 1, size.max or 1)


# --- cel-go: sets and lists -----------------------------------------------------------------------------------------


def _sets(factor: float) -> CallFormula:
    def formula(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
        if len(args) != 2:
            return None
        return CallEstimate(args[0].size_or_hint().times(args[1].size_or_hint()).scaled(factor).plus(ONE))

    return formula


def _new_list(factor: float, size: Range) -> CallEstimate:
    return CallEstimate(size.scaled(factor).plus(ONE).plus(exactly(LIST)), size)


def _slice(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) != 2:
        return None
    size = target.size_or_hint()
    return _new_list(1, exactly(wrapped(literal_int(args[1], size.max) - literal_int(args[0], 0))))


def _range(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    return _new_list(1, exactly(literal_int(args[0], MAX))) if target is None and len(args) == 1 else None


def _reverse(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    return _new_list(1, target.size_or_hint()) if target is not None and not args else None


def _flatten(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) > 1:
        return None
    depth = literal_int(args[0], MAX) if args else 1
    return _new_list(float(depth), target.size_or_hint())


def _distinct(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or args:
        return None
    size = target.size_or_hint()
    return _new_list(2.0, size.times(size))


def _sorted(texts: bool, by_keys: bool) -> CallFormula:
    def formula(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
        if target is None or len(args) != (1 if by_keys else 0):
            return None
        size = (args[0] if by_keys else target).size_or_hint()
        return _new_list(2.0 + (TRAVERSAL if texts else 0), size.times(size))

    return formula


_COMPARABLE = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)

SETS: Mapping[str, CallFormula] = {
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}
LISTS: Mapping[str, CallFormula] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    **{f"list_{kind}_sort": _sorted(kind in {"string", "bytes"}, by_keys=False) for kind in _COMPARABLE},
    **{f"list_{kind}_sortByAssociatedKeys": _sorted(kind in {"string", "bytes"}, by_keys=True) for kind in _COMPARABLE},
}


# --- cel-go: strings, from version 5 --------------------------------------------------------------------------------


def _fixed_transform(_: str, target: Operand | None, __: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL).plus(ONE).plus(size.scaled(1)), size)


def _variable_transform(_: str, target: Operand | None, __: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    result = Range(0, size.max)
    return CallEstimate(size.scaled(TRAVERSAL).plus(ONE).plus(result.scaled(1)), result)


def _char_at(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) != 1:
        return None
    return CallEstimate(target.size_or_hint().scaled(TRAVERSAL).plus(exactly(2)), Range(0, 1))


def _substring(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or not 1 <= len(args) <= 2:
        return None
    size = target.size_or_hint()
    end = literal_int(args[1], size.max) if len(args) == 2 else size.max
    result = exactly(wrapped(end - literal_int(args[0], 0)))
    return CallEstimate(size.scaled(TRAVERSAL).plus(ONE).plus(result.scaled(1)), result)


def _search(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or not args:
        return None
    return CallEstimate(target.size_or_hint().times(args[0].size_or_hint()).scaled(TRAVERSAL).plus(ONE))


def _replace(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) < 2:
        return None
    size = target.size_or_hint()
    search = _at_least_one(size).times(_at_least_one(args[0].size_or_hint())).scaled(TRAVERSAL)
    replacement = args[1].size_or_hint().plus(ONE)
    largest = saturating_multiply(saturating_add(size.max, 1), replacement.max)
    result = Range(min(size.min, replacement.min), largest)
    return CallEstimate(search.plus(result.scaled(1)).plus(ONE), result)


def _split(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or not args:
        return None
    size = target.size_or_hint()
    result = Range(0, size.max)
    walk = size.plus(ONE).scaled(TRAVERSAL)
    return CallEstimate(walk.plus(result.scaled(1).plus(exactly(LIST))).plus(ONE), result)


def _join(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    separator = args[0].size_or_hint() if args else ZERO
    largest = saturating_add(saturating_multiply(size.max, saturating_add(1, separator.max)), separator.max)
    result = Range(0, largest)
    return CallEstimate(size.plus(ONE).scaled(TRAVERSAL).plus(result.scaled(1)).plus(ONE), result)


STRINGS: Mapping[str, CallFormula] = {
    "string_char_at_int": _char_at,
    **dict.fromkeys(("string_index_of_string", "string_index_of_string_int"), _search),
    **dict.fromkeys(("string_last_index_of_string", "string_last_index_of_string_int"), _search),
    **dict.fromkeys(("string_lower_ascii", "string_upper_ascii", "string_reverse"), _fixed_transform),
    **dict.fromkeys(("string_replace_string_string", "string_replace_string_string_int"), _replace),
    **dict.fromkeys(("string_split_string", "string_split_string_int"), _split),
    **dict.fromkeys(("string_substring_int", "string_substring_int_int"), _substring),
    "string_trim": _variable_transform,
    **dict.fromkeys(("list_join", "list_join_string"), _join),
}


# --- cel-go: regex --------------------------------------------------------------------------------------------------


def _pattern_search(args: Arguments) -> Range:
    text = args[0].size_or_hint().plus(ONE).scaled(TRAVERSAL)
    return text.times(args[1].size_or_hint().plus(ONE).scaled(PATTERN))


def _extract(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
    if len(args) != 2:
        return None
    result = Range(0, args[0].size_or_hint().max)
    return CallEstimate(_pattern_search(args).plus(result), result)


def _extract_all(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
    if len(args) != 2:
        return None
    result = Range(0, args[0].size_or_hint().max)
    return CallEstimate(_pattern_search(args).plus(result.plus(exactly(LIST))), result)


def _pattern_replace(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is not None or len(args) not in {3, 4}:
        return None
    text, replacement = args[0].size_or_hint(), args[2].size_or_hint()
    replaced = wrapped(text.max * replacement.max)
    result = Range(replaced, text.max) if replacement.max == 0 else Range(text.max, replaced)
    return CallEstimate(_pattern_search(args).plus(result.scaled(1)), result)


REGEX: Mapping[str, CallFormula] = {
    "regex_extract_string_string": _extract,
    "regex_extractAll_string_string": _extract_all,
    "regex_replace_string_string_string": _pattern_replace,
    "regex_replace_string_string_string_int": _pattern_replace,
}


# --- Kubernetes -----------------------------------------------------------------------------------------------------

_LONGEST_FORMAT_NAME = 64
_NAME_PATTERN = 128  # the size Kubernetes assumes for the pattern behind a format
_ADDRESS = Range(4, 16)  # bytes of an IPv4 and an IPv6 address


def _fixed(cost: int) -> CallFormula:
    def formula(_: str, __: Operand | None, ___: Arguments) -> CallEstimate:
        return CallEstimate(exactly(cost))

    return formula


def _element(operand: Operand) -> Operand | None:
    """What a list holds, by its path."""
    if not operand.type.params:
        return None
    path = (*operand.path, "@items") if operand.path else ()
    return Operand(path, operand.type.params[0], None, None, operand.hints)


def _selector(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
    if len(args) != 1:
        return None
    length = args[0].size_or_hint()
    requirements = length.scaled(0.5).scaled(float(LIST + STRUCT))
    return CallEstimate(exactly(LIST).plus(length.scaled(TRAVERSAL)).plus(requirements))


def _list_walk(includes: bool) -> CallFormula:
    def formula(_: str, target: Operand | None, __: Arguments) -> CallEstimate | None:
        if target is None:
            return None
        per_element = ONE
        element = _element(target)
        if element is not None:
            if element.type.kind in {Kind.STRING, Kind.BYTES}:
                per_element = per_element.plus(element.size_or_hint().scaled(TRAVERSAL))
            return CallEstimate(target.size_or_hint().times(per_element))
        if includes:
            return CallEstimate(target.size_or_hint().times(per_element))
        return CallEstimate(target.size_or_hint().scaled(TRAVERSAL))

    return formula


def _parse_argument(keeps_size: bool, factor: float = TRAVERSAL) -> CallFormula:
    def formula(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
        if not args:
            return None
        size = args[0].size_or_hint()
        return CallEstimate(size.scaled(factor), size if keeps_size else None)

    return formula


def _text_walk(_: str, target: Operand | None, __: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL), size)


def _most_replacements(size: Range, old: Range, new: Range) -> tuple[int, int]:
    """How often the text is replaced at most, and how much of the original stays beside it."""
    if old.min == 0:
        return saturating_add(size.max, 1), size.max
    if new.max <= old.min:
        return 0, size.max
    return math.ceil(float(size.max) / float(old.min)), 0


def _fewest_replacements(size: Range, old: Range, new: Range) -> tuple[int, int]:
    if old.max == 0:
        return saturating_add(size.min, 1), size.min
    if old.max <= new.min:
        return 0, size.min
    return math.ceil(float(size.min) / float(old.max)), 0


def _replace_text(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size_or_hint(), args[0].size_or_hint(), args[1].size_or_hint()
    most, kept_most = _most_replacements(size, old, new)
    fewest, kept_least = _fewest_replacements(size, old, new)
    result = Range(fewest, most).times(new).plus(Range(kept_least, kept_most))
    return CallEstimate(size.scaled(2 * TRAVERSAL), result)


def _split_text(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    largest = size.max
    if len(args) > 1:
        match args[1].expr:
            case Literal(value=int(number)) if type(number) is int:
                largest = wrapped(number)
    return CallEstimate(size.scaled(2 * TRAVERSAL), Range(0, largest))


def _join_texts(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    count = target.size_or_hint()
    element = _element(target)
    size = count.times(element.size_or_hint()) if element is not None else ZERO
    if args:
        separators = Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[0].size_or_hint().times(separators))
    return CallEstimate(size.scaled(TRAVERSAL), size)


def _find(_: str, target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or not args:
        return None
    size = target.size_or_hint()
    cost = size.plus(ONE).scaled(TRAVERSAL).times(args[0].size_or_hint().scaled(PATTERN))
    return CallEstimate(cost, Range(0, size.max))


def _ip(overload_id: str, _: Operand | None, args: Arguments) -> CallEstimate | None:
    if overload_id == "cidr_ip":
        return CallEstimate(ONE)
    return CallEstimate(args[0].size_or_hint().scaled(TRAVERSAL)) if args else None


def _contains_address(overload_id: str, _: Operand | None, args: Arguments) -> CallEstimate | None:
    if not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).scaled(TRAVERSAL)
    if overload_id.startswith("cidr_contains_cidr"):
        cost = cost.plus(_ADDRESS.scaled(TRAVERSAL)).plus(ONE)
    if overload_id.endswith("_string"):
        cost = cost.plus(args[0].size_or_hint().scaled(TRAVERSAL))
    return CallEstimate(cost)


def _validate(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
    if not args:
        return None
    return CallEstimate(args[0].size_or_hint().scaled(TRAVERSAL).scaled(_NAME_PATTERN * PATTERN))


_CHEAP_TO_COMPARE = frozenset(
    {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver", "kubernetes.authorization.Authorizer"}
    | {f"kubernetes.authorization.{kind}" for kind in ("PathCheck", "GroupCheck", "ResourceCheck", "Decision")}
)


def _equality(_: str, __: Operand | None, args: Arguments) -> CallEstimate | None:
    if len(args) != 2 or args[0].type != args[1].type:
        return None
    name = args[0].type.name
    if name in _CHEAP_TO_COMPARE:
        return CallEstimate(ONE)
    if name == "kubernetes.NamedFormat":
        return CallEstimate(Range(1, _LONGEST_FORMAT_NAME).scaled(TRAVERSAL))
    if name == "kubernetes.URL":
        largest = args[1].size.max if args[1].size is not None else 1
        return CallEstimate(Range(1, largest).scaled(TRAVERSAL))
    return None


_NOMINAL = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored format.named sign "
    "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme "
    "getHostname getHost getPort getEscapedPath getQuery masked prefixLength family isUnspecified isLoopback "
    "isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast"
)

KUBERNETES_FUNCTIONS: Mapping[str, CallFormula] = {
    "check": _fixed(350_000),
    **dict.fromkeys(_NOMINAL.split(), _fixed(1)),
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_walk(includes=False)),
    "includes": _list_walk(includes=True),
    **dict.fromkeys(("url", "jsonpatch.escapeKey"), _parse_argument(keeps_size=True)),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _text_walk),
    "replace": _replace_text,
    "split": _split_text,
    "join": _join_texts,
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _parse_argument(keeps_size=False)
    ),
    "ip": _ip,
    "ip.isCanonical": _parse_argument(keeps_size=False, factor=2 * TRAVERSAL),
    "containsIP": _contains_address,
    "containsCIDR": _contains_address,
    "validate": _validate,
    "_==_": _equality,
}


# --- Open Cluster Management ----------------------------------------------------------------------------------------


def _scores(_: str, target: Operand | None, args: Arguments) -> CallEstimate:
    """A list with a map per score; how many there are is asked for under the path @scores."""
    owner = target or args[0]
    size = owner.hints(("@scores",), owner.type) or UNKNOWN
    return CallEstimate(exactly(LIST).plus(size.times(exactly(MAP + 1))), size)


def _parse_json(_: str, target: Operand | None, args: Arguments) -> CallEstimate:
    """A text of n characters holds at most n / 2 lists or maps."""
    size = (target or args[0]).size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL).plus(Range(0, size.scaled(0.5).max).scaled(MAP)), Range(0, size.max))


CLUSTER_FUNCTIONS: Mapping[str, CallFormula] = {"scores": _scores, "parseJSON": _parse_json}


# --- the models -----------------------------------------------------------------------------------------------------

CEL_ESTIMATES = EstimateModel(overloads={**SETS, **LISTS, **STRINGS, **REGEX})
KUBERNETES_ESTIMATES = EstimateModel(
    presence_test=0, overloads={**SETS, **LISTS, **REGEX}, functions=KUBERNETES_FUNCTIONS
)
OCM_ESTIMATES = EstimateModel(overloads={**SETS, **LISTS, **STRINGS, **REGEX}, functions=CLUSTER_FUNCTIONS)
MUSTER_ESTIMATES = EstimateModel(
    presence_test=0,
    overloads={**SETS, **LISTS, **REGEX},
    functions={**KUBERNETES_FUNCTIONS, **CLUSTER_FUNCTIONS},
)
