"""Every field of an object replaced, in turn, by every value that it should not have; and the requests that send it.

Used by the tests of single kinds and by `bodies`. The values are those that once made the hub fail, and their cousins.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.hostile.whole_objects import NAME, NAMESPACE, whole_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.resource import Resource, Version

Path = tuple[str | int, ...]

VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    "",
    "x",
    "é\u2028\x00\ufeff",
    "NaN",
    "-1",
    "2030-01-01T00:00:00+99:00",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "x" * 100_000,
    "1" * 5000,
    0,
    -1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**400,
    1.5,
    -0.0,
    1e308,
    [],
    {},
    [None],
    [[None]],
    [{}],
    [True],
    ["x", "x"],
    [{"a": None}, None],
    {"": None},
    {"a": None},
    {"a": {"a": [None]}},
    {"metadata": [], "spec": 1},
)

# What clients may send in metadata beside what a good object has.
EXTRA_METADATA: Final[dict[str, Any]] = {
    "uid": "u",
    "generation": 1,
    "resourceVersion": "1",
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 1,
    "generateName": "a-",
    "selfLink": "/a",
    "managedFields": [
        {
            "manager": "m",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}},
        }
    ],
}


class Request(NamedTuple):
    """One request of a mutation."""

    method: str
    path: str
    content_type: str
    body: bytes


def address(resource: Resource, version: Version, name: str = "", subresource: str = "") -> str:
    """The path of a kind, or of one of its objects."""
    base = f"/apis/{resource.group}/{version.name}" if resource.group else f"/api/{version.name}"
    place = f"{base}/namespaces/{NAMESPACE}" if resource.namespaced else base
    return "/".join(part for part in (f"{place}/{resource.plural}", name, subresource) if part)


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a value but its root."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def mutable_object(resource: Resource, version: Version) -> dict[str, Any]:
    """A good object with metadata that clients need not send."""
    obj = whole_object(resource, version)
    obj["metadata"] = {**obj["metadata"], **EXTRA_METADATA}
    return obj


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The value with another at that place. What is not on the way is shared."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, first: replaced(value.get(first), rest, new)}
    copied = list(value)
    copied[int(first)] = replaced(copied[int(first)], rest, new)
    return copied


def requests(resource: Resource, version: Version, path: Path, value: Any) -> Iterator[Request]:
    """The ways to bring a value to a place of the object that is there, and of a new one."""
    obj = mutable_object(resource, version)
    whole = json.dumps(replaced(obj, path, value)).encode()
    yield Request("POST", f"{address(resource, version)}?dryRun=All", "application/json", whole)
    if "update" not in resource.verbs:
        return
    for name in ("resourceVersion", "uid"):
        if path[:2] != ("metadata", name):
            obj["metadata"].pop(name, None)
    whole = json.dumps(replaced(obj, path, value)).encode()
    part = json.dumps(_only(obj, path, value)).encode()
    pointer = "/" + "/".join(str(each).replace("~", "~0").replace("/", "~1") for each in path)
    operations = json.dumps([{"op": "add", "path": pointer, "value": value}]).encode()
    places = [address(resource, version, NAME)]
    if version.status:
        places.append(address(resource, version, NAME, "status"))
    for place in places:
        yield Request("PUT", f"{place}?dryRun=All", "application/json", whole)
        yield Request("PATCH", f"{place}?dryRun=All", "application/merge-patch+json", part)
        yield Request("PATCH", f"{place}?dryRun=All", "application/json-patch+json", operations)
        yield Request("PATCH", f"{place}?dryRun=All&fieldManager=m&force=true", "application/apply-patch+yaml", whole)
        if resource.builtin:
            yield Request("PATCH", f"{place}?dryRun=All", "application/strategic-merge-patch+json", part)


def _only(obj: Any, path: Path, value: Any) -> Any:
    """What of the object leads to the place, with the value there: lists are sent whole, as patches need them."""
    if not path:
        return value
    if isinstance(obj, list):
        return replaced(obj, path, value)
    return {path[0]: _only(obj.get(path[0]), path[1:], value)}
