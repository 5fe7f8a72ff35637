"""Sets of field paths in the form managedFields stores them (FieldsV1), and the algebra on them.

A set is a tree of path elements: `f:name` a field, `k:{…}` a list item by its keys, `v:…` a list item by its value,
`i:n` by its index. An empty node is a member; a node with children is a member only if it holds `.`.
The trees are shared between sets and never changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FieldSet = JsonObject
Path = tuple[str, ...]

SELF = "."
_MEMBER: FieldSet = {}


def is_member(node: FieldSet) -> bool:
    """Whether the path that leads to this node is in the set."""
    return not node or SELF in node


def member_with(children: FieldSet) -> FieldSet:
    """A node that is a member and has these children."""
    return {SELF: _MEMBER, **children} if children else {}


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Paths in either."""
    if not left:
        return right
    if not right:
        return left
    result = dict(left)
    for element, node in right.items():
        mine = result.get(element)
        if mine is None or element == SELF:
            result[element] = node
        elif mine and node:
            result[element] = union(mine, node)
        elif mine or node:
            result[element] = {SELF: _MEMBER, **mine, **node}
    return result


def union_of(sets: Sequence[FieldSet]) -> FieldSet:
    """Paths in any of them. Linear in their size, where a union of unions copies the first again for each."""
    if len(sets) <= 2:
        return union(*sets) if len(sets) == 2 else sets[0] if sets else {}
    below: dict[str, list[FieldSet]] = {}
    for each in sets:
        for element, node in each.items():
            below.setdefault(element, []).append(node)
    result: FieldSet = {}
    for element, nodes in below.items():
        if element == SELF or not any(nodes):
            result[element] = _MEMBER
        else:
            joined = union_of([node for node in nodes if node])
            result[element] = joined if all(nodes) or SELF in joined else {SELF: _MEMBER, **joined}
    return result


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Paths in the left set only. A path below or above one in the right set stays."""
    if not left or left.keys().isdisjoint(right):
        return left
    result = dict(left)
    for element in left.keys() & right.keys() if len(left) < len(right) else [key for key in right if key in left]:
        node, other = left[element], right[element]
        if element != SELF:  # whether a node stays a member is decided here, where both are seen
            rest = difference(_children(node), other)
            if is_member(node) and not is_member(other):
                result[element] = member_with(rest)
                continue
            if rest:
                result[element] = rest
                continue
        del result[element]
    return result


def without_below(left: FieldSet, right: FieldSet) -> FieldSet:
    """Paths in the left set that neither are in the right set nor lie below one that is."""
    if not left or not right:
        return left
    result: FieldSet = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None:
            result[element] = node
        elif element != SELF and not is_member(other):
            rest = without_below(_children(node), other)
            if is_member(node):
                result[element] = member_with(rest)
            elif rest:
                result[element] = rest
    return result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Paths in both."""
    result: FieldSet = {}
    for element in left.keys() & right.keys() if len(left) > len(right) else left:
        node, other = left[element], right.get(element)
        if other is None or element == SELF:
            continue
        common = intersection(node, other)
        if is_member(node) and is_member(other):
            result[element] = member_with(common)
        elif common:
            result[element] = common
    return result


def _children(node: FieldSet) -> FieldSet:
    return {element: below for element, below in node.items() if element != SELF} if SELF in node else node


def paths(fields: FieldSet, prefix: Path = ()) -> Iterator[Path]:
    """Every path of the set: at each level the members first, then what lies below, in order."""
    elements = sorted((element for element in fields if element != SELF), key=_order)
    for element in elements:
        if is_member(fields[element]):
            yield (*prefix, element)
    for element in elements:
        yield from paths(fields[element], (*prefix, element))


def path_text(path: Path) -> str:
    """`.spec.conditions[type="Ready"].status`, as conflicts are reported."""
    return "".join(_element_text(element) for element in path)


def key_element(keys: JsonObject) -> str:
    """The path element of a list item that is found by its keys."""
    return "k:" + msgspec.json.encode(keys, order="sorted").decode()


def value_element(value: Json) -> str:
    """The path element of a list item that is found by its value."""
    return "v:" + msgspec.json.encode(value, order="sorted").decode()


def is_field_set(fields: object) -> bool:
    """Whether something a client sent is a well-formed set."""
    if not isinstance(fields, dict):
        return False
    return all(_is_element(element) and is_field_set(node) for element, node in fields.items())


def _is_element(element: object) -> bool:
    if not isinstance(element, str):
        return False
    if element == SELF or element.startswith("f:"):
        return True
    if element.startswith("i:"):
        return element[2:].removeprefix("-").isdigit()
    if not element.startswith(("k:", "v:")):
        return False
    try:
        value = msgspec.json.decode(element[2:])
    except msgspec.DecodeError:
        return False
    return element.startswith("v:") or isinstance(value, dict)


def _order(element: str) -> tuple[int, str]:
    """Fields first, then items by key, by value, by index."""
    return "fkvi".index(element[0]), element


def _element_text(element: str) -> str:
    if element.startswith("f:"):
        return f".{element[2:]}"
    if element.startswith("k:"):
        keys = msgspec.json.decode(element[2:])
        return f"[{','.join(f'{name}={_value_text(value)}' for name, value in sorted(keys.items()))}]"
    if element.startswith("v:"):
        return f"[={element[2:]}]"
    return f"[{element[2:]}]"


def _value_text(value: Json) -> str:
    return msgspec.json.encode(value).decode()
