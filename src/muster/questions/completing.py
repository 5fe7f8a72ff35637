"""The answer to a Completion: fields, functions, label keys and values that can stand at the caret, with counts.

Fields come from the schema of ManagedCluster, functions from the environment of placements, keys and values from the
clusters that the asker may get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.fleet_completion import CompletionStatus, Item
from muster.api.managed_cluster import MANAGED_CLUSTER
from muster.cel.checking.types import Kind
from muster.cel.environments import environment
from muster.questions.facet_index import CLAIM, CONDITION, LABEL, TAINT, VERSION
from muster.questions.places import EACH, Literal, Word, place_of
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from muster.api.fleet_completion import CompletionSpec
    from muster.cel.declarations import Function, Overload
    from muster.questions.asked import Scope
    from muster.questions.facet_index import FacetIndex
    from muster.questions.places import Path
    from muster.questions.sharing import Work

_LABELS: Final = ("metadata", "labels")
_METADATA: Final = {
    "name": "string",
    "labels": "object",
    "annotations": "object",
    "creationTimestamp": "string",
    "deletionTimestamp": "string",
    "finalizers": "array",
    "generation": "integer",
    "ownerReferences": "array",
    "resourceVersion": "string",
    "uid": "string",
}
# Lists whose elements have a key: the facet, the field with the key, the field with the value.
_KEYED: Final[Mapping[Path, tuple[str, str, str]]] = {
    ("status", "clusterClaims", EACH): (CLAIM, "name", "value"),
    ("status", "conditions", EACH): (CONDITION, "type", "status"),
    ("spec", "taints", EACH): (TAINT, "key", ""),
}
_KEYWORDS: Final = ("false", "null", "true")
_LONGEST_DETAIL: Final = 120
_ESCAPABLE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/ ")


def completed(spec: CompletionSpec, scope: Scope, index: FacetIndex) -> Work[CompletionStatus]:
    """The whole answer."""
    position = len(spec.expression) if spec.position is None else spec.position
    place = place_of(spec.expression, position)
    yield from index.catch_up()
    among = None if scope.everything else index.rows_of(scope.names)
    items = list(_for_word(place, index, among) if isinstance(place, Word) else _for_literal(place, index, among))
    items.sort(key=lambda each: (each.kind in ("function", "macro"), -(each.count or 0), each.text))
    return CompletionStatus(place.begin, place.end, tuple(items[: spec.most_items]), len(items))


def _for_word(place: Word, index: FacetIndex, among: NDArray[np.bool_] | None) -> Iterator[Item]:
    begun = place.begun.strip("`").casefold()
    env = environment("muster")
    if not place.is_member:
        named = [Item(each.name, "variable", each.doc) for each in env.variables.values()]
        named += [Item(each, "variable", "a value") for each in _KEYWORDS]
        yield from (each for each in named if each.text.casefold().startswith(begun))
        yield from _functions(begun, None, member=False)
        return
    kind: str | None = None
    if place.of == _LABELS:
        for key, count in _keys(index, LABEL, among, begun):
            if (text := _as_name(key)) is not None:
                yield Item(text, "label", "", count)
    elif place.of is not None:
        fields, kind = _fields(place.of)
        for name, what in fields.items():
            if name.casefold().startswith(begun):
                yield Item(name, "field", what)
    yield from _functions(begun, kind, member=True)


def _for_literal(place: Literal, index: FacetIndex, among: NDArray[np.bool_] | None) -> Iterator[Item]:
    begun, of = place.begun.casefold(), place.of
    if of is None:
        return
    keys = values = ("", "")
    what = "value"
    if place.is_key and of == _LABELS:
        keys, what = (LABEL, ""), "label"
    elif of[:-1] == _LABELS:
        values = (LABEL, of[-1])
    elif of == ("status", "version", "kubernetes"):
        values = (VERSION, "")
    elif of[:-1] in _KEYED:
        facet, key_field, value_field = _KEYED[of[:-1]]
        known = dict(place.beside)
        if of[-1] == key_field:
            keys, what = (facet, ""), "claim" if facet == CLAIM else "value"
        elif of[-1] == value_field and key_field in known:
            values = (facet, known[key_field])
    if keys[0]:
        for key, count in _keys(index, keys[0], among, begun):
            yield Item(_escaped(key, place.quote), what, "", count)
    elif values[0] and values in index.keys:
        counts = index.counts(among)
        for value, number in index.keys[values].numbers.items():
            if (count := int(counts[number])) and value.casefold().startswith(begun):
                yield Item(_escaped(value, place.quote), "value", "", count)


def _keys(index: FacetIndex, facet: str, among: NDArray[np.bool_] | None, begun: str) -> Iterator[tuple[str, int]]:
    of_keys = index.of_keys(index.counts(among))
    for (each, key), held in index.keys.items():
        if each == facet and key.casefold().startswith(begun) and (count := int(of_keys[held.number])):
            yield key, count


def _as_name(key: str) -> str | None:
    """A key as it is written after a dot; None if it cannot be."""
    if key.isidentifier() and key.isascii():
        return key
    return f"`{key}`" if set(key) <= _ESCAPABLE else None


def _escaped(text: str, quote: str) -> str:
    for plain, written in (("\\", "\\\\"), (quote, f"\\{quote}"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, written)
    return text


def _fields(path: Path) -> tuple[dict[str, str], str | None]:
    """The fields below a path, each with a word on what it is; and the type of what is there, if that is known."""
    if path == ("metadata",):
        return dict(_METADATA), "object"
    if path[:1] == ("metadata",):
        return {}, _METADATA.get(path[1]) if len(path) == 2 else "string" if path[1] in (
            "labels",
            "annotations",
        ) else None
    schema: JsonMapping = MANAGED_CLUSTER.storage_version.schema
    for step in path:
        inner = schema.get("items" if step == EACH else "properties", {})
        below = inner if step == EACH else inner.get(step, schema.get("additionalProperties"))
        if not isinstance(below, dict):
            return {}, None
        schema = below
    return {name: _described(each) for name, each in schema.get("properties", {}).items()}, schema.get("type")


def _described(schema: JsonMapping) -> str:
    text = f"{schema.get('type', 'anything')}: {schema.get('description', '')}".rstrip(": ")
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}…"


_RECEIVERS: Final = {
    "string": Kind.STRING,
    "object": Kind.MAP,
    "array": Kind.LIST,
    "integer": Kind.INT,
    "boolean": Kind.BOOL,
}


def _functions(begun: str, receiver: str | None, *, member: bool) -> Iterator[Item]:
    """Functions and macros that can be called there; after a dot, those that what stands before it can have."""
    env = environment("muster")
    wanted = _RECEIVERS.get(receiver or "")
    for name, function in env.functions.items():
        if not name.replace(".", "").isidentifier() or not name.casefold().startswith(begun) or name.startswith("_"):
            continue
        fitting = [each for each in function.overloads if each.member == member and _takes(each, wanted)]
        if fitting:
            yield Item(name, "function", _signature(function, fitting[0]))
    macros = {macro.name: macro for macro in env.macros.values() if macro.receiver == member}
    for name, macro in macros.items():
        goes_through = wanted in (None, Kind.LIST, Kind.MAP)
        if name.casefold().startswith(begun) and (not member or goes_through) and "@" not in name:
            yield Item(name, "macro", macro.doc[:_LONGEST_DETAIL])


def _takes(overload: Overload, wanted: Kind | None) -> bool:
    if wanted is None or not overload.member:
        return True
    return overload.args[0].kind in (wanted, Kind.DYN, Kind.TYPE_PARAM)


def _signature(function: Function, overload: Overload) -> str:
    args = [str(each) for each in (overload.args[1:] if overload.member else overload.args)]
    return f"({', '.join(args)}) -> {overload.result}: {function.doc}"[:_LONGEST_DETAIL].rstrip(": ")
