"""ConfigMap: settings as keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.parts import Identity, Node
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, forbidden, invalid, too_long
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import object_at
from muster.values.names import config_key_problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime


SIZE_LIMIT: Final = 1024 * 1024
_LONGEST_SHOWN_KEY: Final = 1024


class ConfigMap(Node, frozen=True):
    metadata: Identity = Identity()
    data: dict[str, str] = msgspec.field(default_factory=dict)
    binary_data: dict[str, str] = msgspec.field(default_factory=dict)


_READER: Final = Reader(ConfigMap)


def read_config_map(obj: JsonMapping) -> ConfigMap:
    return _READER.of(obj)


def normalize(obj: JsonObject) -> None:
    """Maps without entries are not kept."""
    for name in ("data", "binaryData"):
        if obj.get(name) == {}:
            del obj[name]


def rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    given = read_config_map(new)
    data, binary = given.data, given.binary_data
    for key in data:
        yield from key_causes("data", key)
        if key in binary:
            yield invalid(f"data[{shown_key(key)}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from key_causes("binaryData", key)
    size = sum(len(value.encode("utf-8", "surrogatepass")) for value in data.values())
    size += sum(len(value) * 3 // 4 for value in binary.values())
    if size > SIZE_LIMIT:
        yield too_long("", SIZE_LIMIT)
    if old is not None:
        yield from immutability(new, old, ("data", "binaryData"))


def key_causes(field: str, key: str) -> Iterator[Cause]:
    """What is wrong with a key of a ConfigMap or Secret."""
    return (invalid(f"{field}[{shown_key(key)}]", key, problem) for problem in config_key_problems(key))


def shown_key(key: str) -> str:
    """A key as part of a path: a good one fits, of others the beginning has to do."""
    return key if len(key) <= _LONGEST_SHOWN_KEY else f"{key[:_LONGEST_SHOWN_KEY]}…"


def immutability(new: JsonObject, old: JsonObject, fields: tuple[str, ...]) -> list[Cause]:
    """A ConfigMap or Secret with `immutable: true` stays as it is."""
    if not old.get("immutable"):
        return []
    changed = [] if new.get("immutable") else ["immutable"]
    changed += [name for name in fields if object_at(new, name) != object_at(old, name)]
    return [forbidden(name, "field is immutable when `immutable` is set") for name in changed]


def _count(obj: JsonObject, _: datetime) -> object:
    given = read_config_map(obj)
    return len(given.data) + len(given.binary_data)


CONFIG_MAP: Final = builtin(
    "ConfigMap",
    "configmaps",
    parts.obj(
        "Settings as keys and values.",
        properties={
            "data": parts.string_map("Values as text."),
            "binaryData": {
                "type": "object",
                "description": "Values as base64.",
                "additionalProperties": parts.string(format="byte"),
            },
            "immutable": parts.boolean("Whether the values can never change."),
        },
    ),
    (PrinterColumn("Data", "string", description="How many values there are.", cell=_count), AGE),
    short_names=("cm",),
    rules=rules,
    normalize=normalize,
)
