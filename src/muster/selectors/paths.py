"""Paths into objects: what a selector reads, and the value there in a form that can be compared and counted.

`project` is the contract between selectors and the fleet: a selector gives the same verdict on two objects whose
projections on all of its `reads` are equal. A missing value is therefore told apart by how far the path led, and values
of different types are never equal (in Python `True == 1 == 1.0`). What no selector can tell apart should be equal, so
that nobody is woken for nothing: a list of taints with nothing in it is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from muster.values.json import Json

LABELS: Final = "labels"
SCORES: Final = "@scores"


@dataclass(frozen=True, slots=True)
class Element:
    """The elements of a list whose `field` is `value`, for example the claims with one name."""

    field: str
    value: str


class _Present:
    """The last step of a path that only asks whether the step before it is there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "PRESENT"


PRESENT: Final = _Present()
Path: TypeAlias = tuple[str | Element | _Present, ...]
WHOLE: Final[Path] = ()


# With nothing in them these are not there: expressions do not see them, and nobody else finds anything in them.
GONE_WHEN_EMPTY: Final[frozenset[Path]] = frozenset(
    {
        ("metadata", LABELS),
        ("metadata", "annotations"),
        ("metadata", "finalizers"),
        ("metadata", "ownerReferences"),
        ("spec", "taints"),
        ("spec", "managedClusterClientConfigs"),
        ("status", "clusterClaims"),
        ("status", "capacity"),
        ("status", "allocatable"),
    }
)


def key_path(*keys: str) -> Path:
    return keys


def label_path(key: str) -> Path:
    return ("metadata", LABELS, key)


def claim_path(name: str) -> Path:
    return ("status", "clusterClaims", Element("name", name))


def score_path(name: str) -> Path:
    """The scores that one add-on reports for the object; they are not part of it."""
    return (SCORES, name)


ALL_SCORES: Final[Path] = (SCORES,)  # for an expression that computes the name


def describe(path: Path) -> str:
    """`metadata.labels["version"]`, as people write it."""
    text = ""
    for step in path:
        if isinstance(step, _Present):
            text += " (whether it is there)"
        elif isinstance(step, Element):
            text += f"[{step.field}={step.value}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text or "the whole object"


def project(obj: Json, path: Path) -> Hashable:
    """The value at the path, hashable, with its type."""
    value = obj
    for depth, step in enumerate(path):
        if isinstance(step, _Present):
            return True
        if isinstance(step, Element):
            if type(value) is not list:
                return (depth, frozen(value))
            # What is not a map with that field can make an expression fail, so it belongs to the projection too.
            value = [
                each
                for each in value
                if type(each) is not dict or type(each.get(step.field)) is not str or each[step.field] == step.value
            ]
        elif type(value) is dict:
            if step not in value:
                return (depth,)
            value = value[step]
            if not value and path[: depth + 1] in GONE_WHEN_EMPTY:
                return (depth,)
        else:
            return (depth, frozen(value))
    return value if type(value) is str else frozen(value)


def frozen(value: Json) -> Hashable:
    """Anything but a string: bytes of its JSON for lists and maps, a pair with the type for the rest."""
    if isinstance(value, Mapping | list):
        return encoded(value)
    return (type(value), value)


def encoded(value: Json) -> bytes:
    """JSON of any JSON value; what the fast encoder refuses (great depth, huge numbers) in a form of our own."""
    try:
        return msgspec.json.encode(value)
    except (RecursionError, OverflowError, ValueError, msgspec.MsgspecError):
        return _flat(value)


def _flat(value: Json) -> bytes:
    """The same for every equal value and different for others, whatever the depth: visited without recursion."""
    pieces: list[str] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        match each:
            case Mapping():
                pieces.append(f"{{{len(each)}")
                for key, inner in each.items():
                    waiting += (inner, key)
            case list():
                pieces.append(f"[{len(each)}")
                waiting += each
            case int() if not isinstance(each, bool):
                pieces.append(f"int {each:x}")  # decimal digits are limited, these are not
            case _:
                pieces.append(f"{type(each).__name__} {each!r}")
    return "\n".join(pieces).encode("utf-8", "surrogatepass")
