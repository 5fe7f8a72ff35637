"""What bundles say of themselves: properties with a type and a JSON value, and the ones the resolver reads.

Bundles keep their properties as compact JSON text, because a catalog may have a hundred thousand of them; they are
decoded when a rule looks at them. Knows nothing of catalogs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from muster.errors import InvalidObjectError
from muster.values.json import Json

GVK = "olm.gvk"
PACKAGE = "olm.package"
LABEL = "olm.label"
DEPRECATED = "olm.deprecated"
GVK_REQUIRED = "olm.gvk.required"
PACKAGE_REQUIRED = "olm.package.required"
LABEL_REQUIRED = "olm.label.required"
CONSTRAINT = "olm.constraint"
CEL_CONSTRAINT = "olm.constraint.cel"
REQUIREMENTS = frozenset({GVK_REQUIRED, PACKAGE_REQUIRED, LABEL_REQUIRED, CONSTRAINT})

# Whole manifests. The registry does not hand them to resolvers either, and they are most of a catalog's bytes.
PAYLOADS = frozenset({"olm.bundle.object", "olm.csv.metadata"})


class Property(msgspec.Struct, frozen=True, array_like=True):
    """A property. `unreadable` has the text of a value that is no JSON; the value is then null."""

    type: str
    value: Json = None
    unreadable: str | None = None

    @property
    def readable(self) -> bool:
        return self.unreadable is None


class Api(NamedTuple):
    """A kind of object, as a bundle provides or requires it."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.group}/{self.version})"


class PackageVersion(NamedTuple):
    """What an olm.package property says; the version is text."""

    name: str
    version: str


MOST_NESTED: Final = 200  # levels of a value
_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(list[Property])


def packed(properties: tuple[Property, ...]) -> bytes:
    return _encode(properties)


def unpacked(text: bytes) -> list[Property]:
    return _decoder.decode(text)


def property_from(raw: Json) -> Property:
    """A property as catalogs and people write it: `{type, value}`. Raises InvalidObjectError."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or not kind:
        raise InvalidObjectError("", f"a property is a mapping with a type and a value, not {raw!r}")
    if nests_too_deep(raw.get("value")):
        raise InvalidObjectError("", f"the value of {kind} nests deeper than {MOST_NESTED} levels")
    return Property(kind, raw.get("value"))


def nests_too_deep(value: Json) -> bool:
    """Whether a value nests so deeply that walking it could exhaust the stack. Walks without recursion itself."""
    level = [value]
    for _ in range(MOST_NESTED + 1):
        level = [
            item
            for each in level
            if isinstance(each, dict | list)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def text_fields(value: Json, *names: str) -> tuple[str, ...] | None:
    """Texts of a mapping as Go reads a struct: keys in any case, the last of several counts, null says nothing; empty
    when missing; None if one is no text."""
    if value is None:
        return ("",) * len(names)
    if not isinstance(value, dict):
        return None
    found = dict.fromkeys(names, "")
    known = {name.lower(): name for name in names}
    for key, item in value.items():
        name = known.get(folded(key))
        if name is None or item is None:
            continue
        if not isinstance(item, str):
            return None
        found[name] = item
    return tuple(found.values())


def folded(key: Json) -> str:
    """A key as Go compares it where case does not count; two letters outside ASCII stand for one inside."""
    return str(key).lower().replace("\u017f", "s")  # lower() knows the Kelvin sign


def api_of(value: Json) -> Api | None:
    """The API an olm.gvk property names; None when the value has another shape."""
    fields = text_fields(value, "group", "version", "kind")
    return None if fields is None else Api(*fields)


def package_of(value: Json) -> PackageVersion | None:
    fields = text_fields(value, "packageName", "version")
    return None if fields is None else PackageVersion(*fields)


def label_of(value: Json) -> str | None:
    fields = text_fields(value, "label")
    return None if fields is None else fields[0]


def as_doubles(value: Json) -> Json:
    """A JSON value as CEL rules see it: every number is a double."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return float(value)
        case dict():
            return {key: as_doubles(item) for key, item in value.items()}
        case list():
            return [as_doubles(item) for item in value]
        case _:
            return value


def json_equal(left: Json, right: Json) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1."""
    match left, right:
        case (bool(), _) | (_, bool()):
            return left is right
        case dict(), dict():
            return left.keys() == right.keys() and all(json_equal(item, right[key]) for key, item in left.items())
        case list(), list():
            return len(left) == len(right) and all(map(json_equal, left, right))
        case _:
            return bool(left == right)
